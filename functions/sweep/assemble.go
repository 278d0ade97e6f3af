package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/shared/alarms"
	"github.com/holdfast-aws/holdfast/shared/awsact"
	"github.com/holdfast-aws/holdfast/shared/awsfleet"
	"github.com/holdfast-aws/holdfast/shared/beats"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/ledger"
	"github.com/holdfast-aws/holdfast/shared/policystore"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

const (
	// deadlineMargin of the function's time is kept for the last writes, notices and metrics.
	deadlineMargin = 8 * time.Second
	// No single HTTP request may eat the time of a run: a hung one is given up and, where that is safe, tried again.
	readTimeout  = 10 * time.Second
	writeTimeout = 4 * time.Second
	// writeAttemptsMax is how often a ledger write or a notice is tried; the ledger knows its own write again.
	writeAttemptsMax = 4
)

// clients are all that outlives an invocation. Those that act and write share no connection and no retry quota with the reads:
// throttled reads must not keep a hold from going out.
type clients struct {
	fleet    *awsfleet.Reader
	beats    *beats.Reader
	alarms   *alarms.Reader
	queues   *alarms.QueueReader
	policies *policystore.Reader
	actor    *awsact.Actor
	table    *dynamodb.Client
	bus      *eventbridge.Client
}

func newClients(c config.Config, sdk aws.Config, now func() time.Time) clients {
	reads, writes := sdk.Copy(), sdk.Copy()
	reads.HTTPClient = awshttp.NewBuildableClient().WithTimeout(readTimeout)
	writes.HTTPClient = awshttp.NewBuildableClient().WithTimeout(writeTimeout)
	writes.RetryMode = aws.RetryModeStandard
	writes.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff = writeAttemptsMax, awsact.BackoffMax
		})
	}
	watch := cloudwatch.NewFromConfig(reads)
	return clients{
		fleet: awsfleet.New(awsfleet.API{
			AutoScaling: autoscaling.NewFromConfig(reads), LoadBalancing: elasticloadbalancingv2.NewFromConfig(reads), EC2: ec2.NewFromConfig(reads),
		}, awsfleet.Options{Now: now}),
		beats:    beats.New(dynamodb.NewFromConfig(reads), beats.Options{Table: c.HeartbeatTable}),
		alarms:   alarms.New(watch),
		queues:   alarms.NewQueues(alarms.QueueAPI{SQS: sqs.NewFromConfig(reads), Metrics: watch}, alarms.QueueOptions{Now: now}),
		policies: policystore.New(ssm.NewFromConfig(reads)),
		actor:    awsact.New(autoscaling.NewFromConfig(writes), awsact.Options{}),
		table:    dynamodb.NewFromConfig(writes),
		bus:      eventbridge.NewFromConfig(writes),
	}
}

// assemble makes the handler; each invocation gets a runner, a fleet reader and a reporter of its own.
func assemble(c config.Config, sdk aws.Config, now func() time.Time) *handler {
	cl := newClients(c, sdk, now)
	return &handler{
		metrics: telemetry.NewEmitter(os.Stdout, now), now: now, shard: c.Shard, shards: c.Shards,
		newRun: func(log *slog.Logger) (*runner.Runner, *report.Reporter, error) {
			memory, err := ledger.New(cl.table, ledger.Options{Table: c.StateTable, Now: now})
			if err != nil {
				return nil, nil, err
			}
			reporter := report.New(cl.bus, report.Options{Bus: c.EventBus, Log: log})
			run, err := runner.New(runner.Ports{
				Fleet: cl.fleet.NewRun(), Beats: cl.beats, Alarms: cl.alarms, Queues: cl.queues, Policies: cl.policies,
				Ledger: memory, Actor: cl.actor, Reporter: reporter,
			}, runner.Options{Now: now, SweepInterval: c.SweepInterval, Concurrency: c.Concurrency, Margin: deadlineMargin})
			return run, reporter, err
		},
	}
}
