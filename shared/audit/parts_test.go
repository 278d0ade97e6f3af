package audit_test

import (
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// twice is a group that two deep health checks terminate members of, so that one rule has two findings about it.
func twice(t *testing.T) audit.Account {
	t.Helper()
	a := dump(t, "rules", "HF001", "broken.json")
	second := a.TargetGroups[0]
	second.ID, second.Name = second.ID+"2", "second-tg"
	a.TargetGroups = append(a.TargetGroups, second)
	a.Groups[0].TargetGroups = append(a.Groups[0].TargetGroups, second.ID)
	return a
}

func TestTwoFindingsOfARuleAboutAResourceAreToldApart(t *testing.T) {
	a := twice(t)
	a.StatusChecks = []audit.StatusCheck{
		{ID: "asc-1", Path: "/db", TagKey: "aws:autoscaling:groupName", TagValue: a.Groups[0].Name},
		{ID: "asc-1", Path: "/db", Instances: []string{a.Groups[0].Members[0].ID}},
	}
	before := map[string]string{}
	for _, f := range audit.Judge(a, options(t)).Findings {
		if other, ok := before[f.Key()]; ok {
			t.Errorf("%s: %q and %q have one key", f.Rule, other, f.Saw)
		}
		before[f.Key()] = f.Saw
	}
	path := "/deep/mysql"
	a.TargetGroups[1].Path = &path
	for _, f := range audit.Judge(a, options(t)).Findings {
		if before[f.Key()] == "" {
			t.Errorf("another path makes another key: %s %s", f.Rule, f.Saw)
		}
	}
	same := a.TargetGroups[0].Name
	a.TargetGroups[1].Name = same
	if found := of(audit.Judge(a, options(t)), "HF001"); len(found) != 2 || found[0].Key() == found[1].Key() {
		t.Errorf("two target groups called %s: %+v", same, found)
	}
}

func TestAnAcknowledgementCoversOneOfSeveralFindingsByItsPart(t *testing.T) {
	ack := func(name, part string) audit.Acknowledgement {
		return audit.Acknowledgement{Rule: "HF001", Name: name, Part: part, Reason: "known", By: "ops", Until: "2026-12-01"}
	}
	first := dump(t, "rules", "HF001", "broken.json")
	group, part := first.Groups[0].Name, first.TargetGroups[0].Name
	for _, c := range []struct {
		name              string
		account           audit.Account
		acks              []audit.Acknowledgement
		accepted          map[string]string
		unused, needsPart int
	}{
		{"the only finding needs no part", first, []audit.Acknowledgement{ack(group, "")}, map[string]string{part: group}, 0, 0},
		{"the only finding by its part", first, []audit.Acknowledgement{ack(group, part)}, map[string]string{part: group}, 0, 0},
		{"of two findings none without a part", twice(t), []audit.Acknowledgement{ack(group, "")}, nil, 0, 1},
		{"one of two by its part", twice(t), []audit.Acknowledgement{ack(group, "second-tg")}, map[string]string{"second-tg": group}, 0, 0},
		{"a part that is not there", twice(t), []audit.Acknowledgement{ack(group, "gone")}, nil, 1, 0},
		{"every resource is every part of it", twice(t), []audit.Acknowledgement{ack("*", "")}, map[string]string{part: "*", "second-tg": "*"}, 0, 0},
		{"the part is preferred to all", twice(t), []audit.Acknowledgement{ack("*", ""), ack(group, part)}, map[string]string{part: group, "second-tg": "*"}, 0, 0},
	} {
		o := options(t)
		o.Acknowledgements = c.acks
		r := audit.Judge(c.account, o)
		for _, f := range of(r, "HF001") {
			have := ""
			if f.Acknowledged != nil {
				have = f.Acknowledged.Name
			}
			if have != c.accepted[f.Part] {
				t.Errorf("%s: part %s is accepted by %q, want %q", c.name, f.Part, have, c.accepted[f.Part])
			}
		}
		if len(r.Unused) != c.unused || len(r.NeedsPart) != c.needsPart || len(r.Expired) != 0 {
			t.Errorf("%s: %d unused, %d need a part; want %d and %d", c.name, len(r.Unused), len(r.NeedsPart), c.unused, c.needsPart)
		}
	}
}
