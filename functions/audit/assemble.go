package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/collect"
	"github.com/holdfast-aws/holdfast/shared/audit/daily"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/report"
)

// requestTimeout bounds one request that tells or remembers; a hung one is tried again.
const requestTimeout = 5 * time.Second

// assemble makes the handler; its log and metrics are the caller's to set. What is read shares no connection and no retry quota with
// what tells and remembers.
func assemble(c config.Config, sdk aws.Config, now func() time.Time) (*handler, error) {
	api, err := collect.FromSDK(sdk, collect.Sources{StateTable: c.StateTable, HeartbeatTable: c.HeartbeatTable, Now: now})
	if err != nil {
		return nil, err
	}
	writes := sdk.Copy()
	writes.HTTPClient = awshttp.NewBuildableClient().WithTimeout(requestTimeout)
	bus := eventbridge.NewFromConfig(writes)
	ports := daily.Ports{
		Read: func(ctx context.Context) (audit.Account, error) {
			ctx, cancel := mostOf(ctx)
			defer cancel()
			return collect.Read(ctx, api, collect.Options{Region: sdk.Region, Now: now, Metrics: true})
		},
		Settings: daily.NewSettings(ssm.NewFromConfig(writes)), Memory: daily.NewMemory(dynamodb.NewFromConfig(writes), c.StateTable),
		Bus: daily.NewBus(bus, c.EventBus),
	}
	return &handler{now: now, newAudit: func(log *slog.Logger) *daily.Audit {
		with := ports
		with.Pager = report.New(bus, report.Options{Bus: c.EventBus, Log: log})
		return daily.New(with)
	}}, nil
}

// mostOf leaves a third of the time until the context's deadline for what comes after the reads: a large and throttled account shall be
// told of in part rather than not at all. A context without a deadline stays as it is.
func mostOf(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/3))
	}
	return ctx, func() {}
}
