package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// DependencyPrefix begins the name of a declared dependency check in a row. Such a failure speaks of the dependency, not of the host.
const DependencyPrefix = "dep:"

// Bounds of a check.
const (
	ChecksMax   = 50
	FailuresMax = 100
	EveryMin    = time.Second
	EveryMax    = time.Hour
)

// Check is one thing that is looked at again and again.
type Check struct {
	// Name is in the row when the check fails: 1 to 60 of a-z, 0-9, '.', '_' and '-'.
	Name string
	// Run looks once and returns nil when all is well. It must end soon after its context does; an answer that comes later counts as
	// a failure, and the check is not run again before it came.
	Run func(ctx context.Context) error
	// Timeout bounds one look. It must be below Every and below the handler's timeout.
	Timeout time.Duration
	// Every is the time between two looks, EveryMin to EveryMax.
	Every time.Duration
	// Failures is how many failed looks in a row make the check failing, 1 to FailuresMax; one good look ends that.
	Failures int
	// Soft checks are shown in the debug status and change nothing: not the row, not /health.
	Soft bool
	// Dependency checks look at something outside this host. They stand in the row as dep:NAME and never change /health.
	Dependency bool
}

// gates says whether the check can make this host failing.
func (c Check) gates() bool { return !c.Soft && !c.Dependency }

// rowName is the check's name in the row.
func (c Check) rowName() string {
	if c.Dependency {
		return DependencyPrefix + c.Name
	}
	return c.Name
}

// Nesting are the times around a check. Each must be below the next, or a slow answer cannot be told from none:
// a check's timeout < Handler < Probe < Interval.
type Nesting struct {
	// Handler is how long the health handler may take, Probe how long the load balancer's probe waits, Interval the time between two probes.
	Handler, Probe, Interval time.Duration
}

// DefaultNesting is 2 s < 5 s < 10 s.
func DefaultNesting() Nesting {
	return Nesting{Handler: 2 * time.Second, Probe: 5 * time.Second, Interval: 10 * time.Second}
}

// Validate returns every time that is not below the next, with the numbers.
func (n Nesting) Validate() error {
	var errs []error
	if n.Handler <= 0 {
		errs = append(errs, fmt.Errorf("handler timeout %s, want above 0", n.Handler))
	}
	if n.Handler >= n.Probe {
		errs = append(errs, fmt.Errorf("handler timeout %s is not below probe timeout %s: want %s", n.Handler, n.Probe, n.chain()))
	}
	if n.Probe >= n.Interval {
		errs = append(errs, fmt.Errorf("probe timeout %s is not below probe interval %s: want %s", n.Probe, n.Interval, n.chain()))
	}
	return errors.Join(errs...)
}

func (n Nesting) chain() string {
	return fmt.Sprintf("check < handler %s < probe %s < interval %s", n.Handler, n.Probe, n.Interval)
}

// Validate returns every reason why a check cannot be used within the times n, each with the numbers.
func (c Check) Validate(n Nesting) error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !regexp.MustCompile(`^[a-z0-9._-]{1,60}$`).MatchString(c.Name) {
		add("name %.80q, want 1 to 60 of a-z, 0-9, '.', '_' and '-'", c.Name)
	}
	if c.Run == nil {
		add("nothing to run")
	}
	if c.Every < EveryMin || c.Every > EveryMax {
		add("every %s, want %s to %s", c.Every, EveryMin, EveryMax)
	}
	if c.Timeout <= 0 {
		add("timeout %s, want above 0", c.Timeout)
	}
	if c.Timeout >= n.Handler {
		add("timeout %s is not below handler timeout %s: want %s", c.Timeout, n.Handler, n.chain())
	}
	if c.Timeout >= c.Every {
		add("timeout %s is not below every %s: one look would run into the next", c.Timeout, c.Every)
	}
	if c.Failures < 1 || c.Failures > FailuresMax {
		add("failures %d, want 1 to %d", c.Failures, FailuresMax)
	}
	return errors.Join(errs...)
}

func validateChecks(checks []Check, n Nesting) error {
	errs := []error{n.Validate()}
	if len(checks) > ChecksMax {
		errs = append(errs, fmt.Errorf("%d checks, want at most %d", len(checks), ChecksMax))
	}
	seen := map[string]bool{}
	for i, c := range checks {
		if err := c.Validate(n); err != nil {
			errs = append(errs, fmt.Errorf("check %d (%s): %w", i+1, c.Name, err))
		}
		if seen[c.Name] {
			errs = append(errs, fmt.Errorf("check %d (%s): the name stands twice", i+1, c.Name))
		}
		seen[c.Name] = true
	}
	return errors.Join(errs...)
}
