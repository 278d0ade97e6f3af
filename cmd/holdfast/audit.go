package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/report"
	"github.com/holdfast-aws/holdfast/shared/audit/whatif"
	"github.com/holdfast-aws/holdfast/shared/config"
)

// auditPatience is how long an audit may take: a large account is thousands of reads.
const auditPatience = 15 * time.Minute

// auditing are the flags of an audit.
type auditing struct {
	region, stateTable, heartbeatTable string
	groups, templates                  listValue
	from, dump                         string
	thresholds, acknowledged           string
	metrics, json                      bool
	html, sarif, failOn                string
}

// listValue is a flag that may be given several times.
type listValue []string

func (v *listValue) String() string { return strings.Join(*v, ", ") }

// Set implements flag.Value.
func (v *listValue) Set(text string) error {
	if text == "" {
		return errors.New("want a text")
	}
	*v = append(*v, text)
	return nil
}

// Get implements flag.Getter.
func (v *listValue) Get() any { return []string(*v) }

func auditFlags(fs *flag.FlagSet) *auditing {
	a := &auditing{}
	fs.StringVar(&a.region, "region", "", "AWS `Region` to read; preset by the AWS configuration")
	fs.Var(&a.groups, "group", "read only the `group` of this name and its target groups; may be given several times")
	fs.StringVar(&a.stateTable, "state-table", os.Getenv(config.EnvStateTable), "`name` or ARN of the state table, which tells Holdfast's holds from other suspensions; preset by "+config.EnvStateTable)
	fs.StringVar(&a.heartbeatTable, "heartbeat-table", os.Getenv(config.EnvHeartbeatTable), "`name` or ARN of the heartbeat table; preset by "+config.EnvHeartbeatTable)
	fs.BoolVar(&a.metrics, "metrics", false, "read also the longest request of each target group, a paid metric each")
	fs.StringVar(&a.from, "from", "", "judge the dump in this `file` instead of an account")
	fs.Var(&a.templates, "template", "judge this `file` instead of an account: a CloudFormation or CDK template, or a Terraform plan as JSON; may be given several times")
	fs.StringVar(&a.dump, "dump", "", "write what was read to this `file`, for --from")
	fs.StringVar(&a.thresholds, "thresholds", "", "`file` with what services promise, as infra/thresholds.json")
	fs.StringVar(&a.acknowledged, "acknowledged", "", "`file` with the findings that people accept for a time")
	fs.BoolVar(&a.json, "json", false, "write one JSON object instead of the text")
	fs.StringVar(&a.html, "html", "", "write a page to this `file` too")
	fs.StringVar(&a.sarif, "sarif", "", "write SARIF for code scanning to this `file` too")
	fs.StringVar(&a.failOn, "fail-on", "", "exit 1 if a finding that nobody accepted is of this `severity` or worse: critical, high, medium or low")
	return a
}

// auditExamples are the ways to run an audit.
func auditExamples() string {
	return "Reads an account with the credentials of the environment, or judges files without any:\n  " + strings.Join([]string{
		"holdfast audit --html audit.html",
		"holdfast audit --dump account.json",
		"holdfast audit --from account.json --acknowledged accepted.json --fail-on high",
		"holdfast audit --template cdk.out/Web.template.json --sarif audit.sarif --fail-on critical",
		"terraform show -json plan.out > plan.json; holdfast audit --template plan.json",
	}, "\n  ")
}

// severities are those that --fail-on takes, worst first.
func severities() []audit.Severity {
	return []audit.Severity{audit.Critical, audit.High, audit.Medium, audit.Low}
}

// problem says which flags make no sense together, "" if none.
func (a *auditing) problem(given map[string]bool) string {
	if a.from != "" && len(a.templates) > 0 {
		return "--template beside --from, want one of the two"
	}
	source := ""
	switch {
	case a.from != "":
		source = "--from"
	case len(a.templates) > 0:
		source = "--template"
	}
	if source != "" {
		for _, name := range []string{"region", "group", "state-table", "heartbeat-table", "metrics"} {
			if given[name] {
				return fmt.Sprintf("--%s beside %s, which reads no account", name, source)
			}
		}
	}
	if a.failOn != "" && !slices.Contains(severities(), audit.Severity(a.failOn)) {
		return fmt.Sprintf("--fail-on: %q, want critical, high, medium or low", a.failOn)
	}
	outputs := map[string]string{}
	for _, o := range [][2]string{{"--html", a.html}, {"--sarif", a.sarif}, {"--dump", a.dump}} {
		if other := outputs[o[1]]; o[1] != "" && other != "" {
			return fmt.Sprintf("%s and %s name the same file %q", other, o[0], o[1])
		}
		outputs[o[1]] = o[0]
	}
	return ""
}

// runAudit judges an account, a dump or templates: exit 1 only for a finding that --fail-on names.
func runAudit(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("audit", flag.ContinueOnError)
	a := auditFlags(fs)
	if code, ok := parseBare(fs, args, s); !ok {
		return code
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if problem := a.problem(given); problem != "" {
		return misused(fs, s, problem)
	}
	ctx, cancel := context.WithTimeout(ctx, auditPatience)
	defer cancel()
	r, err := a.judge(ctx, s)
	if err != nil {
		return failed("audit", err, s)
	}
	return a.verdict(r, s)
}

// judge reads and judges, and writes everything that was asked for.
func (a *auditing) judge(ctx context.Context, s streams) (audit.Report, error) {
	files, err := a.open()
	if err != nil {
		return audit.Report{}, err
	}
	defer files.close()
	promises, err := a.promises()
	if err != nil {
		return audit.Report{}, err
	}
	account, err := a.read(ctx, s)
	if err != nil {
		return audit.Report{}, err
	}
	accepted, err := a.acknowledgements(account.At)
	if err != nil {
		return audit.Report{}, err
	}
	if err := files.dump.writeJSON(account); err != nil {
		return audit.Report{}, err
	}
	r := audit.Judge(account, audit.Options{Promises: promises, Acknowledgements: accepted})
	bar := newProgress(s.err)
	bar.say("simulating what a bad minute would do")
	r.WhatIf, err = whatif.Of(ctx, account)
	bar.clear()
	if err != nil {
		return r, err
	}
	return r, a.write(r, files, s)
}

// verdict is the exit code.
func (a *auditing) verdict(r audit.Report, s streams) int {
	if a.failOn == "" {
		return exitOK
	}
	worst := severities()[:slices.Index(severities(), audit.Severity(a.failOn))+1]
	count := 0
	for _, f := range r.Findings {
		if f.Acknowledged == nil && slices.Contains(worst, f.Severity) {
			count++
		}
	}
	if count == 0 {
		return exitOK
	}
	are := "findings are"
	if count == 1 {
		are = "finding is"
	}
	complain(s, "holdfast audit: %d %s %s or worse\n", count, are, a.failOn)
	return exitNo
}

// write tells people, or programs, and the files.
func (a *auditing) write(r audit.Report, files auditFiles, s streams) error {
	var err error
	if a.json {
		err = report.JSON(s.out, r)
	} else {
		err = report.Text(s.out, r, report.TextOptions{Width: width(s.out)})
	}
	return errors.Join(err, files.html.writePage(r), files.sarif.writeSARIF(r))
}
