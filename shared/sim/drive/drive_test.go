package drive_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

func run(t *testing.T, name string, o drive.Options) drive.Result {
	t.Helper()
	in, ok := sim.Find(name)
	if !ok {
		t.Fatalf("no incident %s", name)
	}
	r, err := drive.Run(t.Context(), in, o)
	if err != nil {
		t.Fatalf("%s, seed %d: %v", name, o.Seed, err)
	}
	return r
}

const seeds = 200

func TestTheOneBrokenInstanceIsReplacedAndNoOther(t *testing.T) {
	for seed := range uint64(seeds) {
		r := run(t, "single-broken", drive.Options{Guarded: true, Seed: seed})
		for _, unmet := range r.Unmet() {
			t.Errorf("seed %d: %s", seed, unmet)
		}
		if t.Failed() {
			return
		}
	}
}

func TestABrownoutLosesNobody(t *testing.T) {
	lost := 0
	for seed := range uint64(seeds) {
		r := run(t, "brownout", drive.Options{Guarded: true, Seed: seed})
		for _, unmet := range r.Unmet() {
			t.Errorf("seed %d: %s", seed, unmet)
		}
		if t.Failed() {
			return
		}
		alone := run(t, "brownout", drive.Options{Seed: seed})
		if alone.Stats.HealthyTerminated == 0 {
			t.Errorf("seed %d: alone, AWS lost nobody, so the incident shows nothing", seed)
		}
		lost += alone.Stats.HealthyTerminated
	}
	t.Logf("without Holdfast %d healthy members were terminated in %d runs", lost, seeds)
}

func TestWithoutAlarmEventsTheScheduledLooksLoseLittle(t *testing.T) {
	worst, held := 0, 0
	for seed := range uint64(50) {
		r := run(t, "brownout", drive.Options{Guarded: true, Seed: seed, NoAlarmLooks: true})
		worst = max(worst, r.Stats.HealthyTerminated)
		if holds := r.Holds(); len(holds) == 1 && r.Since(holds[0].From) <= 6*time.Minute {
			held++
		}
		if len(r.Marks()) > 0 {
			t.Errorf("seed %d: marks %v in a brownout", seed, r.Marks())
		}
	}
	// Between the first failing check and the next look Auto Scaling may already have begun, ten percent at a time.
	if worst > 1 || held != 50 {
		t.Errorf("%d members lost at worst, held within a minute in %d of 50 runs; want at most 1 and all", worst, held)
	}
}

func TestTheSameSeedTellsTheSameStory(t *testing.T) {
	for _, in := range sim.Incidents() {
		for _, guarded := range []bool{false, true} {
			o := drive.Options{Guarded: guarded, Seed: 11}
			if a, b := run(t, in.Name, o), run(t, in.Name, o); !reflect.DeepEqual(a, b) {
				t.Errorf("%s, guarded %t: two runs differ", in.Name, guarded)
			}
		}
	}
}

func TestObserveChangesNothing(t *testing.T) {
	for _, in := range sim.Incidents() {
		watched := run(t, in.Name, drive.Options{Guarded: true, Seed: 3, Mode: guard.ModeObserve})
		alone := run(t, in.Name, drive.Options{Seed: 3})
		if !reflect.DeepEqual(watched.Timeline, alone.Timeline) {
			t.Errorf("%s: the timeline with an observer differs", in.Name)
		}
		withheld := 0
		for _, s := range watched.Sweeps {
			for _, c := range s.Calls {
				if c.Outcome == "withheld" {
					withheld++
				}
			}
		}
		if withheld == 0 {
			t.Errorf("%s: the observer wanted to do nothing, so this shows nothing", in.Name)
		}
	}
}

func TestHealthChecksAloneGetOneOfTheTwoWrong(t *testing.T) {
	ec2, elb := []string{"EC2"}, []string{"EC2", "ELB"}
	for seed := range uint64(20) {
		if s := run(t, "single-broken", drive.Options{Seed: seed, HealthChecks: ec2}).Stats; s.BrokenTerminated != 0 {
			t.Errorf("seed %d: EC2 checks found a full disk: %+v", seed, s)
		}
		if s := run(t, "single-broken", drive.Options{Seed: seed, HealthChecks: elb}).Stats; s.BrokenTerminated != 1 {
			t.Errorf("seed %d: ELB checks replaced %d broken members, want 1", seed, s.BrokenTerminated)
		}
		if s := run(t, "brownout", drive.Options{Seed: seed, HealthChecks: ec2}).Stats; s.HealthyTerminated != 0 {
			t.Errorf("seed %d: EC2 checks lost members in the brownout: %+v", seed, s)
		}
	}
}

func TestAPromiseThatIsNotKeptIsSaid(t *testing.T) {
	kept := run(t, "brownout", drive.Options{Guarded: true, Seed: 1}).Story
	for what, spoil := range map[string]func(*drive.Story){
		"Holdfast was not on watch":                 func(s *drive.Story) { s.Guarded = false },
		"the guardian never ran":                    func(s *drive.Story) { s.Looks = 0 },
		"2 healthy members were terminated, want 0": func(s *drive.Story) { s.Stats.HealthyTerminated = 2 },
		"0 holds, want 1":                           func(s *drive.Story) { s.Timeline = without(s.Timeline, sim.EventSuspend) },
		"there is no sample of the group":           func(s *drive.Story) { s.Samples = nil },
		"the hold of 5m22s was never released":      func(s *drive.Story) { s.Timeline = without(s.Timeline, sim.EventResume) },
	} {
		s := kept
		spoil(&s)
		if unmet := s.Unmet(); len(unmet) != 1 || unmet[0] != what {
			t.Errorf("unmet %q, want %q", unmet, what)
		}
	}
}

func without(events []sim.Event, kind sim.EventKind) []sim.Event {
	var out []sim.Event
	for _, e := range events {
		if e.Kind != kind {
			out = append(out, e)
		}
	}
	return out
}
