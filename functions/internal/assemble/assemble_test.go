package assemble_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/holdfast-aws/holdfast/functions/internal/assemble"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

func TestAnIncompleteEnvironmentIsNamedAtTheStart(t *testing.T) {
	for _, name := range []string{config.EnvStateTable, config.EnvHeartbeatTable, config.EnvEventBus} {
		t.Setenv(name, "")
	}
	_, err := assemble.FromEnv(context.Background())
	if err == nil || !strings.Contains(err.Error(), config.EnvStateTable) || !strings.Contains(err.Error(), config.EnvEventBus) {
		t.Errorf("have %v", err)
	}
}

func TestACompleteEnvironmentMakesRuns(t *testing.T) {
	t.Setenv(config.EnvStateTable, "state")
	t.Setenv(config.EnvHeartbeatTable, "beats")
	t.Setenv(config.EnvEventBus, "bus")
	t.Setenv(config.EnvShard, "1")
	t.Setenv(config.EnvShards, "2")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	p, err := assemble.FromEnv(context.Background())
	if err != nil || p.Config.Shard != 1 || p.Config.Shards != 2 || p.Now == nil {
		t.Fatalf("parts %+v, %v", p, err)
	}
	log := telemetry.NewLogger(io.Discard, "test")
	run, reporter, err := p.NewRun(log)
	if err != nil || run == nil || reporter == nil {
		t.Fatalf("a run cannot be made: %v", err)
	}
	again, reporterAgain, err := p.NewRun(log)
	if err != nil || again == run || reporterAgain == reporter {
		t.Errorf("two invocations share a run or its totals: %v", err)
	}
}

func TestAnSDKConfigurationThatCannotBeLoadedIsAnError(t *testing.T) {
	t.Setenv(config.EnvStateTable, "state")
	t.Setenv(config.EnvHeartbeatTable, "beats")
	t.Setenv(config.EnvEventBus, "bus")
	t.Setenv("AWS_MAX_ATTEMPTS", "often")
	if _, err := assemble.FromEnv(context.Background()); err == nil || !strings.Contains(err.Error(), "load the SDK's configuration") {
		t.Errorf("have %v", err)
	}
}

func TestARunWithoutATableIsRefused(t *testing.T) {
	p := assemble.New(config.Config{SweepInterval: time.Minute, Concurrency: 1}, aws.Config{Region: "us-east-1"}, time.Now)
	if _, _, err := p.NewRun(telemetry.NewLogger(io.Discard, "test")); err == nil || !strings.Contains(err.Error(), "make ledger") {
		t.Errorf("have %v", err)
	}
}
