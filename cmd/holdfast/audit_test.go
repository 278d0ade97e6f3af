package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/collect"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// risky is a template whose group believes a load balancer that asks a deep path; asking is what it asks for.
func risky(t *testing.T, name, path string) string {
	t.Helper()
	return file(t, name, `Resources:
  Targets:
    Type: AWS::ElasticLoadBalancingV2::TargetGroup
    Properties: {Port: 80, Protocol: HTTP, TargetType: instance, HealthCheckPath: `+path+`, HealthCheckIntervalSeconds: 10, UnhealthyThresholdCount: 2}
  Group:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties: {MinSize: "2", MaxSize: "8", HealthCheckType: ELB, HealthCheckGracePeriod: 0, TargetGroupARNs: [!Ref Targets]}
`)
}

func reportOf(t *testing.T, out string) audit.Report {
	t.Helper()
	var r audit.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

func TestATemplateIsJudgedWithoutCredentials(t *testing.T) {
	newRegion(t) // its variables are gone below, so that nothing could be read
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		t.Setenv(name, "")
	}
	template := risky(t, "web.yaml", "/health/db")
	code, out, errOut := holdfast(t, "audit", "--template", template)
	if code != exitOK || errOut != "" || !strings.Contains(out, "HF001") || !strings.Contains(out, "WHAT IF") || !strings.Contains(out, "CRITICAL") {
		t.Errorf("exit %d, %s\n%s", code, errOut, out)
	}
	code, out, errOut = holdfast(t, "audit", "--template", template, "--fail-on", "critical", "--json")
	r := reportOf(t, out)
	if code != exitNo || len(r.Findings) == 0 || len(r.WhatIf) != 3 || r.At.IsZero() || !strings.Contains(errOut, "critical or worse") {
		t.Errorf("exit %d, %s\n%s", code, errOut, out)
	}
}

func TestSeveralTemplatesAreOneAudit(t *testing.T) {
	a, b := risky(t, "a.yaml", "/health/db"), risky(t, "b.yaml", "/health/db")
	code, out, errOut := holdfast(t, "audit", "--template", a, "--template", b, "--json")
	r := reportOf(t, out)
	if code != exitOK || errOut != "" || r.Groups != 2 || r.TargetGroups != 2 || r.Source != "2 templates" || len(r.WhatIf) != 6 {
		t.Fatalf("exit %d, %s\n%s", code, errOut, out)
	}
	_, alone, _ := holdfast(t, "audit", "--template", a, "--json")
	var ofA []audit.Finding
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Where, a) {
			ofA = append(ofA, f)
		}
	}
	if want := reportOf(t, alone).Findings; len(ofA) != len(want) || len(r.Findings) != 2*len(want) {
		t.Errorf("%d findings of the first of %d, alone %d", len(ofA), len(r.Findings), len(want))
	}
}

func TestGroupsOfTwoTemplatesThatShareATargetGroupAreFound(t *testing.T) {
	group := func(name, kind, target string) string {
		return "Resources:\n  " + name + ":\n    Type: AWS::AutoScaling::AutoScalingGroup\n    Properties: {MinSize: '2', MaxSize: '4', HealthCheckType: " + kind + ", " + target + "}\n" +
			"  Own: {Type: AWS::ElasticLoadBalancingV2::TargetGroup, Properties: {Protocol: HTTP, HealthCheckPath: /x}}\n"
	}
	const arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/x/0123456789abcdef"
	for _, c := range []struct {
		name, kind, target string
		found              int
	}{
		{"the same ARN", "ELB", "TargetGroupARNs: ['" + arn + "']", 2},
		{"the same lattice id", "VPC_LATTICE", "TrafficSources: [{Identifier: tg-0123456789abcdef0, Type: vpc-lattice}]", 2},
		{"each file's own", "ELB", "TargetGroupARNs: [!Ref Own]", 0},
	} {
		one, two := file(t, "one.yaml", group("A1", c.kind, c.target)), file(t, "two.yaml", group("A2", c.kind, c.target))
		_, out, errOut := holdfast(t, "audit", "--template", one, "--template", two, "--json")
		shared := 0
		for _, f := range reportOf(t, out).Findings {
			if f.Rule == "HF002" {
				shared++
			}
		}
		if shared != c.found || errOut != "" {
			t.Errorf("%s: HF002 %d times, want %d; %s", c.name, shared, c.found, errOut)
		}
	}
}

func TestAnAcknowledgedFindingFailsNothing(t *testing.T) {
	template := risky(t, "web.yaml", "/health/db")
	_, out, _ := holdfast(t, "audit", "--template", template, "--json")
	r := reportOf(t, out)
	var accepted []string
	seen := map[string]bool{}
	for _, f := range r.Findings {
		if !seen[f.Rule] {
			accepted = append(accepted, `{"rule":"`+f.Rule+`","name":"*","reason":"known","by":"the web team","until":"`+r.At.AddDate(0, 6, 0).Format("2006-01-02")+`"}`)
			seen[f.Rule] = true
		}
	}
	list := file(t, "accepted.json", `{"acknowledgements":[`+strings.Join(accepted, ",")+`]}`)
	code, out, errOut := holdfast(t, "audit", "--template", template, "--acknowledged", list, "--fail-on", "low")
	if code != exitOK || errOut != "" || !strings.Contains(out, "the web team") {
		t.Errorf("exit %d, %s\n%s", code, errOut, out)
	}
	one := file(t, "one.json", `{"acknowledgements":[`+accepted[0]+`]}`)
	if code, _, errOut := holdfast(t, "audit", "--template", template, "--acknowledged", one, "--fail-on", "low"); code != exitNo {
		t.Errorf("with one accepted: exit %d, %s", code, errOut)
	}
}

func TestAnAccountIsReadDumpedAndJudgedAgainFromTheDump(t *testing.T) {
	r := newRegion(t)
	t.Setenv("HOLDFAST_HEARTBEAT_TABLE", world.HeartbeatTable)
	r.Do(func(c *sim.Cloud) {
		if err := c.SetGroupChecks(groupName, []string{"EC2", "ELB"}, 0); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	dump, page, sarif := filepath.Join(dir, "dump.json"), filepath.Join(dir, "audit.html"), filepath.Join(dir, "audit.sarif")
	code, out, errOut := holdfast(t, "audit", "--region", "us-east-1", "--metrics", "--dump", dump, "--html", page, "--sarif", sarif, "--json")
	live := reportOf(t, out)
	if code != exitOK || errOut != "" || live.Groups != 1 || live.TargetGroups != 1 || len(live.Findings) == 0 || live.Source != "account" || len(live.WhatIf) != 3 {
		t.Fatalf("exit %d, %s\n%s", code, errOut, out)
	}
	for path, begins := range map[string]string{page: "<!doctype html>", sarif: "{\n  \"$schema\"", dump: "{\n  \"format\": 1"} {
		text, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(bytes.ToLower(text), []byte(begins)) {
			t.Errorf("%s begins %.60q, %v", path, text, err)
		}
	}
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	_, again, errOut := holdfast(t, "audit", "--from", dump, "--json")
	if again != out || errOut != "" {
		t.Errorf("from the dump: %s\n%s\nlive\n%s", errOut, again, out)
	}
}

func TestOneGroupOfAnAccount(t *testing.T) {
	newRegion(t)
	code, out, errOut := holdfast(t, "audit", "--group", groupName, "--group", "gone")
	if code != exitOK || errOut != "" || !strings.Contains(out, "gone, DescribeAutoScalingGroups: no group of that name was returned") {
		t.Errorf("exit %d, %s\n%s", code, errOut, out)
	}
	code, out, errOut = holdfast(t, "audit", "--group", "gone")
	if want := "holdfast audit: read account: no such group in this account and Region: gone\n"; code != exitUsage || out != "" || errOut != want {
		t.Errorf("exit %d, %q\n%s", code, errOut, out)
	}
}

func TestAnAuditThatCanReadNothingSaysWhy(t *testing.T) {
	r := newRegion(t)
	if err := r.SetFaults(world.Fault{Operation: "*", FailFirst: -1, Error: wire.Error{Code: "ExpiredToken", Message: "The security token is expired", Status: 403}}); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := holdfast(t, "audit")
	if code != exitUsage || !strings.Contains(errOut, "nothing could be read") || !strings.Contains(errOut, "The security token is expired") {
		t.Errorf("exit %d, %s", code, errOut)
	}
	t.Setenv("AWS_REGION", "")
	code, _, errOut = holdfast(t, "audit")
	if want := "holdfast audit: no AWS Region: give --region, or set AWS_REGION or a profile with one\n"; code != exitUsage || errOut != want {
		t.Errorf("exit %d, %s", code, errOut)
	}
}

func TestAnAuditRefusesWhatMakesNoSense(t *testing.T) {
	dump := file(t, "dump.json", `{"format":1,"source":"account","at":"2026-11-30T12:00:00Z","groups":[],"target_groups":[],"alarms":[],"guardian":{"installed":false}}`)
	template := risky(t, "web.yaml", "/health")
	broken := file(t, "broken.json", `{"format":1,"grops":[]}`)
	lists := file(t, "lists.json", `{"acknowledgements":[{"rule":"HF999","name":"*","reason":"x","by":"y","until":"2026-12-24"}]}`)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a dump and a template":               {[]string{"--from", dump, "--template", template}, "--template beside --from, want one of the two"},
		"a Region for a dump":                 {[]string{"--from", dump, "--region", "us-east-1"}, "--region beside --from, which reads no account"},
		"a group for a template":              {[]string{"--template", template, "--group", "web"}, "--group beside --template, which reads no account"},
		"an unknown severity":                 {[]string{"--from", dump, "--fail-on", "worst"}, `--fail-on: "worst", want critical, high, medium or low`},
		"an empty group":                      {[]string{"--group", ""}, `--group: "", want a text`},
		"a group without a name":              {[]string{"--group"}, "--group has no value, want a text"},
		"one file for two outputs":            {[]string{"--from", dump, "--html", "x", "--sarif", "x"}, `--html and --sarif name the same file "x"`},
		"an argument":                         {[]string{"web"}, `unexpected argument "web"`},
		"a dump that is not there":            {[]string{"--from", dump + ".gone"}, "read dump: open"},
		"a dump with an unknown key":          {[]string{"--from", broken}, `broken.json: decode dump: json: unknown field "grops"`},
		"a template that is none":             {[]string{"--template", dump}, "this is a saved audit, not a template: give it with --from"},
		"a page in a folder that is not":      {[]string{"--from", dump, "--html", filepath.Join(dump, "x.html")}, "write file: open"},
		"thresholds that are none":            {[]string{"--from", dump, "--thresholds", template}, "web.yaml: decode thresholds: "},
		"thresholds that are not there":       {[]string{"--from", dump, "--thresholds", dump + ".gone"}, "read thresholds: open"},
		"an acknowledgement of no rule":       {[]string{"--from", dump, "--acknowledged", lists}, `lists.json: acknowledgement 1, rule HF999, name "*": rule "HF999" is not known`},
		"acknowledgements that are not there": {[]string{"--from", dump, "--acknowledged", dump + ".gone"}, "read acknowledgements: open"},
	} {
		code, out, errOut := holdfast(t, append([]string{"audit"}, c.args...)...)
		if code != exitUsage || out != "" || !strings.HasPrefix(errOut, "holdfast audit: ") || !strings.Contains(errOut, c.want) {
			t.Errorf("%s: exit %d, %q, want %q", name, code, errOut, c.want)
		}
	}
}

func TestAnAuditThatDidNotSeeTheGroupsDoesNotPass(t *testing.T) {
	unread := func(entries string) string {
		return file(t, "dump.json", strings.TrimSuffix(emptyDump, "}")+`,"unread":[`+entries+`]}`)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"groups that were refused": {
			[]string{"--from", unread(`{"kind":"group","what":"DescribeAutoScalingGroups","why":"AccessDenied: no"}`), "--fail-on", "critical"},
			exitNo, "holdfast audit: not judged: group, DescribeAutoScalingGroups: AccessDenied: no\n",
		},
		"target groups whose settings were refused, in an odd text": {
			[]string{"--from", unread(`{"kind":"target-group","what":"DescribeTargetGroupAttributes","why":"no\n\u001b[2J"}`), "--fail-on", "low"},
			exitNo, "holdfast audit: not judged: target-group, DescribeTargetGroupAttributes: no  [2J\n",
		},
		"a group by name": {
			[]string{"--from", unread(`{"kind":"group","name":"web","what":"DescribeAutoScalingGroups","why":"Throttling"}`), "--fail-on", "low"},
			exitNo, "holdfast audit: not judged: group web, DescribeAutoScalingGroups: Throttling\n",
		},
		"a setting of one group":           {[]string{"--from", unread(`{"kind":"group","name":"web","what":"DescribeInstanceRefreshes","why":"x"}`), "--fail-on", "low"}, exitOK, ""},
		"heartbeats, which judge no group": {[]string{"--from", unread(`{"kind":"guardian","what":"heartbeats","why":"x"}`), "--fail-on", "low"}, exitOK, ""},
		"groups, but nothing may fail":     {[]string{"--from", unread(`{"kind":"group","what":"DescribeAutoScalingGroups","why":"x"}`)}, exitOK, ""},
		"resources made at deployment": {
			[]string{"--template", file(t, "loop.yaml", "Transform: AWS::LanguageExtensions\nResources:\n  Fn::ForEach::Groups: [Name, [a, b], {'G${Name}': {Type: AWS::AutoScaling::AutoScalingGroup}}]\n"), "--fail-on", "critical"},
			exitNo, "holdfast audit: not judged: account, Fn::ForEach::Groups: it makes resources at deployment\n",
		},
	} {
		if code, _, errOut := holdfast(t, append([]string{"audit"}, c.args...)...); code != c.code || errOut != c.want {
			t.Errorf("%s: exit %d, %q, want %q", name, code, errOut, c.want)
		}
	}
	r := newRegion(t)
	if err := r.SetFaults(world.Fault{Operation: "autoscaling:DescribeAutoScalingGroups", FailFirst: -1, Error: wire.Error{Code: "AccessDenied", Message: "no", Status: 403}}); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := holdfast(t, "audit", "--fail-on", "critical")
	if want := "holdfast audit: not judged: group, DescribeAutoScalingGroups: AccessDenied: no\n"; code != exitNo || errOut != want {
		t.Errorf("an account: exit %d, %q", code, errOut)
	}
	if _, out, _ := holdfast(t, "audit", "--help"); !strings.Contains(out, "or if groups, target groups") {
		t.Errorf("the help does not say so:\n%s", out)
	}
}

func TestASettingThatNobodyHasIsNoReasonToFail(t *testing.T) {
	newRegion(t)
	for _, args := range [][]string{{"--fail-on", "critical"}, {"--fail-on", "critical", "--metrics"}} {
		code, out, errOut := holdfast(t, append([]string{"audit"}, args...)...)
		if code != exitOK || errOut != "" {
			t.Errorf("%v: exit %d, %s\n%s", args, code, errOut, out)
		}
	}
	two := `{"id":"a","name":"a","target_type":"instance","protocol":"HTTP"},{"id":"b","name":"b","target_type":"instance","protocol":"HTTP"}`
	dump := file(t, "two.json", strings.Replace(emptyDump, `"target_groups":[]`, `"target_groups":[`+two+`]`, 1))
	if code, out, errOut := holdfast(t, "audit", "--from", dump, "--fail-on", "critical"); code != exitOK || errOut != "" || !strings.Contains(out, "unknown") {
		t.Errorf("exit %d, %s\n%s", code, errOut, out)
	}
}

func TestTheBarIsDrawnWhereItChangesAndTakenAway(t *testing.T) {
	var b bytes.Buffer
	if p := newProgress(&b); p.w != nil {
		t.Error("a buffer is no terminal")
	}
	p := &progress{w: &b}
	p.show(collect.Progress{Stage: "details", Done: 1, Total: 2})
	p.show(collect.Progress{Stage: "details", Done: 1, Total: 2})
	p.show(collect.Progress{Stage: "details", Done: 2, Total: 2})
	p.show(collect.Progress{Stage: "alarms"})
	p.say("simulating")
	p.clear()
	want := "\r[############            ]  50 % details\x1b[K\r[########################] 100 % details\x1b[K\rsimulating\x1b[K\r\x1b[K"
	if b.String() != want {
		t.Errorf("have %q", b.String())
	}
	b.Reset()
	(&progress{}).clear()
	(&progress{}).say("simulating")
	(&progress{w: &b}).clear()
	if b.Len() != 0 {
		t.Errorf("a line that was not drawn is cleared: %q", b.String())
	}
}
