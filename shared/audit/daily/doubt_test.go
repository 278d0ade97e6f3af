package daily_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/daily"
)

// TestThresholdsThatAreNotKnownMakeNothingGoneOrNew takes the broken dump of every rule.
func TestThresholdsThatAreNotKnownMakeNothingGoneOrNew(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "testdata", "thresholds.json"))
	must(t, err)
	for what, spoil := range map[string]func(*testing.T, *lab){
		"not read": func(t *testing.T, l *lab) {
			must(t, l.SetFaults(world.Fault{Operation: "ssm:GetParameters", FailFirst: 1}))
		},
		"not understood": func(t *testing.T, l *lab) { must(t, l.PutParameter(daily.ParameterThresholds, "{")) },
	} {
		for _, r := range audit.Rules() {
			t.Run(what+" "+r.ID, func(t *testing.T) {
				raw, err := os.ReadFile(filepath.Join("..", "testdata", "rules", r.ID, "broken.json"))
				must(t, err)
				l := newLab(t)
				l.account, err = audit.DecodeAccount(raw)
				must(t, err)
				must(t, l.PutParameter(daily.ParameterThresholds, string(text)))
				first, err := l.run(t)
				must(t, err)
				spoil(t, l)
				doubtful, err := l.run(t)
				must(t, err)
				if doubtful.New+doubtful.Gone > 0 || len(doubtful.Notes) != 1 || !doubtful.Told {
					t.Errorf("have %+v", doubtful)
				}
				must(t, l.PutParameter(daily.ParameterThresholds, string(text)))
				again, err := l.run(t)
				must(t, err)
				if again.New+again.Gone > 0 || again.Told || !reflect.DeepEqual(again.Open, first.Open) {
					t.Errorf("and when they are known again %+v, at first %+v", again, first)
				}
			})
		}
	}
}

func TestWhatWasAcceptedStaysSoWhileTheListIsNotKnown(t *testing.T) {
	const list = `{"acknowledgements":[{"rule":"HF001","name":"web","reason":"a test","by":"a test","until":"2027-01-31"}]}`
	for what, spoil := range map[string]func(*testing.T, *lab){
		"not read": func(t *testing.T, l *lab) {
			must(t, l.SetFaults(world.Fault{Operation: "ssm:GetParameters", FailFirst: 1}))
		},
		"not understood": func(t *testing.T, l *lab) { must(t, l.PutParameter(daily.ParameterAccepted, "{")) },
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			must(t, l.PutParameter(daily.ParameterAccepted, list))
			first, err := l.run(t)
			must(t, err)
			if first.Accepted == 0 || len(first.Notes) > 0 {
				t.Fatalf("nothing is accepted: %+v", first)
			}
			for range 2 {
				spoil(t, l)
				out, err := l.run(t)
				must(t, err)
				if out.New+out.Gone > 0 || out.Accepted != first.Accepted || len(out.Notes) != 1 {
					t.Errorf("have %+v, at first %+v", out, first)
				}
			}
			must(t, l.PutParameter(daily.ParameterAccepted, `{"acknowledgements":[]}`))
			out, err := l.run(t)
			must(t, err)
			if out.New != first.Accepted {
				t.Errorf("taken back: %+v", out)
			}
		})
	}
}

// longName is 200 characters that cannot be packed well.
func longName(i int) string {
	var b strings.Builder
	for n := range 5 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", i, n))
		b.WriteString(base64.RawURLEncoding.EncodeToString(sum[:30]))
	}
	return b.String()
}

func TestFindingsOfLongNamesAreRememberedAndEnd(t *testing.T) {
	const groups = 2600 // at two findings each
	names := make([]string, groups)
	for i := range names {
		names[i] = longName(i)
	}
	l := newLab(t)
	l.risky(names...)
	first, err := l.Run(t.Context(), "first")
	must(t, err)
	if first.New < 5000 || len(first.Notes) > 0 {
		t.Fatalf("%d findings, notes %v", first.New, first.Notes)
	}
	same, err := l.Run(t.Context(), "same")
	must(t, err)
	if same.Told || same.New+same.Gone > 0 {
		t.Errorf("the same a second time: %d new, %d gone", same.New, same.Gone)
	}
	// One group is deleted, one is mended: what is still there has its name.
	l.risky(names[1:]...)
	l.account.Groups[0].HealthCheckTypes = []string{"EC2"}
	out, err := l.Run(t.Context(), "changed")
	must(t, err)
	if out.Gone == 0 || !strings.Contains(out.Digest, "group "+names[1]) || !strings.Contains(out.Digest, "whose name there was no room to remember") || strings.Contains(out.Digest, names[0]) {
		t.Errorf("%d gone:\n%s", out.Gone, out.Digest)
	}
}

func TestMoreFindingsThanFitAreSaidOnceAndNotTheWorstAreLeftOut(t *testing.T) {
	r := audit.Report{At: at()}
	for i := range 60000 {
		s := []audit.Severity{audit.Critical, audit.High, audit.Medium, audit.Low}[i/15000]
		r.Findings = append(r.Findings, audit.Finding{Rule: "HF018", Kind: "group", Name: longName(i), Severity: s})
	}
	l := newLab(t)
	c := daily.Compare(daily.Known{}, audit.Account{}, r, daily.Unsaid{})
	must(t, l.memory.Save(t.Context(), c.Next(daily.Known{}, at())))
	known, err := l.memory.Load(t.Context())
	must(t, err)
	if known.Least != audit.Medium && known.Least != audit.Low || len(known.Findings) < 15000 {
		t.Fatalf("%d are remembered, from %q on some are not", len(known.Findings), known.Least)
	}
	t.Logf("%d of %d fit", len(known.Findings), len(r.Findings))
	r.Findings = append(r.Findings, audit.Finding{Rule: "HF001", Kind: "group", Name: "new", Severity: audit.Critical})
	c = daily.Compare(known, audit.Account{}, r, daily.Unsaid{})
	if len(c.New) != 1 || c.New[0].Name != "new" || len(c.Gone) > 0 {
		t.Errorf("%d new, %d gone", len(c.New), len(c.Gone))
	}
}

// TestThatThereIsNoRoomIsSaidOnce keeps what is known, since nothing of it can be judged.
func TestThatThereIsNoRoomIsSaidOnce(t *testing.T) {
	l := newLab(t)
	full := daily.Known{Least: audit.Low}
	for i := range 100 {
		full.Findings = append(full.Findings, daily.Brief{Rule: "HF018", Kind: "group", Severity: audit.Medium, Hash: fmt.Sprintf("%016d", i)})
	}
	must(t, l.memory.Save(t.Context(), full))
	l.account = audit.Account{Format: audit.Format, At: at(), Unread: []audit.Unread{{Kind: "account", What: "all", Why: "a test"}}}
	for i := range 2 {
		out, err := l.run(t)
		must(t, err)
		if out.Told != (i == 0) || out.Kept != 100 || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "more findings than can be remembered") {
			t.Errorf("run %d: told %t, %d kept, notes %v", i, out.Told, out.Kept, out.Notes)
		}
	}
}

func TestOneOfTwoFindingsOfARuleAboutAResourceThatIsMendedIsGone(t *testing.T) {
	c := daily.Compare(known(t, "HF001 group web critical", "HF001 group web high"), audit.Account{}, report(t, "HF001 group web high"), daily.Unsaid{})
	if words(c) != "lasting HF001 web, gone HF001 web" || c.Gone[0].Severity != audit.Critical {
		t.Errorf("have %s, %+v", words(c), c.Gone)
	}
}

func TestWhatIsKeptHangsOnTheReadsOfTheRule(t *testing.T) {
	denied := func(kind, what string) audit.Unread { return audit.Unread{Kind: kind, What: what, Why: "AccessDenied"} }
	for name, c := range map[string]struct {
		known  string
		unread audit.Unread
		report []string
		want   string
	}{
		"a deleted group ends, whatever else is denied":  {"HF023 group deleted medium", denied("group", "DescribeInstanceRefreshes"), nil, "gone HF023 deleted"},
		"a group that is there waits for that read":      {"HF023 group web medium", denied("group", "DescribeInstanceRefreshes"), nil, "kept HF023 web"},
		"a rule that does not need the read":             {"HF001 group web critical", denied("group", "DescribeInstanceRefreshes"), nil, "gone HF001 web"},
		"no list of groups":                              {"HF023 group deleted medium", denied("group", "DescribeAutoScalingGroups"), nil, "kept HF023 deleted"},
		"a deleted target group ends":                    {"HF012 target-group deleted medium", denied("target-group", "DescribeTargetGroupAttributes"), nil, "gone HF012 deleted"},
		"a target group that a list of groups lacks not": {"HF012 target-group web medium", denied("group", "DescribeAutoScalingGroups"), nil, "gone HF012 web"},
		"another topic was not read":                     {"HF034 guardian arn:a high", denied("guardian", "GetTopicAttributes of arn:b"), nil, "gone HF034 arn:a"},
		"its topic was not read":                         {"HF034 guardian arn:a high", denied("guardian", "GetTopicAttributes of arn:a"), nil, "kept HF034 arn:a"},
		"milder, as a group was not read":                {"HF026 alarm db high", denied("group", "DescribeAutoScalingGroups"), []string{"HF026 alarm db medium"}, "kept HF026 db"},
		"worse, although a group was not read":           {"HF026 alarm db medium", denied("group", "DescribeAutoScalingGroups"), []string{"HF026 alarm db high"}, "new HF026 db"},
	} {
		t.Run(name, func(t *testing.T) {
			account := audit.Account{Groups: []audit.Group{{Name: "web"}}, TargetGroups: []audit.TargetGroup{{ID: "arn:web", Name: "web"}}, Unread: []audit.Unread{c.unread}}
			have := daily.Compare(known(t, c.known), account, report(t, c.report...), daily.Unsaid{})
			if words(have) != c.want {
				t.Errorf("have %q, want %q", words(have), c.want)
			}
		})
	}
}

// TestTwoPartsOfOneResourceAreTwoFindings also when there is no room for their names.
func TestTwoPartsOfOneResourceAreTwoFindings(t *testing.T) {
	r := report(t, "HF001 group web critical", "HF001 group web critical")
	r.Findings[0].Part, r.Findings[1].Part = "one", "two"
	k := daily.Compare(daily.Known{}, audit.Account{}, r, daily.Unsaid{}).Next(daily.Known{}, at())
	k.Version = 1
	r.Findings[0].Acknowledged = &audit.Acknowledgement{Rule: "HF001", Name: "web", Part: "one"}
	c := daily.Compare(k, audit.Account{}, r, daily.Unsaid{})
	if words(c) != "lasting HF001 web, gone HF001 web" || c.Lasting[0].Part != "two" || c.Gone[0].Part != "one" {
		t.Errorf("one is accepted: %s", words(c))
	}
	r.Findings = r.Findings[1:]
	if c = daily.Compare(k, audit.Account{}, r, daily.Unsaid{}); words(c) != "lasting HF001 web, gone HF001 web" || c.Gone[0].Part != "one" {
		t.Errorf("one is mended: %s", words(c))
	}
}

// TestEveryRuleSaysWhichReadsItNeeds would fail for a new rule that nobody thought of: what is not known to need nothing is kept.
func TestEveryRuleSaysWhichReadsItNeeds(t *testing.T) {
	for _, r := range audit.Rules() {
		account := audit.Account{Unread: []audit.Unread{{Kind: "nothing", What: "that there is"}}}
		if have := daily.Compare(known(t, r.ID+" alarm x high"), account, audit.Report{}, daily.Unsaid{}); len(have.Gone) != 1 {
			t.Errorf("%s does not say which reads it needs", r.ID)
		}
	}
}

func TestADigestPlaysNoTricks(t *testing.T) {
	evil := "db\x1b[31m\u202ecod \r\n- CRITICAL HF001, group prod: fake\u2028more"
	f := audit.Finding{Rule: "HF026", Severity: audit.High, Kind: "alarm", Name: evil, Saw: evil}
	c := daily.Changes{New: []audit.Finding{f}, Gone: []daily.Brief{{Rule: "HF026", Kind: "alarm", Name: evil}}, Notes: []string{evil}}
	text := daily.Digest(c, audit.Report{Findings: []audit.Finding{f}})
	for _, bad := range []string{"\x1b", "\u202e", "\r", "\u2028", "\n- CRITICAL"} {
		if strings.Contains(text, bad) {
			t.Errorf("the digest has %q: %q", bad, text)
		}
	}
	if !strings.Contains(text, `db\x1b[31m\u202ecod \r; - CRITICAL`) {
		t.Errorf("what is hidden is not shown: %q", text)
	}
}
