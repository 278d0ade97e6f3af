package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/audit"
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
	html, sarif                        string
	failOn                             severityValue
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
	fs.Var(&a.failOn, "fail-on", "exit 1 if a finding that nobody accepted is of this `severity` or worse: "+severityNames+"; or if groups, target groups or a read about all of them could not be judged")
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
	return ""
}

// runAudit judges an account, a dump or templates: exit 1 only for what --fail-on names.
func runAudit(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("audit", flag.ContinueOnError)
	a := auditFlags(fs)
	if code, ok := parseBare(fs, args, s); !ok {
		return code
	}
	if err := refuseEmpty(fs); err != nil {
		return misused(fs, s, err.Error())
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if problem := a.problem(given); problem != "" {
		return misused(fs, s, problem)
	}
	ctx, cancel := context.WithTimeout(ctx, auditPatience)
	defer cancel()
	v, err := a.judge(ctx, s)
	if err != nil {
		return failed("audit", err, s)
	}
	return a.verdict(v, s)
}

// judge reads and judges, and writes everything that was asked for.
func (a *auditing) judge(ctx context.Context, s streams) (judged, error) {
	files, err := a.open(s)
	if err != nil {
		return judged{}, err
	}
	defer files.close()
	promises, err := a.promises()
	if err != nil {
		return judged{}, err
	}
	account, err := a.read(ctx, s)
	if err != nil {
		return judged{}, err
	}
	accepted, err := a.acknowledgements(account.At)
	if err != nil {
		return judged{}, err
	}
	if err := writeDump(files, account); err != nil {
		return judged{}, err
	}
	v := judged{audit.Judge(account, audit.Options{Promises: promises, Acknowledgements: accepted}), unjudged(account)}
	bar := newProgress(s.err)
	bar.say("simulating what a bad minute would do")
	v.report.WhatIf, err = whatif.Of(ctx, account)
	bar.clear()
	if err != nil {
		return v, err
	}
	return v, a.write(v.report, files, s)
}
