package daily_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/daily"
)

// without takes from an account what package collect does not know when a read failed.
type without struct {
	kind, what string
	take       func(*audit.Account)
}

func groups(change func(*audit.Group)) func(*audit.Account) {
	return func(a *audit.Account) {
		for i := range a.Groups {
			change(&a.Groups[i])
		}
	}
}

func members(change func(*audit.Member)) func(*audit.Account) {
	return groups(func(g *audit.Group) {
		for i := range g.Members {
			change(&g.Members[i])
		}
	})
}

func targetGroups(change func(*audit.TargetGroup)) func(*audit.Account) {
	return func(a *audit.Account) {
		for i := range a.TargetGroups {
			change(&a.TargetGroups[i])
		}
	}
}

func alarms(stays func(audit.Alarm) bool) func(*audit.Account) {
	return func(a *audit.Account) {
		var kept []audit.Alarm
		for _, alarm := range a.Alarms {
			if stays(alarm) {
				kept = append(kept, alarm)
			}
		}
		a.Alarms = kept
	}
}

func failedReads() []without {
	none := audit.NotSet
	noBoot := groups(func(g *audit.Group) { g.BootSeconds = &none })
	return []without{
		{"group", "DescribeAutoScalingGroups", func(a *audit.Account) { a.Groups = nil }},
		{"group", "DescribeScalingActivities", func(a *audit.Account) {
			groups(func(g *audit.Group) { g.Launches = nil })(a)
			noBoot(a)
		}},
		{"group", "DescribeInstanceRefreshes", groups(func(g *audit.Group) { g.RefreshMinHealthy = nil })},
		{"group", "the members' heartbeats", members(func(m *audit.Member) { m.BeatAgeSeconds = nil })},
		{"guardian", "heartbeats", members(func(m *audit.Member) { m.BeatAgeSeconds = nil })},
		{"group", "the group's holds", groups(func(g *audit.Group) { g.Suspended = nil })},
		{"group", "the group's suspended processes", groups(func(g *audit.Group) { g.Suspended = nil })},
		{"target-group", "DescribeTargetGroups", func(a *audit.Account) { a.TargetGroups = nil }},
		{"target-group", "DescribeTargetGroupAttributes", targetGroups(func(t *audit.TargetGroup) {
			t.DrainSeconds, t.SlowStartSeconds, t.FailOpenCount, t.FailOpenPercent, t.DNSCount, t.DNSPercent = nil, nil, nil, nil, nil, nil
		})},
		{"target-group", "DescribeTags", targetGroups(func(t *audit.TargetGroup) { t.Tags = nil })},
		{"target-group", "DescribeTargetHealth", func(a *audit.Account) {
			targetGroups(func(t *audit.TargetGroup) { t.States = nil })(a)
			members(func(m *audit.Member) { m.Targets = nil })(a)
			noBoot(a)
		}},
		{"target-group", "GetMetricData", targetGroups(func(t *audit.TargetGroup) { t.LongestRequestSeconds = nil })},
		{"status-check", "DescribeApplicationStatusChecks", func(a *audit.Account) { a.StatusChecks = nil }},
		{"status-check", "DescribeApplicationStatusCheckAssociations", func(a *audit.Account) { a.StatusChecks = nil }},
		{"status-check", "DescribeApplicationStatus", func(a *audit.Account) {
			for i := range a.StatusChecks {
				a.StatusChecks[i].Suppressed = false
			}
		}},
		{"guardian", "GetParametersByPath", func(a *audit.Account) {
			groups(func(g *audit.Group) { g.Policy = nil })(a)
			alarms(func(alarm audit.Alarm) bool { return alarm.Own })(a)
			a.Guardian.Mode = ""
		}},
		{"alarm", "DescribeAlarms", alarms(func(alarm audit.Alarm) bool { return alarm.Own })},
		{"guardian", "DescribeAlarms", alarms(func(alarm audit.Alarm) bool { return !alarm.Own })},
		{"guardian", "DescribeAlarmsForMetric", func(a *audit.Account) {
			alarms(func(alarm audit.Alarm) bool { return !alarm.Own })(a)
			a.Guardian.Topics = nil
		}},
		{"guardian", "GetTopicAttributes of ", func(a *audit.Account) {
			for i := range a.Guardian.Topics {
				a.Guardian.Topics[i].Subscriptions = nil
			}
		}},
	}
}

// TestNoFailedReadMakesAFindingOfAnyRuleGoneOrNew takes the two dumps of each rule: what the broken one finds is not gone, and what the
// one just inside does not find is not new.
func TestNoFailedReadMakesAFindingOfAnyRuleGoneOrNew(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "testdata", "thresholds.json"))
	must(t, err)
	promises, err := audit.DecodePromises(text)
	must(t, err)
	o := audit.Options{Promises: promises}
	for _, r := range audit.Rules() {
		for _, dump := range []string{"broken.json", "inside.json"} {
			raw, err := os.ReadFile(filepath.Join("..", "testdata", "rules", r.ID, dump))
			must(t, err)
			read := func() audit.Account {
				a, err := audit.DecodeAccount(raw)
				must(t, err)
				return a
			}
			a := read()
			k := daily.Compare(daily.Known{}, a, audit.Judge(a, o), daily.Unsaid{}).Next(daily.Known{}, a.At)
			k.Version = 1
			for _, failed := range failedReads() {
				t.Run(r.ID+" "+dump+" "+failed.kind+" "+failed.what, func(t *testing.T) {
					a := read()
					failed.take(&a)
					entry := audit.Unread{Kind: failed.kind, What: failed.what, Why: "AccessDenied"}
					if failed.what == "GetTopicAttributes of " {
						for _, topic := range a.Guardian.Topics {
							a.Unread = append(a.Unread, audit.Unread{Kind: failed.kind, What: failed.what + topic.ARN, Why: entry.Why})
						}
					} else {
						a.Unread = append(a.Unread, entry)
					}
					c := daily.Compare(k, a, audit.Judge(a, o), daily.Unsaid{})
					if len(c.New)+len(c.Gone) > 0 {
						t.Errorf("have %s", words(c))
					}
				})
			}
		}
	}
}

// TestWhatAFailedReadWouldExcuseIsNotNew has findings that a member's suppression, a young member or an alarm that is Holdfast's own would
// take away.
func TestWhatAFailedReadWouldExcuseIsNotNew(t *testing.T) {
	for text, entry := range map[string]audit.Unread{
		"HF006 status-check asc-1 critical": {Kind: "status-check", What: "DescribeApplicationStatus"},
		"HF025 group web high":              {Kind: "group", Name: "web", What: "DescribeScalingActivities"},
		"HF027 alarm db low":                {Kind: "guardian", What: "DescribeAlarmsForMetric"},
		"HF030 group web high":              {Kind: "group", What: "DescribeScalingActivities"},
		"HF031 group web medium":            {Kind: "group", What: "DescribeScalingActivities"},
	} {
		a := audit.Account{Groups: []audit.Group{{Name: "web"}}, Unread: []audit.Unread{entry}}
		if c := daily.Compare(known(t), a, report(t, text), daily.Unsaid{}); words(c) != "" {
			t.Errorf("%s: %s", text, words(c))
		}
		a.Unread = nil
		if c := daily.Compare(known(t), a, report(t, text), daily.Unsaid{}); len(c.New) != 1 {
			t.Errorf("%s is not new when all is read: %s", text, words(c))
		}
		a.Unread = []audit.Unread{entry}
		if c := daily.Compare(daily.Known{}, a, report(t, text), daily.Unsaid{}); len(c.New) != 1 {
			t.Errorf("%s is not in the first audit: %s", text, words(c))
		}
	}
}
