package timing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/timing"
)

// says checks that problems are of one rule and say something; no rule wants none.
func says(t *testing.T, name string, problems []timing.Problem, want [2]string) {
	t.Helper()
	var rules []string
	last := ""
	for _, p := range problems {
		rules, last = append(rules, p.Rule), p.Text
	}
	if got := strings.Join(rules, " "); got != want[0] || !strings.Contains(last, want[1]) {
		t.Errorf("%s: broken %q, the last says %q; want %q with %q", name, got, last, want[0], want[1])
	}
}

func TestPathsThatAskMoreThanTheInstance(t *testing.T) {
	for path, want := range map[string][2]string{
		"/health": {}, "/healthz": {}, "/deeply/alive": {}, "/already": {}, "/allowed": {}, "/live": {},
		"": {"health-path", "is empty"}, "/": {"health-path", "front page"}, "health": {"health-path", "is no path"}, "/a b": {"health-path", "is no path"},
		"/health/deep": {"health-path", `says "deep"`}, "/READY": {"health-path", `says "READY"`}, "/h?check=db": {"health-path", `says "db"`},
		"/actuator/health": {"health-path", "every indicator that Spring Boot finds"}, "/orders/Actuator/Health/?x=1": {"health-path", "want /actuator/health/liveness"},
		"/actuator/health/liveness": {}, "/actuator/healthy": {}, "/livez?next=/actuator/health": {}, "/actuator/health/readiness": {"health-path", `says "readiness"`},
		"/actuator/health/db": {"health-path", `says "db"`},
		"/readyz":             {"health-path", `says "readyz"`}, "/all": {"health-path", `says "all"`},
	} {
		says(t, path, timing.PathProblems(path), want)
	}
}

func TestGraceUnderEachHealthCheckType(t *testing.T) {
	for _, c := range []struct {
		name    string
		types   []string
		seconds int
		want    [2]string
	}{
		{"EC2 alone needs none", []string{"EC2", "EBS"}, 0, [2]string{}},
		{"ELB and 0", []string{"EC2", "ELB"}, 0, [2]string{"grace", "grace 0 s with ELB"}},
		{"ELB and 1", []string{"EC2", "ELB"}, 1, [2]string{}},
		{"VPC Lattice and 0", []string{"EC2", "VPC_LATTICE"}, 0, [2]string{"grace", "grace 0 s with VPC_LATTICE"}},
		{"both and 0 is one problem", []string{"EC2", "ELB", "VPC_LATTICE"}, 0, [2]string{"grace", "ELB"}},
		{"the longest", []string{"EC2"}, 7200, [2]string{}},
		{"above the longest", []string{"EC2"}, 7201, [2]string{"grace", "7201 s"}},
		{"below nothing", []string{"EC2"}, -1, [2]string{"grace", "-1 s"}},
	} {
		says(t, c.name, timing.GraceProblems(c.types, c.seconds), c.want)
	}
}

func TestDNSGivesUpBeforeRoutingDoes(t *testing.T) {
	for _, c := range []struct {
		name          string
		failOpen, dns int
		want          [2]string
	}{
		{"both off", 0, 0, [2]string{}}, {"DNS off", 50, 0, [2]string{}}, {"routing off", 0, 50, [2]string{}}, {"equal", 50, 50, [2]string{}}, {"above", 50, 51, [2]string{}},
		{"below", 50, 49, [2]string{"dns-failover", "49 % is below the fail-open threshold 50 %"}},
		{"101", 101, 0, [2]string{"fail-open", "101 %"}}, {"DNS 101", 0, 101, [2]string{"dns-failover", "101 %"}}, {"negative", -1, -1, [2]string{"fail-open dns-failover", "-1 %"}},
	} {
		says(t, c.name, timing.FloorProblems(c.failOpen, c.dns), c.want)
	}
	says(t, "equal counts", timing.FloorCountProblems(200, 200), [2]string{})
	says(t, "DNS count off", timing.FloorCountProblems(3, 0), [2]string{})
	says(t, "a DNS count below", timing.FloorCountProblems(200, 199), [2]string{"dns-failover", "199 targets is below the fail-open threshold 200 targets"})
}

func TestAHairTriggerIsFewProbesAtAShortInterval(t *testing.T) {
	for _, c := range []struct {
		count int
		every time.Duration
		want  bool
	}{
		{1, 10 * time.Second, true}, {2, 10 * time.Second, true}, {3, 10 * time.Second, false}, {2, 11 * time.Second, false}, {2, 5 * time.Second, true}, {2, 30 * time.Second, false},
	} {
		if have := (timing.Check{Unhealthy: c.count, Interval: c.every}).HairTrigger(); have != c.want {
			t.Errorf("%d probes every %s: %v", c.count, c.every, have)
		}
	}
}
