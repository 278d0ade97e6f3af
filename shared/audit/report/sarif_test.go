package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/report"
)

// log is what a reader of SARIF looks at.
type log struct {
	Schema  string `json:"$schema"`
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name, Version string
				Rules         []struct {
					ID, Name                                string
					ShortDescription, FullDescription, Help struct{ Text string }
					DefaultConfiguration                    struct{ Level string }
				}
			}
		}
		Invocations []struct {
			ExecutionSuccessful        bool
			EndTimeUTC                 string
			ToolExecutionNotifications []struct {
				Level   string
				Message struct{ Text string }
			}
		}
		Results []struct {
			RuleID    string
			RuleIndex int
			Level     string
			Message   struct{ Text string }
			Locations []struct {
				PhysicalLocation *struct {
					ArtifactLocation struct{ URI string }
					Region           *struct{ StartLine int }
				}
				LogicalLocations []struct{ Name, FullyQualifiedName, Kind string }
			}
			PartialFingerprints map[string]string
			Suppressions        []struct{ Kind, Status, Justification string }
		}
	}
}

func sarif(t *testing.T, r audit.Report) log {
	t.Helper()
	var b bytes.Buffer
	if err := report.SARIF(&b, r, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	var l log
	if err := json.Unmarshal(b.Bytes(), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestSARIFHasWhatTheStandardWants follows the schema by hand: required properties, enumerations, and indexes that lead somewhere.
func TestSARIFHasWhatTheStandardWants(t *testing.T) {
	for name, r := range map[string]audit.Report{"ordinary": result(), "hostile": hostile(), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			l := sarif(t, r)
			run := l.Runs[0]
			if l.Version != "2.1.0" || len(l.Runs) != 1 || run.Tool.Driver.Name != "Holdfast" || run.Tool.Driver.Version != "1.2.3" || !run.Invocations[0].ExecutionSuccessful {
				t.Errorf("the log begins with %+v", l)
			}
			levels := []string{"none", "note", "warning", "error"}
			ids := map[string]bool{}
			for _, rule := range run.Tool.Driver.Rules {
				if ids[rule.ID] || rule.ID == "" || rule.ShortDescription.Text == "" || rule.FullDescription.Text == "" || rule.Help.Text == "" || !slices.Contains(levels, rule.DefaultConfiguration.Level) {
					t.Errorf("a rule that says too little, or stands twice: %+v", rule)
				}
				ids[rule.ID] = true
			}
			if len(run.Results) != len(r.Findings) || run.Results == nil {
				t.Errorf("there are %d results, want %d", len(run.Results), len(r.Findings))
			}
			for _, result := range run.Results {
				if run.Tool.Driver.Rules[result.RuleIndex].ID != result.RuleID || !slices.Contains(levels, result.Level) || result.Message.Text == "" {
					t.Errorf("a result that leads nowhere: %+v", result)
				}
				if len(result.Locations) != 1 || len(result.Locations[0].LogicalLocations) != 1 || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(result.PartialFingerprints["holdfastFinding/v1"]) {
					t.Errorf("a result without a place or a fingerprint: %+v", result)
				}
			}
			if len(run.Invocations[0].ToolExecutionNotifications) != len(r.Unread) {
				t.Errorf("%d notifications, want one for each of %d that were not read", len(run.Invocations[0].ToolExecutionNotifications), len(r.Unread))
			}
		})
	}
}

func TestSARIFSaysSeverityAndSuppression(t *testing.T) {
	run := sarif(t, result()).Runs[0]
	for _, r := range run.Results {
		want := map[string]string{"HF001": "error", "HF004": "error", "HF010": "warning", "HF018": "warning", "HF019": "error"}[r.RuleID]
		if want != "" && r.Level != want {
			t.Errorf("%s is %q, want %q", r.RuleID, r.Level, want)
		}
		if (r.RuleID == "HF019") != (len(r.Suppressions) == 1) {
			t.Errorf("%s has suppressions %+v, want one of HF019 only", r.RuleID, r.Suppressions)
		}
	}
	if got := run.Invocations[0].EndTimeUTC; got != "2026-11-30T06:00:00Z" {
		t.Errorf("it ended at %q", got)
	}
}

func TestSARIFPointsAtTheTemplatesLine(t *testing.T) {
	for _, c := range []struct {
		where, uri, inside string
		line               int
	}{
		{"web.yaml:12: WebGroup", "web.yaml", "WebGroup", 12},
		{"./a b/web.yaml:3: G", "a%20b/web.yaml", "G", 3},
		{"/abs/web.yaml:3: G", "file:///abs/web.yaml", "G", 3},
		{`plan.json: module.a["x: y"].aws_lb.z`, "plan.json", `module.a["x: y"].aws_lb.z`, 0},
		{"c:odd.yaml: G", "./c:odd.yaml", "G", 0},
		{"", "", "web", 0},
	} {
		t.Run(c.where, func(t *testing.T) {
			f := audit.Finding{Rule: "HF001", Severity: audit.Critical, Kind: "group", Name: "web", Where: c.where, Saw: "x"}
			place := sarif(t, audit.Report{Findings: []audit.Finding{f}}).Runs[0].Results[0].Locations[0]
			if place.LogicalLocations[0].FullyQualifiedName != c.inside {
				t.Errorf("inside is %q, want %q", place.LogicalLocations[0].FullyQualifiedName, c.inside)
			}
			if c.uri == "" {
				if place.PhysicalLocation != nil {
					t.Errorf("a live finding points at a file: %+v", place.PhysicalLocation)
				}
				return
			}
			line := 0
			if place.PhysicalLocation.Region != nil {
				line = place.PhysicalLocation.Region.StartLine
			}
			if place.PhysicalLocation.ArtifactLocation.URI != c.uri || line != c.line {
				t.Errorf("it points at %q, line %d; want %q, %d", place.PhysicalLocation.ArtifactLocation.URI, line, c.uri, c.line)
			}
		})
	}
}

func TestAFingerprintOutlivesLinesAndNothingElse(t *testing.T) {
	mark := func(f audit.Finding) string {
		return sarif(t, audit.Report{Findings: []audit.Finding{f}}).Runs[0].Results[0].PartialFingerprints["holdfastFinding/v1"]
	}
	f := audit.Finding{Rule: "HF001", Severity: audit.Critical, Kind: "group", Name: "web", Where: "web.yaml:12: G", Saw: "x"}
	moved, other := f, f
	moved.Where, moved.Saw = "web.yaml:99: G", "y"
	other.Where = "web.yaml:12: H"
	second := f
	second.Part = "api"
	if mark(f) != mark(moved) || mark(f) == mark(other) || mark(f) == mark(second) {
		t.Errorf("fingerprints are %s, moved %s, of another resource %s, of a second fault of the resource %s", mark(f), mark(moved), mark(other), mark(second))
	}
}

func TestAReportOfNothingSaysSo(t *testing.T) {
	for name, text := range forms(t, audit.Report{Source: "empty.yaml"}) {
		if strings.HasSuffix(name, ".txt") && (!strings.Contains(text, "NO FINDINGS") || strings.Contains(text, "WHAT IF")) {
			t.Errorf("%s is %q", name, text)
		}
		if name == "report.html" && (!strings.Contains(text, "<p>None.</p>") || strings.Contains(text, "<table")) {
			t.Errorf("%s has a table of nothing", name)
		}
	}
	if got := report.Headline(audit.Report{WhatIf: []audit.WhatIf{{Group: "a", Seconds: 90, Members: 3}}}); got != "In 90 s in which every target is unhealthy, none of 1 group would terminate a healthy member." {
		t.Errorf("the headline is %q", got)
	}
}

func TestNoLineOfWordsIsWiderThanTheTerminal(t *testing.T) {
	for i, line := range strings.Split(forms(t, result())["report-80.txt"], "\n") {
		long := len(line) > 80 && !strings.Contains(line, "fix, cli:") && !strings.HasPrefix(strings.TrimSpace(line), "(arn:")
		if long {
			t.Errorf("line %d has %d columns: %q", i+1, len(line), line)
		}
	}
}

// full is a writer that takes nothing.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAWriterThatFailsIsToldOf(t *testing.T) {
	for name, err := range map[string]error{
		"text": report.Text(full{}, result(), report.TextOptions{}), "JSON": report.JSON(full{}, result()),
		"SARIF": report.SARIF(full{}, result(), ""), "HTML": report.HTML(full{}, result()),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestGroupsOfOneNameAreToldApartByTheirPlace(t *testing.T) {
	r := audit.Report{WhatIf: []audit.WhatIf{
		{Group: "web", Where: "a/very/long/path/to/the/first.template.yaml:7: G", Seconds: 90, Members: 2},
		{Group: "web", Where: "second.yaml:9: G", Seconds: 90, Members: 2}, {Group: "api", Where: "second.yaml:99: A", Seconds: 90, Members: 2},
	}}
	text := forms(t, r)["report.txt"]
	for _, want := range []string{"web ...the/first.template.yaml:7 ", "web second.yaml:9 ", "  api   "} {
		if !strings.Contains(text, want) {
			t.Errorf("the table does not say %q:\n%s", want, text)
		}
	}
}
