package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

func TestNewRefusesWhatIsMissing(t *testing.T) {
	now := func() time.Time { return runnertest.Start() }
	good := runner.Options{Now: now, SweepInterval: time.Minute, Concurrency: 1}
	tests := map[string]struct {
		change func(*runner.Ports, *runner.Options)
		want   string
	}{
		"all is there":                {func(*runner.Ports, *runner.Options) {}, ""},
		"queues are optional":         {func(p *runner.Ports, _ *runner.Options) { p.Queues = nil }, ""},
		"no fleet":                    {func(p *runner.Ports, _ *runner.Options) { p.Fleet = nil }, "port fleet is missing"},
		"no beats":                    {func(p *runner.Ports, _ *runner.Options) { p.Beats = nil }, "port beats is missing"},
		"no alarms":                   {func(p *runner.Ports, _ *runner.Options) { p.Alarms = nil }, "port alarms is missing"},
		"no policies":                 {func(p *runner.Ports, _ *runner.Options) { p.Policies = nil }, "port policies is missing"},
		"no ledger":                   {func(p *runner.Ports, _ *runner.Options) { p.Ledger = nil }, "port ledger is missing"},
		"no actor":                    {func(p *runner.Ports, _ *runner.Options) { p.Actor = nil }, "port actor is missing"},
		"no reporter":                 {func(p *runner.Ports, _ *runner.Options) { p.Reporter = nil }, "port reporter is missing"},
		"no clock":                    {func(_ *runner.Ports, o *runner.Options) { o.Now = nil }, "option now is missing"},
		"an interval of nothing":      {func(_ *runner.Ports, o *runner.Options) { o.SweepInterval = 0 }, "option sweep interval: 0s, want above 0"},
		"an interval below nothing":   {func(_ *runner.Ports, o *runner.Options) { o.SweepInterval = -time.Second }, "option sweep interval: -1s, want above 0"},
		"nobody works":                {func(_ *runner.Ports, o *runner.Options) { o.Concurrency = 0 }, "option concurrency: 0, want 1 or more"},
		"a margin below nothing":      {func(_ *runner.Ports, o *runner.Options) { o.Margin = -time.Second }, "option margin: -1s, want 0 or more"},
		"everything, always in order": {func(p *runner.Ports, o *runner.Options) { *p, *o = runner.Ports{}, runner.Options{Margin: -1} }, "port fleet is missing\nport beats is missing\nport alarms is missing\nport policies is missing\nport ledger is missing\nport actor is missing\nport reporter is missing\noption now is missing\noption sweep interval: 0s, want above 0\noption concurrency: 0, want 1 or more\noption margin: -1ns, want 0 or more"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for range 8 { // an order that changes would show
				p, o := newBench().Process("p").Ports(), good
				test.change(&p, &o)
				r, err := runner.New(p, o)
				switch {
				case test.want == "" && (err != nil || r == nil):
					t.Fatalf("refused: %v", err)
				case test.want != "" && (err == nil || err.Error() != test.want):
					t.Fatalf("have %v, want %s", err, test.want)
				}
			}
		})
	}
}

func TestRunRefusesBadRequestsAndCallsNothing(t *testing.T) {
	tests := map[string]struct {
		req  runner.Request
		want string
	}{
		"no name":               {runner.Request{Trigger: runner.TriggerSweep}, "request: run is empty"},
		"no trigger":            {runner.Request{Run: "r"}, `request: trigger "", want sweep, alarm or manual`},
		"an unknown trigger":    {runner.Request{Run: "r", Trigger: "cron"}, `request: trigger "cron", want sweep, alarm or manual`},
		"shards below nothing":  {runner.Request{Run: "r", Trigger: "sweep", Shards: -1}, "request: shard 0 of -1"},
		"a shard below nothing": {runner.Request{Run: "r", Trigger: "sweep", Shard: -1, Shards: 2}, "request: shard -1 of 2"},
		"a shard past the end":  {runner.Request{Run: "r", Trigger: "sweep", Shard: 2, Shards: 2}, "request: shard 2 of 2"},
		"a shard of none":       {runner.Request{Run: "r", Trigger: "sweep", Shard: 1}, "request: shard 1 of 0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newBench().Process("p")
			_, err := p.Run(context.Background(), test.req)
			if err == nil || err.Error() != test.want {
				t.Errorf("have %v, want %s", err, test.want)
			}
			if p.Calls() != 0 {
				t.Errorf("%d calls were made", p.Calls())
			}
		})
	}
}

func TestARunThatCannotListItsGroupsIsAnError(t *testing.T) {
	b, _ := quiet(t, 4)
	p := b.Process("p")
	p.Hook = on(fault.Throttled, runnertest.OpGuarded)
	sum, err := p.Run(context.Background(), b.request())
	if !errors.Is(err, fault.Throttled) || !strings.HasPrefix(err.Error(), "list guarded groups: ") || sum.Run == "" {
		t.Errorf("have %v, %+v", err, sum)
	}
}

func TestARunWithoutGroupsIsFine(t *testing.T) {
	b := newBench()
	if sum := b.look(t, nil); sum.Looked != 0 || sum.Failed != 0 || sum.Groups == nil {
		t.Errorf("summary %+v", sum)
	}
}
