package main

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	embedded "github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/awsfleet"
	"github.com/holdfast-aws/holdfast/shared/beats"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/ledger"
	"github.com/holdfast-aws/holdfast/shared/policystore"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// callsOnly makes the API calls of a quiet sweep, through the same adapters and as many at once, and decides nothing.
type callsOnly struct {
	fleet    *awsfleet.Reader
	beats    *beats.Reader
	policies *policystore.Reader
	ledger   *ledger.Ledger
}

func newCallsOnly(b *testing.B, e *estate) callsOnly {
	b.Helper()
	url, stop, err := stage.Listen(e.Region)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(stop)
	sdk := sdkFor(url)
	table := dynamodb.NewFromConfig(sdk)
	memory, err := ledger.New(table, ledger.Options{Table: embedded.StateTable, Now: e.Clock.Now})
	if err != nil {
		b.Fatal(err)
	}
	return callsOnly{
		fleet: awsfleet.New(awsfleet.API{
			AutoScaling: autoscaling.NewFromConfig(sdk), LoadBalancing: elb.NewFromConfig(sdk), EC2: ec2.NewFromConfig(sdk),
		}, awsfleet.Options{Now: e.Clock.Now}),
		beats: beats.New(table, beats.Options{Table: embedded.HeartbeatTable}), policies: policystore.New(ssm.NewFromConfig(sdk)), ledger: memory,
	}
}

func (c callsOnly) sweep(ctx context.Context) error {
	run := c.fleet.NewRun()
	groups, err := run.Guarded(ctx)
	if err != nil {
		return err
	}
	if _, err := c.ledger.LoadRegion(ctx); err != nil {
		return err
	}
	c.policies.Policies(ctx, nil)
	errs := make(chan error, len(groups))
	slots := make(chan struct{}, 8)
	var wg sync.WaitGroup
	for _, g := range groups {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs <- c.group(ctx, run, g)
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c callsOnly) group(ctx context.Context, run runner.Fleet, g guard.Group) error {
	rec, err := c.ledger.Load(ctx, g.ARN)
	if err != nil {
		return err
	}
	g, _ = run.Details(ctx, g)
	if _, err := c.beats.Beats(ctx, g); err != nil {
		return err
	}
	_, err = c.ledger.Save(ctx, g.ARN, rec)
	return err
}

// BenchmarkSweep is a whole sweep of 100 groups of 100 members over the wire, and the same API calls with no decision. The ratio of
// the two, each at its fastest, is what deciding, recording and reporting cost.
func BenchmarkSweep(b *testing.B) {
	e := newEstate(b, 100, 100, 1)
	e.sweep(b, time.Minute)
	e.minute(b)
	calls := newCallsOnly(b, e)
	before := e.Calls()
	e.sweep(b, time.Minute)
	whole := since(e.Calls(), before)
	before = e.Calls()
	if err := calls.sweep(b.Context()); err != nil {
		b.Fatal(err)
	}
	if bare := since(e.Calls(), before); !maps.Equal(whole, bare) {
		b.Fatalf("a sweep calls %v, the bare one %v", whole, bare)
	}
	// The fastest of each says most on a machine that has other work too.
	swept, called := time.Hour, time.Hour
	for b.Loop() {
		e.out.Reset()
		began := time.Now()
		e.sweep(b, time.Minute)
		middle := time.Now()
		if err := calls.sweep(b.Context()); err != nil {
			b.Fatal(err)
		}
		swept, called = min(swept, middle.Sub(began)), min(called, time.Since(middle))
	}
	b.ReportMetric(swept.Seconds()*1000, "ms/sweep")
	b.ReportMetric(swept.Seconds()/called.Seconds(), "sweep/calls")
}

func since(now, before map[string]int) map[string]int {
	out := map[string]int{}
	for name, n := range now {
		if n != before[name] {
			out[name] = n - before[name]
		}
	}
	return out
}
