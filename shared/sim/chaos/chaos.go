package chaos

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/runner"
)

// Built-in lengths of the phases.
const (
	defaultChaos = time.Hour
	defaultHeal  = 6 * time.Hour
)

// Options say how to run one seed. The zero value is seed 0 with the built-in lengths and nothing planted.
type Options struct {
	// Seed drives every draw: the fleet, the weather, the faults and the order of the calls.
	Seed uint64
	// Chaos is the length of the first phase, in virtual time; 0 means one hour.
	Chaos time.Duration
	// Heal bounds the second phase, in virtual time; 0 means six hours. It ends as soon as the fleet is whole.
	Heal time.Duration
	// Calm leaves out the faults of calls, crashes and second runners; the weather stays.
	Calm bool
	// Plain takes no short cuts: every item of the ledger goes through JSON and every policy is laid anew. It changes nothing but the
	// time that a seed takes.
	Plain bool
	// Spoil, when set, replaces the ports of every process: a planted bug between the runner and the world, which the rules must
	// find.
	Spoil func(runner.Ports) runner.Ports
	// Unfenced and UnfencedRegion take the condition on the version off every write of a group's item, and of the Region's.
	Unfenced, UnfencedRegion bool
	// Log, when set, receives one line for each call of a process and each change of the weather.
	Log func(line string)
}

// Violation is a broken rule of safety.
type Violation struct {
	// Rule is the name of the rule, such as budget or foreign-resume.
	Rule string
	// Text says what was done and what forbids it.
	Text string
	// At is the true virtual time, Run the run that did it.
	At  time.Time
	Run string
}

// String says it in one line.
func (v Violation) String() string {
	return fmt.Sprintf("%s %s: %s: %s", v.At.Format(time.TimeOnly), v.Run, v.Rule, v.Text)
}

// Result is what came of one seed.
type Result struct {
	Seed uint64
	// Violations are the broken rules, in order; at most 20 are kept.
	Violations []Violation
	// Unhealed says what was still wrong at the end of the heal phase; nothing when the fleet became whole.
	Unhealed []string
	// HealedAfter is the virtual time from the end of the faults until the fleet was whole for good.
	HealedAfter time.Duration
	// Counts say what was tried, so that a run that shows nothing is seen.
	Counts Counts
}

// Counts are what happened in a run. Acts are incidents, Traps members that broke beside a reason not to mark them.
type Counts struct {
	Runs, Calls, Faults, Crashes, Races, Traps, Acts    int
	Marks, Holds, Releases, Restores, Suspends, Resumes int
	Pages, Repeats                                      int
}

// Add sums two counts.
func (c Counts) Add(d Counts) Counts {
	return Counts{
		Runs: c.Runs + d.Runs, Calls: c.Calls + d.Calls, Faults: c.Faults + d.Faults, Crashes: c.Crashes + d.Crashes, Races: c.Races + d.Races,
		Traps: c.Traps + d.Traps, Acts: c.Acts + d.Acts, Marks: c.Marks + d.Marks, Holds: c.Holds + d.Holds, Releases: c.Releases + d.Releases,
		Restores: c.Restores + d.Restores, Suspends: c.Suspends + d.Suspends, Resumes: c.Resumes + d.Resumes,
		Pages: c.Pages + d.Pages, Repeats: c.Repeats + d.Repeats,
	}
}

// Bad says that the seed broke a rule or did not heal.
func (r Result) Bad() bool { return len(r.Violations) > 0 || len(r.Unhealed) > 0 }

// Run runs one seed. An error says that the run could not be carried out.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.Chaos <= 0 {
		o.Chaos = defaultChaos
	}
	if o.Heal <= 0 {
		o.Heal = defaultHeal
	}
	s, err := newStage(ctx, o)
	if err != nil {
		return Result{}, fmt.Errorf("seed %d: %w", o.Seed, err)
	}
	defer s.endAll()
	s.chaos()
	if len(s.violations) == 0 {
		s.heal()
	}
	return Result{Seed: o.Seed, Violations: s.violations, Unhealed: s.unhealed, HealedAfter: s.healedAfter, Counts: s.counts}, s.err
}
