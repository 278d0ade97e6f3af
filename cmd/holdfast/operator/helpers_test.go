package operator_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/operator"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

func now() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

func before(d time.Duration) guard.Instant { return guard.At(now().Add(-d)) }

func arn(name string) string {
	return "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:0a:autoScalingGroupName/" + name
}

// fleet is a set of groups; err fails every read.
type fleet struct {
	groups map[string]guard.Group
	err    error
}

func (f *fleet) Guarded(context.Context) ([]guard.Group, error) {
	var out []guard.Group
	for _, name := range slices.Sorted(maps.Keys(f.groups)) {
		if f.groups[name].OptedIn {
			out = append(out, f.groups[name])
		}
	}
	return out, f.err
}

func (f *fleet) Group(_ context.Context, name string) (guard.Group, error) {
	g, ok := f.groups[name]
	if f.err == nil && !ok {
		return guard.Group{}, fmt.Errorf("describe group %s: %w", name, fault.Gone)
	}
	return g, f.err
}

// shelf is a parameter store with versions. unread fails every read; meanwhile runs before a write, as another writer; lost writes
// and then loses the answer.
type shelf struct {
	values map[string]operator.Parameter
	unread error
	// unlisted fails only the reads by path, which the policy comes from.
	unlisted  error
	putErr    error
	meanwhile func()
	between   func()
	lost      bool
	puts      int
	gets      int
	old       map[string]operator.Parameter // every version, by name:version
}

func (s *shelf) set(name, value string) {
	p := operator.Parameter{Value: value, Version: s.values[name].Version + 1}
	if s.old == nil {
		s.old = map[string]operator.Parameter{}
	}
	s.values[name], s.old[fmt.Sprintf("%s:%d", name, p.Version)] = p, p
}

func (s *shelf) Get(_ context.Context, name string) (operator.Parameter, error) {
	s.gets++
	if s.unread != nil {
		return operator.Parameter{}, s.unread
	}
	if s.gets == 2 && s.meanwhile != nil {
		s.meanwhile() // between the look and the read just before the write
	}
	p, ok := s.values[name]
	if !ok {
		p, ok = s.old[name]
	}
	if !ok {
		return operator.Parameter{}, fmt.Errorf("get parameter: %w", fault.Gone)
	}
	return p, nil
}

func (s *shelf) Put(_ context.Context, name, value string, create bool) (int64, error) {
	s.puts++
	if s.between != nil {
		s.between() // between the read just before and the write
	}
	if _, exists := s.values[name]; exists && create {
		return 0, fmt.Errorf("put parameter: %w", fault.Conflict)
	}
	if s.putErr != nil {
		return 0, s.putErr
	}
	s.set(name, value)
	if s.lost {
		return 0, fmt.Errorf("put parameter: %w", fault.Unknown)
	}
	return s.values[name].Version, nil
}

func (s *shelf) Policies(_ context.Context, groups []string) runner.PolicySet {
	failure := ""
	if err := errors.Join(s.unread, s.unlisted); err != nil {
		failure = err.Error()
	}
	layer := func(name string) guard.Layer {
		l := guard.Layer{Name: name, ReadError: failure}
		if p, ok := s.values[name]; ok && failure == "" {
			l.Raw = []byte(p.Value)
		}
		return l
	}
	set := runner.PolicySet{Defaults: layer(guard.LayerDefaults), Groups: map[string][]guard.Layer{}, Switch: guard.Switch{ReadError: failure}}
	if p, ok := s.values[guard.ModeParameter]; ok && failure == "" {
		set.Switch = guard.Switch{Value: p.Value, Found: true}
	}
	for _, name := range groups {
		e := guard.EscapeName(name)
		set.Groups[name] = []guard.Layer{layer(guard.LayerDeclared + e), layer(guard.LayerGroups + e)}
	}
	return set
}

// bells are alarms by name; what is not there is missing. unread fails every read.
type bells struct {
	states map[string]string
	unread string
	asked  []string
}

func (b *bells) Alarms(_ context.Context, names []string) map[string]guard.AlarmReading {
	b.asked = append(b.asked, names...)
	out := map[string]guard.AlarmReading{}
	for _, name := range names {
		switch state, ok := b.states[name]; {
		case b.unread != "":
			out[name] = guard.AlarmReading{State: guard.AlarmUnread, Detail: b.unread}
		case ok:
			out[name] = guard.AlarmReading{State: state}
		default:
			out[name] = guard.AlarmReading{State: guard.AlarmMissing}
		}
	}
	return out
}

// books are the ledger in memory with the conditional write of the real one. asking runs before a request is stored, as another operator.
type books struct {
	*memledger.Ledger
	asking func()
}

func (b *books) ReplaceRequest(ctx context.Context, arn string, q guard.Request, seen string) error {
	if b.asking != nil {
		b.asking()
	}
	rec, err := b.Load(ctx, arn)
	switch {
	case err != nil:
		return err
	case rec.Request.ID != "" && rec.Request.ID != seen:
		return fmt.Errorf("replace request: %w", fault.Conflict)
	}
	return b.PutRequest(ctx, arn, q)
}

// rig is a desk over fakes: one guarded group web of four members, the switch at act, looked at 30 s ago.
type rig struct {
	desk   *operator.Desk
	fleet  *fleet
	shelf  *shelf
	ledger *books
	bells  *bells
	ids    int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{fleet: &fleet{groups: map[string]guard.Group{}}, shelf: &shelf{values: map[string]operator.Parameter{}}, ledger: &books{Ledger: memledger.New()}, bells: &bells{states: map[string]string{"db-slow": guard.AlarmOK}}}
	r.shelf.set(guard.ModeParameter, "act")
	r.add("web", true)
	r.save(t, "web", guard.State{LastSweep: before(30 * time.Second)})
	r.desk = operator.New(r.ports(), r.options())
	return r
}

func (r *rig) ports() operator.Ports {
	return operator.Ports{Fleet: r.fleet, Ledger: r.ledger, Policies: r.shelf, Parameters: r.shelf, Alarms: r.bells}
}

func (r *rig) options() operator.Options {
	return operator.Options{Now: now, By: "sam", SweepInterval: time.Minute, NewID: func() string { r.ids++; return fmt.Sprint("id", r.ids) }}
}

// blind is the same desk without a ledger.
func (r *rig) blind() *operator.Desk {
	return operator.New(operator.Ports{Fleet: r.fleet, Policies: r.shelf, Parameters: r.shelf}, r.options())
}

func (r *rig) add(name string, guarded bool) {
	g := guard.Group{ARN: arn(name), Name: name, OptedIn: guarded, Desired: 4, Min: 1, Max: 8}
	for i := range 4 {
		g.Members = append(g.Members, guard.Member{ID: fmt.Sprintf("i-%d", i), Lifecycle: "InService"})
	}
	r.fleet.groups[name] = g
}

func (r *rig) edit(name string, change func(*guard.Group)) {
	g := r.fleet.groups[name]
	change(&g)
	r.fleet.groups[name] = g
}

// save writes a group's state over what is there.
func (r *rig) save(t *testing.T, name string, s guard.State) {
	t.Helper()
	rec, err := r.ledger.Load(t.Context(), arn(name))
	must(t, err)
	rec.State = s
	_, err = r.ledger.Save(t.Context(), arn(name), rec)
	must(t, err)
}

// sawLast writes what the last look at web saw.
func (r *rig) sawLast(t *testing.T, seen runner.Looked) {
	t.Helper()
	rec, err := r.ledger.Load(t.Context(), arn("web"))
	must(t, err)
	rec.Looked = seen
	_, err = r.ledger.Save(t.Context(), arn("web"), rec)
	must(t, err)
}

func (r *rig) held(t *testing.T, change func(*guard.Hold)) {
	t.Helper()
	h := &guard.Hold{
		ID: "hold@1", Since: before(10 * time.Minute), Cause: "correlated", Text: "3 of 4 are bad", Stage: guard.StageQuiet,
		Ours: []guard.HeldProcess{{Process: "ReplaceUnhealthy", Reason: "User suspended at 2026-11-30T11:50:00Z"}},
	}
	if change != nil {
		change(h)
	}
	r.save(t, "web", guard.State{LastSweep: before(30 * time.Second), Hold: h})
}

// asked is the request that stands in the ledger.
func (r *rig) asked(t *testing.T, name string) guard.Request {
	t.Helper()
	rec, err := r.ledger.Load(t.Context(), arn(name))
	must(t, err)
	return rec.Request
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, err error, says string) {
	t.Helper()
	if !errors.Is(err, operator.ErrRefused) || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want a refusal that says %q", err, says)
	}
}

// tells wants each text somewhere in the lines.
func tells(t *testing.T, what string, lines []string, texts ...string) {
	t.Helper()
	all := strings.Join(lines, "\n")
	for _, text := range texts {
		if !strings.Contains(all, text) {
			t.Errorf("%s do not say %q:\n%s", what, text, all)
		}
	}
	if len(texts) == 0 && len(lines) > 0 {
		t.Errorf("%s are not empty:\n%s", what, all)
	}
}
