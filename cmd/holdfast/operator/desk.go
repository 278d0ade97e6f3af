package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// ErrRefused is an answer "no" to what was asked, with nothing wrong with AWS or the call; nothing was changed unless it says so.
var ErrRefused = errors.New("refused")

// UnsettledError is the failure of a write of which nobody can tell whether it was done. Every command may be repeated.
type UnsettledError struct{ cause error }

// Error is the text of the failure.
func (e UnsettledError) Error() string { return e.cause.Error() }

// Unwrap gives the failure of the call.
func (e UnsettledError) Unwrap() error { return e.cause }

// written tells the failure of a write whose outcome is unknown from those of reads, which change nothing.
func written(err error) error {
	if errors.Is(err, fault.Unknown) {
		return UnsettledError{err}
	}
	return err
}

// Ledger is what commands need of the ledger: all but the request is only read.
type Ledger interface {
	Load(ctx context.Context, groupARN string) (runner.Record, error)
	LoadRegion(ctx context.Context) (runner.RegionRecord, error)
	// ReplaceRequest stores a request in place of the one that was seen, by its id, "" if there was none; fault.Conflict if there is
	// another one by now.
	ReplaceRequest(ctx context.Context, groupARN string, q guard.Request, seen string) error
}

// Fleet reads groups.
type Fleet interface {
	Guarded(ctx context.Context) ([]guard.Group, error)
	Group(ctx context.Context, name string) (guard.Group, error)
}

// Parameters are the parameters that commands write.
type Parameters interface {
	// Get reads one parameter, or with a name that ends in :N its version N; fault.Gone if there is none.
	Get(ctx context.Context, name string) (Parameter, error)
	// Put writes a value and returns its version. With create it succeeds only if there is no such parameter, else fault.Conflict.
	Put(ctx context.Context, name, value string, create bool) (int64, error)
}

// Parameter is one parameter as read.
type Parameter struct {
	Value string
	// Version grows by one with each write, from 1; 0 says that there is no such parameter.
	Version int64
}

// Alarms reads CloudWatch alarms by name; each name has an answer. alarms.Reader is one.
type Alarms interface {
	Alarms(ctx context.Context, names []string) map[string]guard.AlarmReading
}

// Ports are what a Desk needs of the world. Ledger may be nil, which says that no state table is known: then Hold, Release and
// Status fail, and Tune and the switch say what they could not look at. Without Alarms, Tune says that it could not look at alarms.
type Ports struct {
	Fleet      Fleet
	Ledger     Ledger
	Policies   runner.Policies
	Parameters Parameters
	Alarms     Alarms
}

// Options are the settings of a Desk; all are required.
type Options struct {
	// Now is the clock.
	Now func() time.Time
	// NewID makes the random part of a request's name.
	NewID func() string
	// By is who asks, as it will stand in notices.
	By string
	// SweepInterval is the time between two scheduled sweeps; above 0.
	SweepInterval time.Duration
}

// Desk carries out an operator's commands. It keeps nothing between them.
type Desk struct {
	p Ports
	o Options
}

// New makes a Desk.
func New(p Ports, o Options) *Desk { return &Desk{p: p, o: o} }

// Answer is what a command did, for a person.
type Answer struct {
	// Lines tell what was found and changed; Warnings what the person should know beside it.
	Lines, Warnings []string
	// Changed says that something was written.
	Changed bool
}

func (a *Answer) say(format string, args ...any) {
	a.Lines = append(a.Lines, fmt.Sprintf(format, args...))
}

func (a *Answer) warn(format string, args ...any) {
	a.Warnings = append(a.Warnings, fmt.Sprintf(format, args...))
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// group reads a group by name; one that does not exist is refused, because it is most likely a slip of the keyboard.
func (d *Desk) group(ctx context.Context, name string) (guard.Group, error) {
	g, err := d.p.Fleet.Group(ctx, name)
	if errors.Is(err, fault.Gone) {
		return guard.Group{}, refuse("no Auto Scaling group %q in this account and Region", name)
	}
	return g, err
}

// file is what is known of one group: the group, its record, the Region's and its policy.
type file struct {
	group  guard.Group
	rec    runner.Record
	region runner.RegionRecord
	set    runner.PolicySet
	layers []guard.Layer
	res    guard.Resolution
}

// resolve lays the policy as a sweep does, with the last good contents from the ledger.
func (f *file) resolve() {
	f.layers = append([]guard.Layer{f.set.Defaults}, f.set.Groups[f.group.Name]...)
	for i := range f.layers {
		if f.layers[i].Name == guard.LayerDefaults {
			f.layers[i].LastGood = f.region.LastGoodDefaults
		} else {
			f.layers[i].LastGood = f.rec.LastGood[f.layers[i].Name]
		}
	}
	f.set.Switch.LastGood = f.region.LastGoodMode
	f.res = guard.Resolve(f.layers, f.set.Switch)
}

// readError says why the policy could not be read, "" if it could.
func (f *file) readError() string {
	for _, l := range f.layers {
		if l.ReadError != "" {
			return l.ReadError
		}
	}
	return f.set.Switch.ReadError
}

// open reads all there is about one group; a ledger that is not there leaves its parts empty.
func (d *Desk) open(ctx context.Context, name string) (*file, error) {
	g, err := d.group(ctx, name)
	if err != nil {
		return nil, err
	}
	f := &file{group: g, set: d.p.Policies.Policies(ctx, []string{name})}
	if d.p.Ledger != nil {
		if f.rec, err = d.p.Ledger.Load(ctx, g.ARN); err != nil {
			return nil, err
		}
		if f.region, err = d.p.Ledger.LoadRegion(ctx); err != nil {
			return nil, err
		}
	}
	f.resolve()
	return f, nil
}

// limits are the budgets in force and what is used of them, by the arithmetic of the sweep itself. What a sweep would read beside
// the group counts as unread, so that the answer is that of the last sweep, brought up to now.
func (d *Desk) limits(f *file, p guard.Policy) guard.Limits {
	const unread = "not read by the command line"
	in := guard.Input{
		Now: d.o.Now(), SweepInterval: d.o.SweepInterval, Group: f.group, Policy: p,
		State: guard.Prepare(f.rec.State, p), Region: f.region.State,
		Reads: guard.Reads{Targets: unread, Heartbeats: unread, Activities: unread, OptOuts: unread},
	}
	in.Group.OptedIn, in.Group.Operator = true, "" // a group that is not guarded has limits as well
	return guard.Decide(in).Limits
}

// pending is the request that no sweep has obeyed yet, nil if there is none.
func (f *file) pending() *guard.Request {
	if r := f.rec.Request; r.ID != "" && r.ID != f.rec.State.RequestID {
		return &r
	}
	return nil
}

// foreign are the suspended processes that no hold of Holdfast suspended.
func (f *file) foreign() []guard.Suspension {
	var ours []guard.HeldProcess
	if h := f.rec.State.Hold; h != nil && !h.Observed {
		ours = append(ours, h.Ours...)
	}
	if p := f.rec.State.Paced; p != nil && p.Process != nil {
		ours = append(ours, *p.Process)
	}
	var out []guard.Suspension
	for _, s := range f.group.Suspended {
		if !slices.ContainsFunc(ours, func(p guard.HeldProcess) bool {
			return p.Process == s.Process && (p.Reason == s.Reason || p.Reason == "")
		}) {
			out = append(out, s)
		}
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// ago is a length of time for people, in whole seconds.
func ago(d time.Duration) string { return d.Round(time.Second).String() }

// skewAllowed is how far the clocks of a sweep and of a person's machine may differ without a word.
const skewAllowed = time.Minute

// sweptAgo says how long ago a sweep was, and what it means that it has yet to come.
func sweptAgo(now, sweep time.Time) string {
	age := now.Sub(sweep)
	if age >= -skewAllowed {
		return ago(max(0, age)) + " ago"
	}
	ahead := ago(-age)
	if strings.HasSuffix(ahead, "m0s") {
		ahead = strings.TrimSuffix(ahead, "0s")
	}
	return "in the future by " + ahead + ": clocks differ"
}
