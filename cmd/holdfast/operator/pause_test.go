package operator_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/operator"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

func TestTheSwitchIsTurned(t *testing.T) {
	for _, c := range []struct{ from, to, means string }{
		{"act", "observe", "every group is judged and reported, and no call is made"},
		{"act", "off", "every group is only read and recorded"},
		{"off", "act", "each group does what its own policy says"},
		{"nonsense", "observe", "no call is made"},
	} {
		r := newRig(t)
		r.shelf.values[guard.ModeParameter] = operator.Parameter{Value: c.from, Version: 4}
		a, err := r.desk.SetMode(t.Context(), c.to)
		must(t, err)
		tells(t, "lines", a.Lines, "/holdfast/mode: "+c.from+" -> "+c.to+" (version 5)", "from the next sweep, at the latest in 1m0s: ", c.means)
		tells(t, "warnings", a.Warnings)
		if got := r.shelf.values[guard.ModeParameter]; got.Value != c.to || !a.Changed {
			t.Errorf("the switch is %+v", got)
		}
	}
}

func TestASwitchThatIsTurnedAlreadyIsLeftAlone(t *testing.T) {
	r := newRig(t)
	a, err := r.desk.SetMode(t.Context(), "act")
	must(t, err)
	tells(t, "lines", a.Lines, "/holdfast/mode is act already; nothing was changed")
	if a.Changed || r.shelf.puts != 0 {
		t.Error("it was written")
	}
}

func TestPauseNeverLoosensTheSwitch(t *testing.T) {
	for from, to := range map[string]string{"act": "observe", "observe": "observe", "off": "off"} {
		r := newRig(t)
		r.shelf.set(guard.ModeParameter, from)
		_, err := r.desk.Pause(t.Context())
		must(t, err)
		if got := r.shelf.values[guard.ModeParameter].Value; got != to {
			t.Errorf("%s became %s, want %s", from, got, to)
		}
	}
}

func TestHoldsInForceAreTold(t *testing.T) {
	r := newRig(t)
	r.held(t, func(h *guard.Hold) { h.Stage = guard.StageHealthCheck })
	r.add("idle", true)
	a, err := r.desk.SetMode(t.Context(), "off")
	must(t, err)
	tells(t, "warnings", a.Warnings, "web is held since 2026-11-30 11:50:00Z (correlated), stage 3 of 5: its processes stay suspended, and nothing releases them until the mode is act")
	if len(a.Warnings) != 1 {
		t.Errorf("warnings %q, want one", a.Warnings)
	}
	a, err = r.desk.SetMode(t.Context(), "act")
	must(t, err)
	tells(t, "warnings", a.Warnings, "stage 3 of 5: the next sweep takes it up again")
	r.held(t, func(h *guard.Hold) { h.Observed = true })
	a, err = r.desk.SetMode(t.Context(), "observe")
	must(t, err)
	tells(t, "warnings", a.Warnings)
}

func TestTheSwitchTurnsAlthoughHoldsCannotBeRead(t *testing.T) {
	broken := errors.New("throttled")
	for name, spoil := range map[string]func(*rig){
		"the groups":         func(r *rig) { r.fleet.err = broken },
		"a state":            func(r *rig) { r.ledger.FailBefore(r.ledger.Calls()+1, broken) },
		"no ledger is known": func(r *rig) { r.desk = r.blind() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			spoil(r)
			a, err := r.desk.SetMode(t.Context(), "off")
			must(t, err)
			tells(t, "warnings", a.Warnings, "whether holds are in force could not be read: ")
			if r.shelf.values[guard.ModeParameter].Value != "off" || !a.Changed {
				t.Error("the switch was not turned")
			}
		})
	}
}

func TestTheSwitchIsNeitherCreatedNorMisspelt(t *testing.T) {
	r := newRig(t)
	_, err := r.desk.SetMode(t.Context(), "on")
	refused(t, err, `mode "on", want act, observe or off`)
	delete(r.shelf.values, guard.ModeParameter)
	for _, c := range []struct {
		turn  func() (operator.Answer, error)
		value string
	}{
		{func() (operator.Answer, error) { return r.desk.SetMode(t.Context(), "off") }, "off"},
		{func() (operator.Answer, error) { return r.desk.SetMode(t.Context(), "observe") }, "observe"},
		{func() (operator.Answer, error) { return r.desk.SetMode(t.Context(), "act") }, "observe"},
		{func() (operator.Answer, error) { return r.desk.Pause(t.Context()) }, "observe"},
	} {
		_, err := c.turn()
		refused(t, err, "/holdfast/mode does not exist")
		refused(t, err, "\n  aws ssm put-parameter --type String --name /holdfast/mode --allowed-pattern '^(act|observe|off)$' --value "+c.value)
	}
	if r.shelf.puts != 0 {
		t.Error("it was created")
	}
}

func TestASwitchThatAnotherTurnedMeanwhileIsNotOverwritten(t *testing.T) {
	r := newRig(t)
	r.shelf.meanwhile = func() { r.shelf.set(guard.ModeParameter, "off") }
	_, err := r.desk.SetMode(t.Context(), "observe")
	refused(t, err, "was changed by somebody else meanwhile")
	r.shelf.unread = errors.New("denied")
	if _, err := r.desk.Pause(t.Context()); err == nil || errors.Is(err, operator.ErrRefused) {
		t.Errorf("error %v", err)
	}
}

// racing lets somebody else write right after the n-th read.
type racing struct {
	*shelf
	after int
	do    func()
	reads int
}

func (s *racing) Get(ctx context.Context, name string) (operator.Parameter, error) {
	p, err := s.shelf.Get(ctx, name)
	if s.reads++; s.reads == s.after {
		s.do()
	}
	return p, err
}

func (r *rig) race(after int, mode string) *operator.Desk {
	p := r.ports()
	p.Parameters = &racing{shelf: r.shelf, after: after, do: func() { r.shelf.set(guard.ModeParameter, mode) }}
	return operator.New(p, r.options())
}

func TestPauseDoesNotLoosenAnOffThatComesBetween(t *testing.T) {
	r := newRig(t)
	a, err := r.race(1, "off").Pause(t.Context())
	must(t, err)
	tells(t, "lines", a.Lines, "/holdfast/mode is off already; nothing was changed")
	if got := r.shelf.values[guard.ModeParameter].Value; got != "off" || r.shelf.puts != 0 {
		t.Errorf("the switch is %s after %d writes", got, r.shelf.puts)
	}
}

// Two people press pause at once: both want observe, and it is observe.
func TestTwoEqualPausesAtOnceBothSucceed(t *testing.T) {
	for after := 1; after <= 2; after++ {
		r := newRig(t)
		if _, err := r.race(after, "observe").Pause(t.Context()); err != nil || r.shelf.values[guard.ModeParameter].Value != "observe" {
			t.Errorf("after look %d: the switch is %+v, and pause says: %v", after, r.shelf.values[guard.ModeParameter], err)
		}
		r = newRig(t)
		if _, err := r.race(after, "off").SetMode(t.Context(), "off"); err != nil || r.shelf.values[guard.ModeParameter].Value != "off" {
			t.Errorf("off, after look %d: the switch is %+v, and pause says: %v", after, r.shelf.values[guard.ModeParameter], err)
		}
	}
}

// Off is stricter than whatever comes between; act is not.
func TestOnlyOffIsTriedAgain(t *testing.T) {
	r := newRig(t)
	_, err := r.race(1, "observe").SetMode(t.Context(), "off")
	must(t, err)
	if got := r.shelf.values[guard.ModeParameter].Value; got != "off" {
		t.Errorf("the switch is %s", got)
	}
	r = newRig(t)
	r.shelf.set(guard.ModeParameter, "observe")
	_, err = r.race(1, "off").SetMode(t.Context(), "act")
	refused(t, err, "was changed by somebody else meanwhile")
	if got := r.shelf.values[guard.ModeParameter].Value; got != "off" {
		t.Errorf("the switch is %s", got)
	}
}

// What comes between the last look and the write cannot be kept out; another value is told, and so is one that cannot be read.
func TestAnotherValueInTheLastMomentIsTold(t *testing.T) {
	r := newRig(t)
	_, err := r.race(2, "off").Pause(t.Context())
	refused(t, err, "was written as version 3, and version 2 came between")
}

func TestPauseLooksAgainAFewTimesOnly(t *testing.T) {
	r := newRig(t)
	p := r.ports()
	restless := &always{shelf: r.shelf}
	p.Parameters = restless
	_, err := operator.New(p, r.options()).Pause(t.Context())
	refused(t, err, "was changed by somebody else meanwhile")
	if restless.reads != 6 || r.shelf.puts != 0 {
		t.Errorf("%d reads, want two for each of three looks; %d writes", restless.reads, r.shelf.puts)
	}
}

// always has another version at each read.
type always struct {
	*shelf
	reads int
}

func (s *always) Get(ctx context.Context, name string) (operator.Parameter, error) {
	s.reads++
	s.set(name, fmt.Sprint("try", s.reads))
	return s.shelf.Get(ctx, name)
}
