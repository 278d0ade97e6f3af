package audit_test

import (
	"slices"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

func TestWhatADumpLeavesOutIsListed(t *testing.T) {
	const why = "unknown: the rules that need it said nothing"
	for _, c := range []struct {
		name, dump string
		forget     func(*audit.Account)
		want       audit.Unread
	}{
		{"the protocols of a target group", "HF001", func(a *audit.Account) { a.TargetGroups[0].Protocol, a.TargetGroups[0].CheckProtocol = "", "" },
			audit.Unread{Kind: "target-group", Name: "web-tg", What: "check_protocol", Why: why}},
		{"the state of a dependency's alarm", "HF029", func(a *audit.Account) { a.Alarms[0].State = "" }, audit.Unread{Kind: "alarm", What: "state", Why: why}},
		{"the guardian's mode", "HF029", func(a *audit.Account) { a.Guardian.Mode = "" },
			audit.Unread{Kind: "guardian", What: "mode", Why: "unknown: the switch was not read, or nobody has set it"}},
	} {
		a := dump(t, "rules", c.dump, "broken.json")
		c.forget(&a)
		if c.want.Kind == "alarm" {
			c.want.Name = a.Alarms[0].Name
		}
		if r := audit.Judge(a, options(t)); !slices.Contains(r.Unread, c.want) {
			t.Errorf("%s: unread %+v, want %+v", c.name, r.Unread, c.want)
		}
	}
}

// TestOnlyUnreadTagsHideThatNobodyReviewed holds for names with the word in them too.
func TestOnlyUnreadTagsHideThatNobodyReviewed(t *testing.T) {
	for _, c := range []struct {
		name   string
		unread audit.Unread
		found  bool
	}{
		{"nothing is unread", audit.Unread{}, true},
		{"the tags of all", audit.Unread{Kind: "target-group", What: "DescribeTags"}, false},
		{"the tags of this one", audit.Unread{Kind: "target-group", Name: "web-tg", What: "DescribeTags"}, false},
		{"the tags of a template", audit.Unread{Kind: "target-group", Name: "web-tg", What: "T.Properties.Tags", Property: audit.PropertyTags}, false},
		{"the tags of another", audit.Unread{Kind: "target-group", Name: "api-tg", What: "DescribeTags"}, true},
		{"the path of a resource called so", audit.Unread{Kind: "target-group", Name: "web-tg", What: "StageTagsGroup.Properties.HealthCheckPath"}, true},
		{"a path in a file called so", audit.Unread{Kind: "target-group", Name: "web-tg", What: "DescribeTags.yaml: T.Properties.HealthCheckPath"}, true},
		{"the tags of a group", audit.Unread{Kind: "group", Name: "web-tg", What: "DescribeTags"}, true},
	} {
		a := dump(t, "rules", "HF003", "broken.json")
		a.TargetGroups[0].Tags = nil
		a.Unread = []audit.Unread{c.unread}
		if found := len(of(audit.Judge(a, options(t)), "HF003")) > 0; found != c.found {
			t.Errorf("%s: found %t, want %t", c.name, found, c.found)
		}
	}
}
