package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// sarifSchema is where the standard publishes the schema of what SARIF writes.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Automation  sarifAutomation   `json:"automationDetails"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
}

type sarifAutomation struct {
	ID string `json:"id"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Short      sarifText       `json:"shortDescription"`
	Full       sarifText       `json:"fullDescription"`
	Help       sarifText       `json:"help"`
	Default    sarifDefault    `json:"defaultConfiguration"`
	Properties sarifProperties `json:"properties"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifDefault struct {
	Level string `json:"level"`
}

type sarifProperties struct {
	Severity string `json:"severity"`
	Source   string `json:"source,omitempty"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Ended         string              `json:"endTimeUtc,omitempty"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct {
	Rule         string             `json:"ruleId"`
	Index        int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	Properties   sarifProperties    `json:"properties"`
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name      string `json:"name"`
	Qualified string `json:"fullyQualifiedName"`
	Kind      string `json:"kind"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

// SARIF writes the findings as SARIF 2.1.0, for code scanning and editors. The version is Holdfast's own, or "". A finding in a template
// has the template's file and line; one of an account has the resource's ARN or name only, because no file is to blame. An acknowledged
// finding is there, suppressed; what was not read is a notification. An error is one of writing.
func SARIF(w io.Writer, r audit.Report, version string) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{Name: "Holdfast", Version: version, Rules: []sarifRule{}}}, Results: []sarifResult{},
		Automation: sarifAutomation{"holdfast/audit/" + visible(title(r))},
	}
	index := map[string]int{}
	rules, ours := audit.Rules(), rulesByID()
	for _, f := range r.Findings {
		if _, known := ours[f.Rule]; !known && index[f.Rule] == 0 {
			index[f.Rule] = 1 // listed once; the place is set below
			rules = append(rules, ruleOf(nil, f))
		}
	}
	for i, rule := range rules {
		index[rule.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(rule))
	}
	for _, f := range r.Findings {
		run.Results = append(run.Results, sarifResultOf(f, index[f.Rule]))
	}
	run.Invocations = []sarifInvocation{sarifInvocationOf(r)}
	return encode(w, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}}, "SARIF log")
}

func sarifInvocationOf(r audit.Report) sarifInvocation {
	out := sarifInvocation{Successful: true}
	if !r.At.IsZero() {
		out.Ended = r.At.UTC().Format(time.RFC3339)
	}
	for _, u := range r.Unread {
		what := "Not read, and so not judged: "
		if u.Judged() {
			what = "Another choice of a parameter may find more: "
		}
		out.Notifications = append(out.Notifications, sarifNotification{"warning", sarifText{visible(what + unreadText(u))}})
	}
	return out
}

func sarifRuleOf(r audit.Rule) sarifRule {
	help := r.Why
	for _, way := range []struct{ name, text string }{
		{"Console", r.Fix.Console}, {"CLI", r.Fix.CLI}, {"CloudFormation", r.Fix.CloudFormation}, {"CDK", r.Fix.CDK}, {"Terraform", r.Fix.Terraform},
	} {
		if way.text != "" {
			help += "\n\n" + way.name + ": " + way.text
		}
	}
	return sarifRule{
		ID: visible(r.ID), Name: r.Name, Short: sarifText{r.Title}, Full: sarifText{r.Why}, Help: sarifText{help},
		Default: sarifDefault{level(r.Severity)}, Properties: sarifProperties{visible(string(r.Severity)), r.Source},
	}
}

// level is the word of SARIF for a severity.
func level(s audit.Severity) string {
	switch s {
	case audit.Critical, audit.High:
		return "error"
	case audit.Medium:
		return "warning"
	case audit.Low:
		return "note"
	}
	return "warning"
}

func sarifResultOf(f audit.Finding, index int) sarifResult {
	message := f.Kind + " " + f.Name + ": " + f.Saw
	if f.Sum != "" {
		message += "\n" + f.Sum
	}
	at := placeOf(f.Where)
	qualified := cmp.Or(f.ARN, at.inside, f.Name)
	location := sarifLocation{Logical: []sarifLogical{{visible(f.Name), visible(qualified), "resource"}}}
	if at.file != "" {
		location.Physical = &sarifPhysical{Artifact: sarifArtifact{fileURI(at.file)}}
		if at.line > 0 {
			location.Physical.Region = &sarifRegion{at.line}
		}
	}
	sum := sha256.Sum256([]byte(f.Key()))
	out := sarifResult{
		Rule: visible(f.Rule), Index: index, Level: level(f.Severity), Message: sarifText{visible(message)}, Locations: []sarifLocation{location},
		Fingerprints: map[string]string{"holdfastFinding/v1": hex.EncodeToString(sum[:])}, Properties: sarifProperties{Severity: visible(string(f.Severity))},
	}
	if a := f.Acknowledged; a != nil {
		out.Suppressions = []sarifSuppression{{"external", "accepted", visible(a.Reason + " (" + a.By + ", until " + a.Until + ")")}}
	}
	return out
}

// fileURI writes a path as a URI reference: a relative one stays relative, so that it is found from the repository's root.
func fileURI(path string) string {
	u := url.URL{Path: strings.TrimPrefix(filepath.ToSlash(path), "./")}
	if strings.HasPrefix(u.Path, "/") {
		u.Scheme = "file"
	}
	return u.String()
}
