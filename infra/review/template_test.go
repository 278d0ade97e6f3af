package review_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/infra/review"
)

// properties are those of one resource; a test changes them.
type properties map[string]any

func targetGroup() properties {
	return properties{
		"TargetType": "instance", "Protocol": "HTTP", "HealthCheckProtocol": "HTTP", "HealthCheckPath": "/health", "HealthCheckPort": "traffic-port",
		"HealthCheckIntervalSeconds": 10, "HealthCheckTimeoutSeconds": 5, "UnhealthyThresholdCount": 3, "HealthyThresholdCount": 2,
		"Matcher": properties{"HttpCode": "200"},
	}
}

func attribute(key, value string) []any { return []any{properties{"Key": key, "Value": value}} }

// judge judges a template with one resource and tells the rules and the last text.
func judge(t *testing.T, kind string, p properties) (rules, last string) {
	t.Helper()
	text, err := json.Marshal(properties{"Resources": properties{"One": properties{"Type": kind, "Properties": p}, "Other": properties{"Type": "AWS::SNS::Topic"}}})
	if err != nil {
		t.Fatal(err)
	}
	reg, err := review.Parse(file(t))
	if err != nil {
		t.Fatal(err)
	}
	findings, err := review.JudgeTemplate(text, reg)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range findings {
		if f.Resource != "One" {
			t.Errorf("a finding at %s", f.Resource)
		}
		all, last = append(all, f.Rule), f.Text
	}
	return strings.Join(all, " "), last
}

func TestTargetGroupsOfAnyTemplateAreJudged(t *testing.T) {
	set := func(key string, value any) func(properties) { return func(p properties) { p[key] = value } }
	drop := func(key string) func(properties) { return func(p properties) { delete(p, key) } }
	for _, c := range []struct {
		name       string
		spoil      func(properties)
		want, says string
	}{
		{"stated and sound", func(properties) {}, "", ""},
		{"numbers written as words", set("HealthCheckIntervalSeconds", "10"), "", ""},
		{"no path", drop("HealthCheckPath"), "not-stated", "health path is not stated"},
		{"no interval", drop("HealthCheckIntervalSeconds"), "not-stated", "interval is not stated"},
		{"no timeout", drop("HealthCheckTimeoutSeconds"), "not-stated", "timeout"},
		{"no unhealthy count", drop("UnhealthyThresholdCount"), "not-stated", "unhealthy count"},
		{"no healthy count", drop("HealthyThresholdCount"), "not-stated", "healthy count"},
		{"no matcher", drop("Matcher"), "not-stated", "matcher"},
		{"no health check port", drop("HealthCheckPort"), "not-stated", "port"},
		{"no health check protocol", drop("HealthCheckProtocol"), "not-stated", "protocol"},
		{"an interval from a parameter", set("HealthCheckIntervalSeconds", properties{"Ref": "Interval"}), "not-stated", "no literal"},
		{"an interval of 10.5", set("HealthCheckIntervalSeconds", 10.5), "not-stated", "no whole number"},
		{"unhealthy count 1", set("UnhealthyThresholdCount", 1), "unhealthy-count", "one lost probe"},
		{"timeout at the interval", set("HealthCheckTimeoutSeconds", 10), "nested-timeouts", "10s is not below interval 10s"},
		{"a deep path", set("HealthCheckPath", "/health/deep"), "health-path", "deep"},
		{"a deregistration delay of 7200", set("TargetGroupAttributes", attribute(review.AttrDrain, "7200")), "deregistration-delay", "7200 s"},
		{"slow start with another algorithm", set("TargetGroupAttributes", append(attribute(review.AttrSlowStart, "60"), attribute(review.AttrAlgorithm, "weighted_random")...)), "slow-start", "weighted_random"},
		{"DNS failover below fail-open", set("TargetGroupAttributes", append(attribute(review.AttrFailOpenPercent, "50"), attribute(review.AttrDNSPercent, "20")...)), "dns-failover", "20 %"},
		{"DNS failover off", set("TargetGroupAttributes", append(attribute(review.AttrFailOpenPercent, "50"), attribute(review.AttrDNSPercent, "off")...)), "", ""},
		{"a TCP check has no path", func(p properties) {
			clear(p)
			p["Protocol"], p["TargetType"] = "TCP", "instance"
		}, "", ""},
		{"a Lambda target", func(p properties) {
			clear(p)
			p["TargetType"] = "lambda"
		}, "", ""},
		{"an unknown service", set("Tags", attribute(review.TagService, "orders")), "review", `"orders"`},
		{"reviewed numbers without their attributes", set("Tags", attribute(review.TagService, "example-web")), strings.TrimSpace(strings.Repeat("unreviewed-change ", 7)), review.AttrDNSPercent},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := targetGroup()
			c.spoil(p)
			rules, last := judge(t, "AWS::ElasticLoadBalancingV2::TargetGroup", p)
			if rules != c.want || !strings.Contains(last, c.says) {
				t.Errorf("broken %q, the last says %q; want %q with %q", rules, last, c.want, c.says)
			}
		})
	}
}

func TestAnOverrideOfAReviewedNumberIsAnUnreviewedChange(t *testing.T) {
	p := targetGroup()
	p["Tags"] = attribute(review.TagService, "example-web")
	var attributes []any
	for _, a := range good(t).Attributes() {
		attributes = append(attributes, attribute(a.Key, a.Value)...)
	}
	p["TargetGroupAttributes"] = attributes
	if rules, last := judge(t, "AWS::ElasticLoadBalancingV2::TargetGroup", p); rules != "" {
		t.Fatalf("the reviewed numbers break %s: %s", rules, last)
	}
	p["HealthCheckIntervalSeconds"] = 15
	if rules, last := judge(t, "AWS::ElasticLoadBalancingV2::TargetGroup", p); rules != "unreviewed-change" || !strings.Contains(last, `interval is "15", and the review of 2026-11-30`) {
		t.Errorf("broken %q: %s", rules, last)
	}
}

func TestGroupsOfAnyTemplateAreJudged(t *testing.T) {
	guarded := attribute(review.TagGuard, "true")
	for _, c := range []struct {
		name       string
		p          properties
		want, says string
	}{
		{"ELB checks without a grace", properties{"HealthCheckType": "ELB"}, "grace", "grace 0 s with ELB"},
		{"ELB checks with a grace of 0", properties{"HealthCheckType": "EC2, ELB", "HealthCheckGracePeriod": 0}, "grace", "grace 0 s"},
		{"ELB checks with a grace of 1", properties{"HealthCheckType": "EC2,ELB", "HealthCheckGracePeriod": 1}, "", ""},
		{"nothing stated, not guarded", properties{}, "", ""},
		{"nothing stated, guarded", properties{"Tags": guarded}, "not-stated not-stated", "grace"},
		{"guarded and stated", properties{"Tags": guarded, "HealthCheckType": "EC2", "HealthCheckGracePeriod": 300}, "", ""},
		{"a grace from a parameter", properties{"HealthCheckType": "ELB", "HealthCheckGracePeriod": properties{"Ref": "Grace"}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, last := judge(t, "AWS::AutoScaling::AutoScalingGroup", c.p)
			if rules != c.want || !strings.Contains(last, c.says) {
				t.Errorf("broken %q, the last says %q; want %q with %q", rules, last, c.want, c.says)
			}
		})
	}
}

func TestWhatIsNoTemplateIsAnError(t *testing.T) {
	reg, err := review.Parse(file(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", `{"Resources": []}`, `{"Resources":{"A":{"Type":"AWS::AutoScaling::AutoScalingGroup","Properties":{"Tags":1}}}}`} {
		if _, err := review.JudgeTemplate([]byte(text), reg); err == nil {
			t.Errorf("%q was judged", text)
		}
	}
}
