package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/collect"
	"github.com/holdfast-aws/holdfast/shared/audit/template"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// read reads the account, the dump or the templates that the flags name.
func (a *auditing) read(ctx context.Context, s streams) (audit.Account, error) {
	switch {
	case a.from != "":
		text, err := os.ReadFile(a.from)
		if err != nil {
			return audit.Account{}, fmt.Errorf("read dump: %w", err)
		}
		account, err := audit.DecodeAccount(text)
		if err != nil {
			return audit.Account{}, fmt.Errorf("%s: %w", a.from, err)
		}
		return account, nil
	case len(a.templates) > 0:
		return readTemplates(a.templates)
	}
	return a.readAccount(ctx, s)
}

// readAccount reads the account with the credentials of the environment, as the AWS command line does.
func (a *auditing) readAccount(ctx context.Context, s streams) (audit.Account, error) {
	options := []func(*awsconfig.LoadOptions) error{awsconfig.WithLogger(logging.Nop{})}
	if a.region != "" {
		options = append(options, awsconfig.WithRegion(a.region))
	}
	sdk, err := awsconfig.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return audit.Account{}, fmt.Errorf("load the AWS configuration: %w", err)
	}
	if sdk.Region == "" {
		return audit.Account{}, errors.New("no AWS Region: give --region, or set AWS_REGION or a profile with one")
	}
	if _, err := sdk.Credentials.Retrieve(ctx); err != nil {
		return audit.Account{}, noCredentials(err)
	}
	api, err := collect.FromSDK(sdk, collect.Sources{StateTable: a.stateTable, HeartbeatTable: a.heartbeatTable, Now: time.Now})
	if err != nil {
		return audit.Account{}, err
	}
	bar := newProgress(s.err)
	defer bar.clear()
	return collect.Read(ctx, api, collect.Options{Region: sdk.Region, Groups: a.groups, Metrics: a.metrics, Progress: bar.show})
}

// readTemplates reads one template, or several as one account.
func readTemplates(paths []string) (audit.Account, error) {
	var all []audit.Account
	var errs []error
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("read template: %w", err))
			continue
		}
		one, err := template.Read(path, text)
		errs = append(errs, err)
		all = append(all, one)
	}
	if err := errors.Join(errs...); err != nil {
		return audit.Account{}, err
	}
	together := all[0]
	if len(all) > 1 {
		together = joinTemplates(all)
	}
	together.At = time.Now().UTC()
	return together, nil
}

// joinTemplates makes one account of several templates. Each template has its own logical ids, so that the file's name is put before
// them; names stay as they are, and so do ids of AWS, which mean the same resource in every file.
func joinTemplates(all []audit.Account) audit.Account {
	out := audit.Account{
		Format: audit.Format, Source: guard.Counted(len(all), "template"), Static: true,
		Groups: []audit.Group{}, TargetGroups: []audit.TargetGroup{}, Alarms: []audit.Alarm{},
	}
	for _, one := range all {
		within := func(ids []string) {
			for i, id := range ids {
				if !ofAWS(id) {
					ids[i] = one.Source + ": " + id
				}
			}
		}
		for _, g := range one.Groups {
			within(g.TargetGroups)
			within(g.LatticeGroups)
			out.Groups = append(out.Groups, g)
		}
		for _, t := range one.TargetGroups {
			if t.Name == "" {
				t.Name = t.ID
			}
			t.ID = one.Source + ": " + t.ID
			within(t.LoadBalancers)
			out.TargetGroups = append(out.TargetGroups, t)
		}
		out.Alarms = append(out.Alarms, one.Alarms...)
		out.StatusChecks = append(out.StatusChecks, one.StatusChecks...)
		out.Guardian.Installed = out.Guardian.Installed || one.Guardian.Installed
		out.Guardian.Topics = append(out.Guardian.Topics, one.Guardian.Topics...)
		for _, u := range one.Unread {
			u.What = one.Source + ": " + u.What
			out.Unread = append(out.Unread, u)
		}
	}
	return out
}

// ofAWS says that an id is an ARN, or the id of a VPC Lattice target group. No logical id of CloudFormation and no address of Terraform
// begins like one. Source: VPC Lattice API reference, target group identifier.
func ofAWS(id string) bool { return strings.HasPrefix(id, "arn:") || strings.HasPrefix(id, "tg-") }

// promises reads what services promise; no file is none.
func (a *auditing) promises() (map[string]audit.Promise, error) {
	if a.thresholds == "" {
		return nil, nil
	}
	text, err := os.ReadFile(a.thresholds)
	if err != nil {
		return nil, fmt.Errorf("read thresholds: %w", err)
	}
	promises, err := audit.DecodePromises(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.thresholds, err)
	}
	return promises, nil
}

// acknowledgements reads the accepted findings; no file is none.
func (a *auditing) acknowledgements(at time.Time) ([]audit.Acknowledgement, error) {
	if a.acknowledged == "" {
		return nil, nil
	}
	text, err := os.ReadFile(a.acknowledged)
	if err != nil {
		return nil, fmt.Errorf("read acknowledgements: %w", err)
	}
	accepted, err := audit.DecodeAcknowledgements(text, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.acknowledged, err)
	}
	return accepted, nil
}
