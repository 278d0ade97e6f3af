package daily_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/daily"
)

func at() time.Time { return time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC) }

// finding reads "HF001 group web critical".
func finding(t *testing.T, text string) audit.Finding {
	t.Helper()
	var f audit.Finding
	if _, err := fmt.Sscan(text, &f.Rule, &f.Kind, &f.Name, &f.Severity); err != nil {
		t.Fatal(err)
	}
	return f
}

func report(t *testing.T, texts ...string) audit.Report {
	t.Helper()
	r := audit.Report{At: at()}
	for _, text := range texts {
		f := finding(t, strings.TrimSuffix(text, " accepted"))
		if strings.HasSuffix(text, " accepted") {
			f.Acknowledged = &audit.Acknowledgement{Rule: f.Rule, Name: f.Name}
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

func known(t *testing.T, texts ...string) daily.Known {
	t.Helper()
	k := daily.Known{Version: 1, At: at()}
	for _, text := range texts {
		f := finding(t, text)
		k.Findings = append(k.Findings, daily.Brief{Rule: f.Rule, Kind: f.Kind, Name: f.Name, Severity: f.Severity})
	}
	return k
}

// words says what changed in the form in which findings are written here.
func words(c daily.Changes) string {
	var out []string
	for _, f := range c.New {
		out = append(out, "new "+f.Rule+" "+f.Name)
	}
	for _, f := range c.Lasting {
		out = append(out, "lasting "+f.Rule+" "+f.Name)
	}
	for _, b := range c.Gone {
		out = append(out, "gone "+b.Rule+" "+b.Name)
	}
	for _, b := range c.Kept {
		out = append(out, "kept "+b.Rule+" "+b.Name)
	}
	return strings.Join(out, ", ")
}

func TestAnAuditIsPutBesideTheOneBefore(t *testing.T) {
	account := func(unread ...audit.Unread) audit.Account {
		return audit.Account{
			Unread: unread, Groups: []audit.Group{{Name: "web", TargetGroups: []string{"arn:web"}}, {Name: "api", TargetGroups: []string{"arn:api"}}},
			TargetGroups: []audit.TargetGroup{{ID: "arn:web", Name: "tg-web"}, {ID: "arn:api", Name: "tg-api"}},
		}
	}
	before := known(t, "HF001 group web critical", "HF010 target-group tg-web medium")
	for name, c := range map[string]struct {
		known   daily.Known
		account audit.Account
		report  audit.Report
		want    string
		tells   bool
	}{
		"the first audit tells all, also nothing":        {daily.Known{}, account(), report(t), "", true},
		"nothing changed":                                {before, account(), report(t, "HF001 group web critical", "HF010 target-group tg-web medium"), "lasting HF001 web, lasting HF010 tg-web", false},
		"one is new":                                     {before, account(), report(t, "HF001 group web critical", "HF010 target-group tg-web medium", "HF001 group api critical"), "new HF001 api, lasting HF001 web, lasting HF010 tg-web", true},
		"one is gone":                                    {before, account(), report(t, "HF001 group web critical"), "lasting HF001 web, gone HF010 tg-web", true},
		"one was accepted":                               {before, account(), report(t, "HF001 group web critical accepted", "HF010 target-group tg-web medium"), "lasting HF010 tg-web, gone HF001 web", true},
		"an accepted one is not new":                     {known(t), account(), report(t, "HF001 group web critical accepted"), "", false},
		"one became worse":                               {known(t, "HF010 target-group tg-web medium"), account(), report(t, "HF010 target-group tg-web high"), "new HF010 tg-web", true},
		"its resource was not read":                      {before, account(audit.Unread{Kind: "target-group", Name: "tg-web"}), report(t), "kept HF001 web, kept HF010 tg-web", false},
		"none of its kind was read":                      {before, account(audit.Unread{Kind: "group"}), report(t), "gone HF010 tg-web, kept HF001 web", true},
		"no target group was read":                       {before, account(audit.Unread{Kind: "target-group"}), report(t), "kept HF001 web, kept HF010 tg-web", false},
		"the target group of another group was not read": {before, account(audit.Unread{Kind: "target-group", Name: "tg-api"}), report(t), "gone HF001 web, gone HF010 tg-web", true},
		"a target group was not read, by its ARN":        {before, account(audit.Unread{Kind: "target-group", Name: "arn:web"}), report(t, "HF010 target-group tg-web medium"), "lasting HF010 tg-web, kept HF001 web", false},
		"accepted although its resource was not read":    {before, account(audit.Unread{Kind: "group", Name: "web"}), report(t, "HF001 group web critical accepted", "HF010 target-group tg-web medium"), "lasting HF010 tg-web, gone HF001 web", true},
	} {
		t.Run(name, func(t *testing.T) {
			have := daily.Compare(c.known, c.account, c.report, daily.Unsaid{})
			if words(have) != c.want || have.Any() != c.tells {
				t.Errorf("have %q, tells %t", words(have), have.Any())
			}
		})
	}
}

func TestWhatIsRememberedIsWhatIsOpenOrKept(t *testing.T) {
	before := known(t, "HF001 group web critical", "HF002 group web high")
	r := report(t, "HF003 group api medium", "HF004 group api low accepted")
	c := daily.Compare(before, audit.Account{Unread: []audit.Unread{{Kind: "group", Name: "web"}}}, r, daily.Unsaid{})
	next := c.Next(before, at().Add(time.Hour))
	want := known(t, "HF001 group web critical", "HF002 group web high", "HF003 group api medium")
	want.At = at().Add(time.Hour)
	if len(next.Accepted) != 1 {
		t.Errorf("accepted %v", next.Accepted)
	}
	want.Accepted = next.Accepted
	if !reflect.DeepEqual(next, want) {
		t.Errorf("have %+v\nwant %+v", next, want)
	}
	again := daily.Compare(next, audit.Account{}, report(t, "HF001 group web critical", "HF002 group web high", "HF003 group api medium"), daily.Unsaid{})
	if again.Any() {
		t.Errorf("the same a second time: %s", words(again))
	}
}

func TestADigestSaysWhatChangedAndCountsTheRest(t *testing.T) {
	r := report(t, "HF001 group web critical")
	r.Findings[0].Saw = "health check types EC2, ELB\npath /health/db"
	r.WhatIf = []audit.WhatIf{{Group: "web", Seconds: 1200, Members: 4, Alone: audit.Loss{Lost: 4}}}
	r.Unread = []audit.Unread{{Kind: "group", Name: "api"}}
	first := daily.Digest(daily.Compare(daily.Known{}, audit.Account{}, r, daily.Unsaid{}), r)
	for _, want := range []string{
		"This is the first audit: 1 finding, 1 critical.\n", "4 terminations", "- CRITICAL HF001, group web: ", "types EC2, ELB; path /health/db", "Not read: 1 thing.",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is not in\n%s", want, first)
		}
	}
	var many []string
	for i := range 25 {
		many = append(many, fmt.Sprintf("HF001 group g%02d critical", i))
	}
	all := report(t, many...)
	text := daily.Digest(daily.Compare(known(t, "HF002 group old high"), audit.Account{}, all, daily.Unsaid{}), all)
	for _, want := range []string{"25 new, 1 gone, 0 as before", "group g19:", "- and 5 more\n", "- HF002, group old: "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "g20") {
		t.Errorf("more than twenty are named:\n%s", text)
	}
	kept := daily.Digest(daily.Compare(known(t, "HF002 group old high"), audit.Account{Unread: []audit.Unread{{Kind: "group", Name: "old"}}}, r, daily.Unsaid{}), r)
	if !strings.Contains(kept, "1 new, 0 gone, 1 as before") || !strings.Contains(kept, "1 earlier finding could not be judged again") {
		t.Error(kept)
	}
	nothing := report(t)
	if have := daily.Digest(daily.Compare(daily.Known{}, audit.Account{}, nothing, daily.Unsaid{}), nothing); have != "This is the first audit: nothing was found." {
		t.Error(have)
	}
}
