package audit_test

import (
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

func TestWhichMembersAStatusCheckAsks(t *testing.T) {
	for _, c := range []struct {
		name  string
		check audit.StatusCheck
		want  string // in the finding's saw; "" is no finding
	}{
		{"by the group's name", audit.StatusCheck{TagKey: "aws:autoscaling:groupName", TagValue: "web"}, "tag aws:autoscaling:groupName = web"},
		{"by the name of another", audit.StatusCheck{TagKey: "aws:autoscaling:groupName", TagValue: "we"}, ""},
		{"by a tag that the group has", audit.StatusCheck{TagKey: "holdfast:guard", TagValue: "true"}, "tag holdfast:guard = true"},
		{"by another value of it", audit.StatusCheck{TagKey: "holdfast:guard", TagValue: "false"}, ""},
		{"by a tag that it has not", audit.StatusCheck{TagKey: "team", TagValue: ""}, ""},
		{"by the id of a member", audit.StatusCheck{Instances: []string{"i-0b", "i-0a000000000000001"}}, "2 instances by id"},
		{"by other ids", audit.StatusCheck{Instances: []string{"i-0b"}}, ""},
		{"by nothing", audit.StatusCheck{}, ""},
		{"suppressed", audit.StatusCheck{TagKey: "aws:autoscaling:groupName", TagValue: "web", Suppressed: true}, ""},
	} {
		a := dump(t, "rules", "HF006", "broken.json")
		c.check.ID = "asc-1"
		a.StatusChecks = []audit.StatusCheck{c.check}
		found := of(audit.Judge(a, options(t)), "HF006")
		if (len(found) == 1) != (c.want != "") || (len(found) == 1 && !strings.Contains(found[0].Saw, c.want)) {
			t.Errorf("%s: %v, want %q", c.name, found, c.want)
		}
		if len(found) == 1 && found[0].Severity != audit.High {
			t.Errorf("%s: without a known path it is %s", c.name, found[0].Severity)
		}
	}
}

func TestWhichCodesCountAsHealthy(t *testing.T) {
	for matcher, want := range map[string]string{
		"200": "", "200-299": "", "200,204": "", "": "", "abc": "", "200-x": "", "x-404": "", "404-200": "",
		"12": "", "0-99": "", "0-404": "", // gRPC codes, or none at all
		"404": "HF014", "200,404": "HF014", "200, 404": "HF014", "500-599": "HF014", "599": "HF014", "600": "", "100": "HF014", "199-200": "HF014", "99-200": "",
		"301": "HF015", "200,302": "HF015", "200-399": "HF015", "300": "HF015", "299": "", "200-499": "HF014 HF015",
	} {
		a := dump(t, "rules", "HF014", "inside.json")
		a.TargetGroups[0].Matcher = &matcher
		var have []string
		for _, f := range audit.Judge(a, options(t)).Findings {
			if f.Rule == "HF014" || f.Rule == "HF015" {
				have = append(have, f.Rule)
			}
		}
		if got := strings.Join(have, " "); got != want {
			t.Errorf("%q: %q, want %q", matcher, got, want)
		}
	}
}

func TestTargetGroupsWithoutAnHTTPCheckHaveNoPathAndNoMatcher(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*audit.TargetGroup)
	}{
		{"a TCP check", func(g *audit.TargetGroup) { g.CheckProtocol = "TCP" }},
		{"TCP traffic and no stated check", func(g *audit.TargetGroup) { g.CheckProtocol, g.Protocol = "", "TCP" }},
		{"a Lambda function", func(g *audit.TargetGroup) { g.TargetType = "lambda" }},
	} {
		a := dump(t, "rules", "HF001", "broken.json")
		wide := "200-499"
		a.TargetGroups[0].Matcher = &wide
		c.set(&a.TargetGroups[0])
		r := audit.Judge(a, options(t))
		for _, id := range []string{"HF001", "HF014", "HF015"} {
			if len(of(r, id)) > 0 {
				t.Errorf("%s: %s", c.name, id)
			}
		}
		if len(r.Unread) > 0 {
			t.Errorf("%s: unread %v", c.name, r.Unread)
		}
	}
}

func TestAgesAreWrittenForPeople(t *testing.T) {
	for hours, want := range map[int]string{24: "24 hours", 47: "47 hours", 48: "2 days", 240: "10 days"} {
		a := dump(t, "rules", "HF024", "broken.json")
		a.Groups[0].Suspended[0].Since = a.At.Add(-hour(hours))
		found := of(audit.Judge(a, options(t)), "HF024")
		if len(found) != 1 || !strings.HasSuffix(found[0].Saw, " for "+want) {
			t.Errorf("%d hours: %v, want %s", hours, found, want)
		}
	}
}

func TestLaunchesThatSayNothing(t *testing.T) {
	for _, c := range []struct {
		name     string
		launches []audit.Launch
		want     bool
	}{
		{"two failures", []audit.Launch{{At: noon(), Failed: true}, {At: noon(), Failed: true}}, true},
		{"one failure", []audit.Launch{{At: noon(), Failed: true}}, false},
		{"a success between", []audit.Launch{{At: noon(), Failed: true}, {At: noon()}, {At: noon(), Failed: true}}, false},
		{"a success long ago", []audit.Launch{{At: noon(), Failed: true}, {At: noon(), Failed: true}, {At: noon().Add(-hour(1))}}, true},
		{"from the future", []audit.Launch{{At: noon().Add(hour(1)), Failed: true}, {At: noon().Add(hour(1)), Failed: true}}, false},
	} {
		a := dump(t, "rules", "HF025", "broken.json")
		a.Groups[0].Launches = c.launches
		if found := of(audit.Judge(a, options(t)), "HF025"); (len(found) == 1) != c.want {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}
