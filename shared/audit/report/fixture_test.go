package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

func ptr[T any](v T) *T { return &v }

// account has a group that would terminate itself, one that would not, and things that nobody could read.
func account() audit.Account {
	web := audit.Group{
		Name: "web", ARN: "arn:aws:autoscaling:eu-west-1:111122223333:autoScalingGroup:1:autoScalingGroupName/web", Tags: map[string]string{},
		Min: ptr(8), Max: ptr(16), Desired: ptr(8), HealthCheckTypes: []string{"EC2", "ELB"}, GraceSeconds: ptr(0), WarmupSeconds: ptr(audit.NotSet),
		MinHealthyPercent: ptr(audit.NotSet), MaxHealthyPercent: ptr(audit.NotSet), Zones: []string{"eu-west-1a"}, ZoneCount: ptr(1),
		CapacityRebalance: ptr(false), ProtectedFromScale: ptr(false), TargetGroups: []string{"arn:tg-web"}, RefreshMinHealthy: ptr(audit.NotSet), BootSeconds: ptr(200),
	}
	calm := web
	calm.Name, calm.ARN, calm.HealthCheckTypes, calm.GraceSeconds, calm.TargetGroups = "calm", "arn:calm", []string{"EC2"}, ptr(300), []string{}
	calm.ZoneCount, calm.Zones, calm.MinHealthyPercent, calm.MaxHealthyPercent = ptr(3), []string{"a", "b", "c"}, ptr(90), ptr(120)
	return audit.Account{
		Format: audit.Format, Source: "account", ID: "111122223333", Partition: "aws", Region: "eu-west-1", At: time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC),
		Groups: []audit.Group{web, calm},
		TargetGroups: []audit.TargetGroup{{
			ID: "arn:tg-web", Name: "web", TargetType: "instance", Protocol: "HTTP", CheckProtocol: "HTTP", Path: ptr("/health/deep"), Port: ptr("traffic-port"),
			Matcher: ptr("200-499"), IntervalSeconds: ptr(10), TimeoutSeconds: ptr(5), HealthyCount: ptr(2), UnhealthyCount: ptr(2), DrainSeconds: ptr(300),
			SlowStartSeconds: ptr(0), FailOpenCount: ptr(1), FailOpenPercent: ptr(50), DNSCount: ptr(1), DNSPercent: ptr(audit.NotSet), LoadBalancers: []string{"arn:lb"},
		}},
		Alarms: []audit.Alarm{}, Unread: []audit.Unread{{Kind: "status-check", What: "DescribeApplicationStatusChecks", Why: "access denied"}, {Kind: "group", Name: "web", What: "G.Properties.MinSize", Why: audit.WhyDefault + "Stage"}},
	}
}

// result is what an audit of account gives, with losses as the simulator tells them.
func result() audit.Report {
	r := audit.Judge(account(), audit.Options{Acknowledgements: []audit.Acknowledgement{
		{Rule: "HF019", Name: "web", Reason: "one zone on purpose: the licence server is there", By: "platform team", Until: "2027-03-01"},
		{Rule: "HF018", Name: "gone", Reason: "was deleted", By: "platform team", Until: "2027-03-01"},
		{Rule: "HF004", Name: "web", Reason: "starts in a second", By: "platform team", Until: "2026-11-01"},
	}})
	r.WhatIf = []audit.WhatIf{
		{Group: "calm", Seconds: 90, Members: 8}, {Group: "calm", Seconds: 1200, Members: 8, Assumed: []string{"a member is ready after 300 s"}},
		{Group: "web", Seconds: 90, Members: 8, Alone: audit.Loss{Lost: 8, CapacityMinutes: 40, EmptyMinutes: 5.5}, Held: audit.Loss{Lost: 1, CapacityMinutes: 5}},
		{Group: "web", Seconds: 1200, Members: 8, Alone: audit.Loss{Lost: 40, CapacityMinutes: 200, EmptyMinutes: 25}, Held: audit.Loss{Lost: 1, CapacityMinutes: 5.25}},
		{Group: "empty", Seconds: 90, Why: "it has no members"},
	}
	return r
}

// hostile is a report whose every text tries to be more than a text.
func hostile() audit.Report {
	evil := "</script><img src=x onerror=alert(1)>\u202egnp\x1b[31m\x00\"'`{{.}}\u200b"
	f := audit.Finding{
		Rule: evil, Severity: audit.Severity(evil), Kind: evil, Name: evil, ARN: evil, Where: evil + ":7: " + evil, Part: evil, Saw: evil, Sum: evil,
		Fix: audit.Fix{Console: evil, CLI: evil, CloudFormation: evil, CDK: evil, Terraform: evil},
	}
	known := f
	known.Rule, known.Severity = "HF001", audit.Critical
	known.Acknowledged = &audit.Acknowledgement{Rule: evil, Name: evil, Part: evil, Reason: evil, By: evil, Until: evil}
	return audit.Report{
		Source: evil, Account: evil, Region: evil, Findings: []audit.Finding{f, known},
		WhatIf:  []audit.WhatIf{{Group: evil, Where: evil, Seconds: 90, Members: 0, Alone: audit.Loss{Lost: 3}, Assumed: []string{evil}}, {Group: evil, Why: evil}},
		Expired: []audit.Acknowledgement{*known.Acknowledged}, Unused: []audit.Acknowledgement{*known.Acknowledged}, NeedsPart: []audit.Acknowledgement{*known.Acknowledged},
		Unread: []audit.Unread{{Kind: evil, Name: evil, What: evil, Why: evil}, {Kind: evil, Name: evil, What: evil, Why: audit.WhyDefault + evil}},
	}
}

// forms writes a report in every form.
func forms(t *testing.T, r audit.Report) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"report.txt":    func(b *bytes.Buffer) error { return report.Text(b, r, report.TextOptions{}) },
		"report-80.txt": func(b *bytes.Buffer) error { return report.Text(b, r, report.TextOptions{Width: 80}) },
		"report-40.txt": func(b *bytes.Buffer) error {
			return report.Text(b, r, report.TextOptions{Width: 1, Ways: []string{report.WayCDK}})
		},
		"report.json":  func(b *bytes.Buffer) error { return report.JSON(b, r) },
		"report.sarif": func(b *bytes.Buffer) error { return report.SARIF(b, r, "1.2.3") },
		"report.html":  func(b *bytes.Buffer) error { return report.HTML(b, r) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		out[name] = b.String()
	}
	return out
}

func TestReportsStayAsTheyAre(t *testing.T) {
	for name, got := range forms(t, result()) {
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is not as it was; look at it, then run with -update", name)
		}
	}
}
