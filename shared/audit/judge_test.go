package audit_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// text is a report as bytes.
func text(tb testing.TB, r audit.Report) string {
	tb.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// all is every broken dump in one account, with other names.
func all(tb testing.TB) audit.Account {
	tb.Helper()
	var out audit.Account
	for _, r := range audit.Rules() {
		a := dump(tb, "rules", r.ID, "broken.json")
		if out.Format == 0 {
			out = a
			continue
		}
		for _, g := range a.Groups {
			g.Name = r.ID + "-" + g.Name
			for i := range g.TargetGroups {
				g.TargetGroups[i] = r.ID + "-" + g.TargetGroups[i]
			}
			for i := range g.Policy.Dependencies {
				g.Policy.Dependencies[i].Alarm = r.ID + "-" + g.Policy.Dependencies[i].Alarm
			}
			out.Groups = append(out.Groups, g)
		}
		for _, g := range a.TargetGroups {
			g.ID, g.Name = r.ID+"-"+g.ID, r.ID+"-"+g.Name
			out.TargetGroups = append(out.TargetGroups, g)
		}
		for _, alarm := range a.Alarms {
			alarm.Name = r.ID + "-" + alarm.Name
			out.Alarms = append(out.Alarms, alarm)
		}
		out.StatusChecks = append(out.StatusChecks, a.StatusChecks...)
	}
	return out
}

func TestFindingsAreOrderedBySeverityThenRuleThenName(t *testing.T) {
	r := audit.Judge(all(t), options(t))
	if len(r.Findings) < 40 {
		t.Fatalf("only %d findings", len(r.Findings))
	}
	rank := []audit.Severity{audit.Critical, audit.High, audit.Medium, audit.Low}
	key := func(f audit.Finding) []string {
		return []string{string(rune('0' + slices.Index(rank, f.Severity))), f.Rule, f.Name}
	}
	for i := 1; i < len(r.Findings); i++ {
		if a, b := key(r.Findings[i-1]), key(r.Findings[i]); slices.Compare(a, b) > 0 {
			t.Errorf("%v stands before %v", a, b)
		}
	}
}

func TestTheOrderOfResourcesDoesNotMatter(t *testing.T) {
	a := all(t)
	want := text(t, audit.Judge(a, options(t)))
	slices.Reverse(a.Groups)
	slices.Reverse(a.TargetGroups)
	slices.Reverse(a.Alarms)
	slices.Reverse(a.StatusChecks)
	if have := text(t, audit.Judge(a, options(t))); have != want {
		t.Error("the report depends on the order of the resources")
	}
}

func TestJudgingChangesNothing(t *testing.T) {
	a := all(t)
	before, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	audit.Judge(a, options(t))
	after, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("the account was changed")
	}
}

func TestATemplateBreaksNoRuleAboutStates(t *testing.T) {
	stateful := map[string]bool{}
	for _, id := range strings.Fields("HF005 HF013 HF017 HF024 HF025 HF026 HF028 HF029 HF030 HF031 HF032 HF033 HF034 HF036") {
		stateful[id] = true
	}
	a := all(t)
	a.Static = true
	seen := map[string]bool{}
	for _, f := range audit.Judge(a, options(t)).Findings {
		if stateful[f.Rule] {
			t.Errorf("%s at %s", f.Rule, f.Name)
		}
		seen[f.Rule] = true
	}
	for _, r := range audit.Rules() {
		if !stateful[r.ID] && !seen[r.ID] {
			t.Errorf("%s says nothing about a template", r.ID)
		}
	}
}

func TestAGroupThatAWSManagesIsSkippedAndListed(t *testing.T) {
	a := dump(t, "rules", "HF001", "broken.json")
	a.Groups[0].Operator = "ecs.amazonaws.com"
	r := audit.Judge(a, options(t))
	for _, f := range r.Findings {
		if f.Kind == audit.KindGroup {
			t.Errorf("%s at %s", f.Rule, f.Name)
		}
	}
	if r.Groups != 0 || r.TargetGroups != 1 {
		t.Errorf("%d groups and %d target groups were judged", r.Groups, r.TargetGroups)
	}
	want := audit.Unread{Kind: "group", Name: "web", What: "group", Why: "not judged: it is managed by ecs.amazonaws.com, and only that service may change it"}
	if !slices.Contains(r.Unread, want) {
		t.Errorf("unread: %v", r.Unread)
	}
}

func TestWhatIsUnknownIsListedOnceForEachResource(t *testing.T) {
	a := dump(t, "rules", "HF001", "broken.json")
	a.Unread = []audit.Unread{{Kind: "target-group", Name: "web-tg", What: "matcher", Why: "access denied"}}
	a.TargetGroups[0].Path, a.TargetGroups[0].Matcher, a.TargetGroups[0].IntervalSeconds = nil, nil, nil
	r := audit.Judge(a, options(t))
	if len(of(r, "HF001")) > 0 {
		t.Error("an unknown path is a finding")
	}
	want := []audit.Unread{
		{Kind: "target-group", Name: "web-tg", What: "interval_seconds, path", Why: "unknown: the rules that need it said nothing"},
		a.Unread[0],
	}
	if !slices.Equal(r.Unread, want) {
		t.Errorf("unread: %v, want %v", r.Unread, want)
	}
}

func TestAPropertyThatNoResourceTellsIsListedOnce(t *testing.T) {
	a := dump(t, "rules", "HF016", "inside.json")
	for i := range a.TargetGroups {
		a.TargetGroups[i].LongestRequestSeconds = nil
	}
	a.TargetGroups[1].Matcher = nil
	want := []audit.Unread{
		{Kind: "target-group", What: "longest_request_seconds", Why: "unknown: the rules that need it said nothing"},
		{Kind: "target-group", Name: "admin-tg", What: "matcher", Why: "unknown: the rules that need it said nothing"},
	}
	if r := audit.Judge(a, options(t)); !slices.Equal(r.Unread, want) {
		t.Errorf("unread: %v, want %v", r.Unread, want)
	}
}

func TestATargetGroupThatWasNotReadBreaksNoRule(t *testing.T) {
	a := dump(t, "rules", "HF001", "broken.json")
	a.TargetGroups = nil
	r := audit.Judge(a, options(t))
	for _, id := range []string{"HF001", "HF003"} {
		if len(of(r, id)) > 0 {
			t.Errorf("%s is found without a target group", id)
		}
	}
	if len(r.Unread) != 1 || r.Unread[0].What != "path, tags" {
		t.Errorf("unread: %v", r.Unread)
	}
}

func TestVPCLatticeTerminatesLikeELB(t *testing.T) {
	a := dump(t, "rules", "HF001", "broken.json")
	g := &a.Groups[0]
	g.HealthCheckTypes = []string{"EC2", "VPC_LATTICE"}
	if f := of(audit.Judge(a, options(t)), "HF001"); len(f) > 0 {
		t.Errorf("a target group that terminates nobody is found: %s", f[0].Saw)
	}
	g.LatticeGroups, g.TargetGroups = g.TargetGroups, []string{}
	if f := of(audit.Judge(a, options(t)), "HF001"); len(f) != 1 {
		t.Error("a deep path under VPC Lattice is not found")
	}
	g.LatticeGroups = []string{"tg-1"}
	if r := audit.Judge(a, options(t)); len(of(r, "HF001")) > 0 || len(r.Unread) != 1 || r.Unread[0].Name != "tg-1" {
		t.Errorf("an unread lattice group: %v", r.Unread)
	}
	g.LatticeGroups = nil
	if r := audit.Judge(a, options(t)); len(r.Unread) != 1 || r.Unread[0].What != "lattice_groups" {
		t.Errorf("unknown lattice groups: %v", r.Unread)
	}
}

func TestAReviewAllowsWhatItNames(t *testing.T) {
	a := dump(t, "rules", "HF003", "broken.json")
	a.TargetGroups[0].Tags[audit.TagService] = "reviewed"
	if f := of(audit.Judge(a, options(t)), "HF003"); len(f) > 0 {
		t.Errorf("a reviewed group is found: %s", f[0].Sum)
	}
	a.Groups[0].HealthCheckTypes, a.Groups[0].LatticeGroups = []string{"EC2", "ELB", "VPC_LATTICE"}, []string{a.TargetGroups[0].ID}
	if f := of(audit.Judge(a, options(t)), "HF003"); len(f) != 1 {
		t.Error("the review allows more than it names")
	}
	a.TargetGroups[0].Tags = nil
	a.Unread = []audit.Unread{{Kind: "target-group", Name: a.TargetGroups[0].ID, What: "DescribeTags", Why: "throttled"}}
	if f := of(audit.Judge(a, options(t)), "HF003"); len(f) > 0 {
		t.Error("tags that were not read are a finding")
	}
	a.TargetGroups[0].Tags = map[string]string{"team": "shop"}
	if f := of(audit.Judge(a, options(t)), "HF003"); len(f) != 1 {
		t.Error("tags that were read are not looked at")
	}
}

func TestSeveritiesThatDependOnMore(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		change     func(*audit.Account)
		want       audit.Severity
	}{
		{"an application status check with a shallow path", "HF006", func(a *audit.Account) { a.StatusChecks[0].Path = "/health" }, audit.High},
		{"redirects that take targets out", "HF015", func(a *audit.Account) {
			a.TargetGroups[0].States = map[string]int{"unhealthy Target.ResponseCodeMismatch Health checks failed with these codes: [301]": 2}
		}, audit.High},
		{"a suspended AZRebalance", "HF024", func(a *audit.Account) { a.Groups[0].Suspended[0].Process = "AZRebalance" }, audit.Medium},
		{"a soft dependency without an alarm", "HF026", func(a *audit.Account) { a.Groups[0].Policy.Dependencies[0].Kind = "soft" }, audit.Medium},
		{"no data for a day", "HF028", func(a *audit.Account) {
			a.Alarms[0].NeverEvaluated, a.Alarms[0].Since = false, a.At.AddDate(0, 0, -1)
		}, audit.Medium},
		{"protected members under the load balancer's word", "HF021", func(a *audit.Account) { a.Groups[0].HealthCheckTypes = []string{"EC2", "ELB"} }, audit.Medium},
		{"different numbers under the load balancer's word", "HF016", func(a *audit.Account) { a.Groups[0].HealthCheckTypes = []string{"EC2", "ELB"} }, audit.Medium},
	} {
		a := dump(t, "rules", c.rule, "broken.json")
		c.change(&a)
		if f := of(audit.Judge(a, options(t)), c.rule); len(f) != 1 || f[0].Severity != c.want {
			t.Errorf("%s: %v, want %s", c.name, f, c.want)
		}
	}
}

func TestSuspensionsOfHoldfastAreNobodysFault(t *testing.T) {
	a := dump(t, "rules", "HF024", "broken.json")
	a.Groups[0].Suspended[0].Held = true
	if f := of(audit.Judge(a, options(t)), "HF024"); len(f) > 0 {
		t.Errorf("a hold is found: %s", f[0].Saw)
	}
}

// TestCommandsTakeAnyName runs every command that a fix shows through a shell, with aws and the others replaced by a function that prints
// its arguments: a name must arrive as it is, whatever is in it.
func TestCommandsTakeAnyName(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell is here: ", err)
	}
	const evil = "a'b\"$(touch x);`y` *"
	for _, r := range audit.Rules() {
		a := dump(t, "rules", r.ID, "broken.json")
		a.Region = "eu-west-1"
		for i := range a.Groups {
			a.Groups[i].Name += evil
		}
		for i := range a.TargetGroups {
			a.TargetGroups[i].Name += evil
		}
		for i := range a.StatusChecks {
			a.StatusChecks[i].ID += evil
			a.StatusChecks[i].TagValue += evil
		}
		for i := range a.Alarms {
			if old := a.Alarms[i].Name; old == "db-down" {
				for g := range a.Groups {
					for d := range a.Groups[g].Policy.Dependencies {
						a.Groups[g].Policy.Dependencies[d].Alarm = old + evil
					}
				}
			}
			a.Alarms[i].Name += evil
		}
		for _, f := range of(audit.Judge(a, options(t)), r.ID) {
			want := f.Name
			if strings.Contains(r.Fix.CLI, "{arn}") && f.ARN != "" {
				want = f.ARN
			}
			script := "aws() { printf '%s\\n' \"$@\"; }\nholdfast() { aws \"$@\"; }\nsystemctl() { aws \"$@\"; }\n" + f.Fix.CLI
			out, err := exec.CommandContext(t.Context(), shell, "-c", script).CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v: %s\n%s", r.ID, err, out, f.Fix.CLI)
			}
			if !slices.ContainsFunc(strings.Split(string(out), "\n"), func(arg string) bool { return strings.HasSuffix(arg, want) }) {
				t.Errorf("%s: %q does not arrive:\n%s\n%s", r.ID, want, out, f.Fix.CLI)
			}
		}
	}
}
