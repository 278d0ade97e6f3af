package review_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/infra/review"
)

// file is the register of the repository.
func file(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "thresholds.json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func good(t *testing.T) review.Thresholds {
	t.Helper()
	reg, err := review.Parse(file(t))
	if err != nil {
		t.Fatal(err)
	}
	th, err := reg.Of("example-web")
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func TestTheRegisterOfTheRepositoryIsReviewedAndFitsTogether(t *testing.T) {
	reg, err := review.Parse(file(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(reg.Services()) == 0 {
		t.Fatal("the register is empty")
	}
	for _, p := range reg.Problems() {
		t.Errorf("%s: %s", p.Rule, p.Text)
	}
}

func TestEveryRuleBelowAtAndAboveItsLimit(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(*review.Thresholds)
		// want are the broken rules, in order; says is in the last one's text.
		want, says string
	}{
		{"the reviewed numbers", func(*review.Thresholds) {}, "", ""},
		{"a timeout of 9 s with an interval of 10", func(v *review.Thresholds) { v.TimeoutSeconds = 9 }, "", ""},
		{"a timeout of 10 s with an interval of 10", func(v *review.Thresholds) { v.TimeoutSeconds = 10 }, "nested-timeouts", "probe timeout 10s is not below interval 10s"},
		{"an interval of 5 s with a timeout of 6", func(v *review.Thresholds) { v.IntervalSeconds, v.TimeoutSeconds, v.RestartSeconds = 5, 6, 15 }, "nested-timeouts", "probe timeout 6s is not below interval 5s"},
		{"an unhealthy count of 1", func(v *review.Thresholds) { v.UnhealthyCount, v.RestartSeconds = 1, 10 }, "unhealthy-count", "one lost probe"},
		{"an unhealthy count of 2", func(v *review.Thresholds) { v.UnhealthyCount = 2 }, "", ""},
		{"an unhealthy count of 10", func(v *review.Thresholds) { v.UnhealthyCount, v.RecoveryObjectiveSeconds = 10, 105 }, "", ""},
		{"an unhealthy count of 11", func(v *review.Thresholds) { v.UnhealthyCount, v.RecoveryObjectiveSeconds = 11, 115 }, "unhealthy-count", "unhealthy count 11, want 2 to 10"},
		{"a healthy count of 1", func(v *review.Thresholds) { v.HealthyCount = 1 }, "healthy-count", "healthy count 1, want 2 to 10"},
		{"a healthy count of 10", func(v *review.Thresholds) { v.HealthyCount = 10 }, "", ""},
		{"a healthy count of 11", func(v *review.Thresholds) { v.HealthyCount = 11 }, "healthy-count", "healthy count 11"},
		{"a restart budget of 34 s in a window of 35", func(v *review.Thresholds) { v.RestartSeconds = 34 }, "", ""},
		{"a restart budget of 35 s in a window of 35", func(v *review.Thresholds) { v.RestartSeconds = 35 }, "restart-budget", "3 x 10s + 5s = 35s"},
		{"a restart budget of 40 s in a window of 35", func(v *review.Thresholds) { v.RestartSeconds = 40 }, "restart-budget", "restart budget 40s is not below the detection window 3 x 10s + 5s = 35s"},
		{"an objective of 34 s and a window of 35", func(v *review.Thresholds) { v.RecoveryObjectiveSeconds = 34 }, "recovery-objective", "3 x 10s + 5s = 35s is above the recovery objective 34s"},
		{"an objective of 35 s and a window of 35", func(v *review.Thresholds) { v.RecoveryObjectiveSeconds = 35 }, "", ""},
		{"an objective of 36 s and a window of 35", func(v *review.Thresholds) { v.RecoveryObjectiveSeconds = 36 }, "", ""},
		{"a handler timeout below the probe's", func(v *review.Thresholds) { v.HandlerTimeoutMS = 4999 }, "", ""},
		{"a handler timeout above the probe's", func(v *review.Thresholds) { v.HandlerTimeoutMS = 5001 }, "nested-timeouts", "handler timeout 5.001s is not below probe timeout 5s"},
		{"a handler timeout at the probe's", func(v *review.Thresholds) { v.HandlerTimeoutMS = 5000 }, "nested-timeouts", "handler timeout 5s is not below probe timeout 5s"},
		{"a dependency timeout at the handler's", func(v *review.Thresholds) { v.DependencyTimeoutMS = 2000 }, "nested-timeouts", "dependency timeout 2s is not below handler timeout 2s"},
		{"a dependency timeout below the handler's", func(v *review.Thresholds) { v.DependencyTimeoutMS = 1999 }, "", ""},
		{"a dependency timeout above the handler's", func(v *review.Thresholds) { v.DependencyTimeoutMS = 2001 }, "nested-timeouts", "dependency timeout 2.001s is not below handler timeout 2s"},
		{"no handler timeout", func(v *review.Thresholds) { v.HandlerTimeoutMS = 0 }, "not-stated", "handler_timeout_ms is 0"},
		{"no restart budget, objective, targets or nodes", func(v *review.Thresholds) {
			v.RestartSeconds, v.RecoveryObjectiveSeconds, v.Targets, v.Nodes = 0, 0, 0, 0
		}, "not-stated not-stated not-stated not-stated", "nodes is 0"},
		{"an empty path", func(v *review.Thresholds) { v.Path = "" }, "health-path", "is empty"},
		{"the front page", func(v *review.Thresholds) { v.Path = "/" }, "health-path", "front page"},
		{"a path without a slash", func(v *review.Thresholds) { v.Path = "health" }, "health-path", "is no path"},
		{"a deep path", func(v *review.Thresholds) { v.Path = "/health/Deep" }, "health-path", `says "Deep"`},
		{"a path with a deep query", func(v *review.Thresholds) { v.Path = "/health?check=db" }, "health-path", `says "db"`},
		{"a path that only sounds deep", func(v *review.Thresholds) { v.Path = "/deeply/alive" }, "", ""},
		{"port 0", func(v *review.Thresholds) { v.Port = "0" }, "health-port", `port "0"`},
		{"port 65535", func(v *review.Thresholds) { v.Port = "65535" }, "", ""},
		{"port 65536", func(v *review.Thresholds) { v.Port = "65536" }, "health-port", "65536"},
		{"a TCP check", func(v *review.Thresholds) { v.Protocol = "TCP" }, "health-protocol", "TCP"},
		{"codes 200-299,301", func(v *review.Thresholds) { v.Matcher = "200-299,301" }, "", ""},
		{"code 503", func(v *review.Thresholds) { v.Matcher = "200,503" }, "matcher", "503"},
		{"a code of the success class by its letter", func(v *review.Thresholds) { v.Matcher = "2xx" }, "matcher", `"2xx"`},
		{"a deregistration delay of -1 s", func(v *review.Thresholds) { v.DeregistrationDelaySeconds = -1 }, "deregistration-delay", "-1 s, want 0 to 3600"},
		{"a deregistration delay of 0 s", func(v *review.Thresholds) { v.DeregistrationDelaySeconds = 0 }, "", ""},
		{"a deregistration delay of 3600 s", func(v *review.Thresholds) { v.DeregistrationDelaySeconds = 3600 }, "", ""},
		{"a deregistration delay of 3601 s", func(v *review.Thresholds) { v.DeregistrationDelaySeconds = 3601 }, "deregistration-delay", "3601 s, want 0 to 3600"},
		{"a slow start of 29 s", func(v *review.Thresholds) { v.SlowStartSeconds = 29 }, "slow-start", "29 s"},
		{"a slow start of 30 s", func(v *review.Thresholds) { v.SlowStartSeconds = 30 }, "", ""},
		{"a slow start of 900 s", func(v *review.Thresholds) { v.SlowStartSeconds = 900 }, "", ""},
		{"a slow start of 901 s", func(v *review.Thresholds) { v.SlowStartSeconds = 901 }, "slow-start", "901 s"},
		{"a fail-open threshold of -1 %", func(v *review.Thresholds) { v.FailOpenPercent = -1 }, "fail-open", "-1 %"},
		{"no fail-open threshold", func(v *review.Thresholds) { v.FailOpenPercent = 0 }, "", ""},
		{"a fail-open threshold of 100 %", func(v *review.Thresholds) { v.FailOpenPercent = 100 }, "", ""},
		{"a fail-open threshold of 101 %", func(v *review.Thresholds) { v.FailOpenPercent = 101 }, "fail-open", "101 %"},
		{"DNS failover just below fail-open", func(v *review.Thresholds) { v.DNSFailoverPercent = 49 }, "dns-failover", "49 % is below the fail-open threshold 50 %"},
		{"DNS failover at fail-open", func(v *review.Thresholds) { v.DNSFailoverPercent = 50 }, "", ""},
		{"DNS failover at -1 %", func(v *review.Thresholds) { v.DNSFailoverPercent = -1 }, "dns-failover", "-1 %"},
		{"DNS failover at 100 %", func(v *review.Thresholds) { v.DNSFailoverPercent = 100 }, "", ""},
		{"DNS failover at 101 %", func(v *review.Thresholds) { v.DNSFailoverPercent = 101 }, "dns-failover", "101 %"},
		{"no health check types", func(v *review.Thresholds) { v.HealthCheckTypes = nil }, "health-check-types", "without EC2"},
		{"an unknown health check type", func(v *review.Thresholds) { v.HealthCheckTypes = []string{"EC2", "DEEP"} }, "health-check-types", `"DEEP"`},
		{"ELB checks with a grace of 0", func(v *review.Thresholds) {
			v.HealthCheckTypes, v.GraceSeconds = []string{"EC2", "ELB"}, 0
		}, "grace", "grace 0 s with ELB"},
		{"ELB checks with a grace of 1", func(v *review.Thresholds) {
			v.HealthCheckTypes, v.GraceSeconds = []string{"EC2", "ELB"}, 1
		}, "", ""},
		{"EC2 checks with a grace of 0", func(v *review.Thresholds) { v.GraceSeconds = 0 }, "", ""},
		{"a grace of -1 s", func(v *review.Thresholds) { v.GraceSeconds = -1 }, "grace", "-1 s, want 0 to 7200"},
		{"a grace of 7200 s", func(v *review.Thresholds) { v.GraceSeconds = 7200 }, "", ""},
		{"a grace of 7201 s", func(v *review.Thresholds) { v.GraceSeconds = 7201 }, "grace", "7201 s"},
		{"a maintenance policy with a span of 100", func(v *review.Thresholds) { v.MinHealthyPercent, v.MaxHealthyPercent = 100, 200 }, "", ""},
		{"a maintenance policy with a span of 101", func(v *review.Thresholds) { v.MinHealthyPercent, v.MaxHealthyPercent = 99, 200 }, "maintenance-policy", "a span of 101"},
		{"a minimum of -1 %", func(v *review.Thresholds) { v.MinHealthyPercent, v.MaxHealthyPercent = -1, 99 }, "maintenance-policy", "-1 %"},
		{"a minimum of 0 % and a maximum of 100", func(v *review.Thresholds) { v.MinHealthyPercent, v.MaxHealthyPercent = 0, 100 }, "", ""},
		{"a minimum of 101 %", func(v *review.Thresholds) { v.MinHealthyPercent, v.MaxHealthyPercent = 101, 150 }, "maintenance-policy", "101 %"},
		{"a maximum of 201 %", func(v *review.Thresholds) { v.MinHealthyPercent, v.MaxHealthyPercent = 100, 201 }, "maintenance-policy", "201 %"},
		{"a maximum below 100 %", func(v *review.Thresholds) { v.MinHealthyPercent, v.MaxHealthyPercent = 50, 99 }, "maintenance-policy", "99 %"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			th := good(t)
			c.spoil(&th)
			th.Review.Fingerprint = th.Fingerprint()
			var rules []string
			last := ""
			for _, p := range th.Problems() {
				rules, last = append(rules, p.Rule), p.Text
				if !strings.HasPrefix(p.Text, "example-web: ") {
					t.Errorf("%q does not name the service", p.Text)
				}
			}
			if got := strings.Join(rules, " "); got != c.want || !strings.Contains(last, c.says) {
				t.Errorf("broken %q, the last says %q; want %q with %q", got, last, c.want, c.says)
			}
		})
	}
}

func TestAChangedNumberNeedsANewReview(t *testing.T) {
	th := good(t)
	th.IntervalSeconds = 9
	problems := th.Problems()
	if len(problems) != 1 || problems[0].Rule != review.RuleUnreviewed {
		t.Fatalf("problems %v", problems)
	}
	for _, want := range []string{th.Fingerprint(), th.Review.Fingerprint, "detection 3 x 9s + 5s = 32s", th.Review.On} {
		if !strings.Contains(problems[0].Text, want) {
			t.Errorf("%q is not in %q", want, problems[0].Text)
		}
	}
}

func TestAReviewWithoutAPersonADayOrAReasonIsNone(t *testing.T) {
	for name, spoil := range map[string]func(*review.Review){
		"who": func(r *review.Review) { r.By = " " }, "why": func(r *review.Review) { r.Why = "" }, "when": func(r *review.Review) { r.On = "30.11.2026" },
	} {
		th := good(t)
		spoil(&th.Review)
		if p := th.Problems(); len(p) != 1 || p[0].Rule != review.RuleReview {
			t.Errorf("without %s: problems %v", name, p)
		}
	}
}

func TestEveryNumberIsInTheFingerprint(t *testing.T) {
	seen := map[string]string{}
	for name, spoil := range map[string]func(*review.Values){
		"none": func(*review.Values) {}, "path": func(v *review.Values) { v.Path += "x" }, "port": func(v *review.Values) { v.Port = "80" },
		"matcher": func(v *review.Values) { v.Matcher = "204" }, "healthy": func(v *review.Values) { v.HealthyCount++ },
		"grace": func(v *review.Values) { v.GraceSeconds++ }, "types": func(v *review.Values) { v.HealthCheckTypes = append(v.HealthCheckTypes, "ELB") },
		"nodes": func(v *review.Values) { v.Nodes++ }, "drain": func(v *review.Values) { v.DeregistrationDelaySeconds++ },
	} {
		th := good(t)
		spoil(&th.Values)
		if other, taken := seen[th.Fingerprint()]; taken {
			t.Errorf("%s and %s have one fingerprint", name, other)
		}
		seen[th.Fingerprint()] = name
	}
}

func TestARegisterIsReadStrictly(t *testing.T) {
	text := string(file(t))
	for _, c := range []struct{ name, from, to, says string }{
		{"a key that nobody knows", `"matcher"`, `"matcher_code"`, "unknown field"},
		{"a number that is a word", `"interval_seconds": 10`, `"interval_seconds": "10"`, "interval_seconds"},
		{"a number that stands twice", `"nodes": 2,`, `"nodes": 2, "nodes": 3,`, `key "nodes" stands twice`},
		{"a number that is missing", `"nodes": 2,`, ``, "nodes is not stated"},
		{"a service without a name", `"example-web"`, `""`, "without a name"},
		{"two values", `{
  "example-web"`, `{} {
  "example-web"`, "more than one JSON value"},
		{"no JSON", `{
  "example-web"`, `example-web`, "decode thresholds"},
	} {
		if !strings.Contains(text, c.from) {
			t.Fatalf("%s: the register has no %s", c.name, c.from)
		}
		if _, err := review.Parse([]byte(strings.Replace(text, c.from, c.to, 1))); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: have %v, want %q", c.name, err, c.says)
		}
	}
}

func TestAnUnknownServiceIsRefusedWithTheKnownOnes(t *testing.T) {
	reg, err := review.Parse(file(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reg.Of("orders"); err == nil || !strings.Contains(err.Error(), `"orders"`) || !strings.Contains(err.Error(), "example-web") {
		t.Errorf("have %v", err)
	}
}
