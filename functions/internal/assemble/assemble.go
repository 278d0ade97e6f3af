package assemble

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
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
	"github.com/holdfast-aws/holdfast/shared/clock"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/ledger"
	"github.com/holdfast-aws/holdfast/shared/policystore"
	"github.com/holdfast-aws/holdfast/shared/report"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

const (
	// deadlineMargin of the function's time is kept for the last writes, notices and metrics.
	deadlineMargin = 8 * time.Second
	// No single HTTP request may eat the time of a run: a hung one is given up and, where that is safe, tried again.
	readTimeout  = 10 * time.Second
	writeTimeout = 4 * time.Second
	// readAttemptsMax is how often a read is tried, readBackoffMax the longest wait between two tries.
	readAttemptsMax = 6
	readBackoffMax  = 2 * time.Second
	// writeAttemptsMax is how often a ledger write or a notice is tried; the ledger knows its own write again.
	writeAttemptsMax = 4
)

// Parts are all that outlives an invocation; they are safe for concurrent use. Those that act and write share no connection and
// no retry quota with the reads: throttled reads must not keep a hold from going out.
type Parts struct {
	// Config is what the environment said.
	Config config.Config
	// Now is the function's only clock.
	Now func() time.Time

	fleet    *awsfleet.Reader
	beats    *beats.Reader
	alarms   *alarms.Reader
	queues   *alarms.QueueReader
	policies *policystore.Reader
	actor    *awsact.Actor
	table    *dynamodb.Client
	bus      *eventbridge.Client
}

// FromEnv makes the parts from the process's environment, with the clock that package clock gives. It makes no call; the error
// names every variable that is missing or wrong.
func FromEnv(ctx context.Context) (*Parts, error) {
	c, err := config.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	now, err := clock.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	sdk, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithRetryer(func() aws.Retryer { return ReadRetryer(readBackoffMax) }))
	if err != nil {
		return nil, fmt.Errorf("load the SDK's configuration: %w", err)
	}
	return New(c, sdk, now), nil
}

// ReadRetryer is how reads are tried again: a few times each, with jitter, under the client's retry quota.
//
// It is not the SDK's adaptive mode: that one slows all calls of a client for the sake of the throttled ones. With three reads of ten
// throttled it left most of 40 groups unread within 12 seconds, where this rule reads all of them.
func ReadRetryer(backoffMax time.Duration) aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = readAttemptsMax, backoffMax })
}

// New makes the parts of a configuration. Of the SDK's configuration the readers take everything, the writers all but the retry rules.
// The SDK's own HTTP client is replaced by two with a timeout; a caller's own is left as it is.
func New(c config.Config, sdk aws.Config, now func() time.Time) *Parts {
	reads, writes := sdk.Copy(), sdk.Copy()
	if _, own := sdk.HTTPClient.(*awshttp.BuildableClient); own || sdk.HTTPClient == nil {
		reads.HTTPClient = awshttp.NewBuildableClient().WithTimeout(readTimeout)
		writes.HTTPClient = awshttp.NewBuildableClient().WithTimeout(writeTimeout)
	}
	writes.RetryMode = aws.RetryModeStandard
	writes.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff = writeAttemptsMax, awsact.BackoffMax
		})
	}
	watch := cloudwatch.NewFromConfig(reads)
	return &Parts{
		Config: c, Now: now,
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

// NewRun makes what one invocation uses: a runner and the reporter that it reports to, with a fleet reader whose answers are kept
// no longer than the run.
func (p *Parts) NewRun(log *slog.Logger) (*runner.Runner, *report.Reporter, error) {
	memory, err := ledger.New(p.table, ledger.Options{Table: p.Config.StateTable, Now: p.Now})
	if err != nil {
		return nil, nil, fmt.Errorf("make ledger: %w", err)
	}
	reporter := report.New(p.bus, report.Options{Bus: p.Config.EventBus, Log: log})
	run, err := runner.New(runner.Ports{
		Fleet: p.fleet.NewRun(), Beats: p.beats, Alarms: p.alarms, Queues: p.queues, Policies: p.policies,
		Ledger: memory, Actor: p.actor, Reporter: reporter,
	}, runner.Options{Now: p.Now, SweepInterval: p.Config.SweepInterval, Concurrency: p.Config.Concurrency, Margin: deadlineMargin})
	return run, reporter, err
}
