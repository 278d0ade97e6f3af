package timing_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/timing"
)

// good is a check that breaks no rule: 3 x 10s + 5s = 35s.
func good() timing.Check {
	return timing.Check{
		Interval: 10 * time.Second, Timeout: 5 * time.Second, Unhealthy: 3, Healthy: 2,
		Handler: 3 * time.Second, Dependency: time.Second, Restart: 30 * time.Second, Objective: time.Minute, Targets: 100, Nodes: 6,
	}
}

func TestTheSumsOfACheck(t *testing.T) {
	c := good()
	if c.Detection() != 35*time.Second || c.Recovery() != 20*time.Second {
		t.Errorf("detection %s, recovery %s", c.Detection(), c.Recovery())
	}
	if c.ProbesPerTarget() != 0.6 || c.Probes() != 60 {
		t.Errorf("probes per target %g, in all %g", c.ProbesPerTarget(), c.Probes())
	}
	if p := (timing.Check{Targets: 3, Nodes: 2}).Probes(); p != 0 {
		t.Errorf("without an interval there are %g probes", p)
	}
	if problems := c.Problems(); len(problems) != 0 {
		t.Errorf("a good check has problems: %v", problems)
	}
}

func TestWhatIsNotStatedBreaksNoRule(t *testing.T) {
	c := timing.Check{Interval: 10 * time.Second, Timeout: 5 * time.Second, Unhealthy: 3, Healthy: 2}
	if problems := c.Problems(); len(problems) != 0 {
		t.Errorf("problems: %v", problems)
	}
}

func TestEveryRuleBelowAtAndAboveItsLimit(t *testing.T) {
	const s = time.Second
	cases := []struct {
		name  string
		spoil func(*timing.Check)
		// want are the broken rules; says is in the last one's text.
		want, says string
	}{
		{"an interval at its minimum", func(c *timing.Check) { *c = timing.Check{Interval: 5 * s, Timeout: 2 * s, Unhealthy: 2, Healthy: 2} }, "", ""},
		{"an interval below its minimum", func(c *timing.Check) { *c = timing.Check{Interval: 4 * s, Timeout: 2 * s, Unhealthy: 2, Healthy: 2} }, "interval", "interval 4s, want whole seconds from 5s to 5m0s"},
		{"an interval at its maximum", func(c *timing.Check) { c.Interval, c.Objective = 300*s, 0 }, "", ""},
		{"an interval above its maximum", func(c *timing.Check) { c.Interval, c.Objective = 301*s, 0 }, "interval", "5m1s"},
		{"an interval with a fraction", func(c *timing.Check) { c.Interval += s / 2 }, "interval", "10.5s"},
		{"a timeout below its minimum", func(c *timing.Check) { c.Timeout, c.Handler, c.Dependency, c.Restart = s, 0, 0, 0 }, "timeout", "1s"},
		{"a timeout above its maximum", func(c *timing.Check) { c.Timeout, c.Interval, c.Objective = 121*s, 200*s, 0 }, "timeout", "2m1s"},
		{"counts at their maximum", func(c *timing.Check) { c.Unhealthy, c.Healthy, c.Objective = 10, 10, 0 }, "", ""},
		{"an unhealthy count of 1", func(c *timing.Check) { c.Unhealthy, c.Restart = 1, 0 }, "unhealthy-count", "one lost probe"},
		{"an unhealthy count of 11", func(c *timing.Check) { c.Unhealthy, c.Objective = 11, 0 }, "unhealthy-count", "unhealthy count 11, want 2 to 10"},
		{"a healthy count of 1", func(c *timing.Check) { c.Healthy = 1 }, "healthy-count", "healthy count 1"},
		{"a healthy count of 11", func(c *timing.Check) { c.Healthy = 11 }, "healthy-count", "healthy count 11"},
		{"a timeout just below the interval", func(c *timing.Check) { c.Timeout = 9 * s }, "", ""},
		{"a timeout at the interval", func(c *timing.Check) { c.Timeout = 10 * s }, "nested-timeouts", "probe timeout 10s is not below interval 10s"},
		{"a handler timeout at the probe's", func(c *timing.Check) { c.Handler = 5 * s }, "nested-timeouts", "handler timeout 5s is not below probe timeout 5s"},
		{"a dependency timeout at the handler's", func(c *timing.Check) { c.Dependency = 3 * s }, "nested-timeouts", "dependency timeout 3s is not below handler timeout 3s"},
		{"a dependency timeout at the probe's, no handler timeout", func(c *timing.Check) { c.Handler, c.Dependency = 0, 5*s }, "nested-timeouts", "dependency timeout 5s is not below probe timeout 5s"},
		{"a restart budget just below the detection window", func(c *timing.Check) { c.Restart = 35*s - 1 }, "", ""},
		{"a restart budget at the detection window", func(c *timing.Check) { c.Restart = 35 * s }, "restart-budget", "3 x 10s + 5s = 35s"},
		{"a detection window at the objective", func(c *timing.Check) { c.Objective = 35 * s }, "", ""},
		{"a detection window above the objective", func(c *timing.Check) { c.Objective = 35*s - 1 }, "recovery-objective", "detection window 3 x 10s + 5s = 35s is above"},
		{"negative numbers", func(c *timing.Check) {
			c.Handler, c.Dependency, c.Restart, c.Objective, c.Targets, c.Nodes = -1, -1, -1, -1, -1, -1
		}, "negative negative negative negative negative negative", "nodes is below 0"},
		{"two rules at once", func(c *timing.Check) { c.Restart, c.Objective = 40*s, 30*s }, "restart-budget recovery-objective", "30s"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			check := good()
			c.spoil(&check)
			var rules []string
			last := ""
			for _, p := range check.Problems() {
				rules, last = append(rules, p.Rule), p.Text
			}
			if got := strings.Join(rules, " "); got != c.want || !strings.Contains(last, c.says) {
				t.Errorf("broken %q, the last says %q; want %q with %q", got, last, c.want, c.says)
			}
		})
	}
}

func beats(n int, every time.Duration) timing.Beats {
	return timing.Beats{Instances: n, Every: every, Sweep: time.Minute, Fresh: 60 * time.Second, Stale: 180 * time.Second}
}

func TestTheCostOfHeartbeatsIsThatOfTheFactsTable(t *testing.T) {
	for _, c := range []struct {
		n             int
		every         time.Duration
		perSecond     float64
		writes, reads string
	}{
		{10, 10 * time.Second, 1, "1.62", "0.05"},
		{100, 10 * time.Second, 10, "16.20", "0.54"},
		{1000, 10 * time.Second, 100, "162.00", "5.40"},
		{10000, 10 * time.Second, 1000, "1620.00", "54.00"},
		{1000, 30 * time.Second, 1000.0 / 30, "54.00", "5.40"},
		{0, 10 * time.Second, 0, "0.00", "0.00"},
	} {
		b, p := beats(c.n, c.every), timing.ListPrices()
		writes, reads := fmt.Sprintf("%.2f", b.WriteCost(p)), fmt.Sprintf("%.2f", b.ReadCost(p))
		if b.WritesPerSecond() != c.perSecond || writes != c.writes || reads != c.reads {
			t.Errorf("%d every %s: %g writes a second, $%s and $%s; want %g, %s, %s", c.n, c.every, b.WritesPerSecond(), writes, reads, c.perSecond, c.writes, c.reads)
		}
	}
}

func TestHowManyBeatsMayBeLost(t *testing.T) {
	for _, c := range []struct {
		every       time.Duration
		late, stale int
		problem     bool
	}{
		{10 * time.Second, 4, 16, false},
		{29 * time.Second, 1, 5, false},
		{30 * time.Second, 0, 4, true},
		{60 * time.Second, 0, 1, true},
		{90 * time.Second, 0, 0, true},
		{10 * time.Minute, 0, 0, true},
	} {
		b := beats(5, c.every)
		if b.MissedUntilLate() != c.late || b.MissedUntilStale() != c.stale || (len(b.Problems()) > 0) != c.problem {
			t.Errorf("every %s: %d until late, %d until stale, problems %v; want %d, %d, %v",
				c.every, b.MissedUntilLate(), b.MissedUntilStale(), b.Problems(), c.late, c.stale, c.problem)
		}
	}
}

func TestHeartbeatsThatCannotBe(t *testing.T) {
	for name, b := range map[string]timing.Beats{
		"fewer than none": beats(-1, time.Second), "every 0 s": beats(1, 0), "backwards": beats(1, -time.Second), "no look": {Instances: 1, Every: time.Second},
	} {
		if p := b.Problems(); len(p) != 1 || p[0].Rule != timing.RuleNegative {
			t.Errorf("%s: problems %v", name, p)
		}
	}
	if b := beats(1, 0); b.WritesPerMonth() != 0 || b.MissedUntilLate() != 0 {
		t.Error("beats without an interval have a rate")
	}
}

func TestTheCostOfProvisionedCapacity(t *testing.T) {
	for _, c := range []struct {
		n                 int
		every             time.Duration
		writeUnits, reads int
		cost              string
	}{
		{0, 10 * time.Second, 1, 1, "0.56"},
		{1, 10 * time.Second, 1, 1, "0.56"},
		{7, 10 * time.Second, 1, 1, "0.56"},
		{8, 10 * time.Second, 2, 1, "1.03"}, // 0.8 / 0.7 = 1.14
		{100, 10 * time.Second, 15, 3, "7.30"},
		{700, 10 * time.Second, 100, 17, "48.39"}, // exactly 70 writes a second
		{1000, 10 * time.Second, 143, 24, "69.17"},
		{10000, 10 * time.Second, 1429, 239, "691.14"},
	} {
		b, p := beats(c.n, c.every), timing.ListPrices()
		cost := fmt.Sprintf("%.2f", b.ProvisionedCost(p))
		if b.WriteUnits() != c.writeUnits || b.ReadUnits() != c.reads || cost != c.cost {
			t.Errorf("%d every %s: %d and %d units, $%s; want %d, %d, $%s", c.n, c.every, b.WriteUnits(), b.ReadUnits(), cost, c.writeUnits, c.reads, c.cost)
		}
	}
}
