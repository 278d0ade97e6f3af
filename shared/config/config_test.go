package config_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/config"
)

func complete() map[string]string {
	return map[string]string{"HOLDFAST_STATE_TABLE": "state", "HOLDFAST_HEARTBEAT_TABLE": "beats", "HOLDFAST_EVENT_BUS": "holdfast"}
}

func from(env map[string]string) (config.Config, error) {
	return config.FromEnv(func(name string) string { return env[name] })
}

func TestTheRequiredVariablesAloneAreEnough(t *testing.T) {
	have, err := from(complete())
	want := config.Config{
		StateTable: "state", HeartbeatTable: "beats", EventBus: "holdfast", Shard: 0, Shards: 1, SweepInterval: time.Minute, Concurrency: 8,
	}
	if err != nil || have != want {
		t.Errorf("have %+v, %v\nwant %+v", have, err, want)
	}
}

func TestEveryVariableIsRead(t *testing.T) {
	env := complete()
	maps.Copy(env, map[string]string{"HOLDFAST_SHARD": "3", "HOLDFAST_SHARDS": "4", "HOLDFAST_SWEEP_INTERVAL": "2m", "HOLDFAST_CONCURRENCY": "64"})
	have, err := from(env)
	want := config.Config{
		StateTable: "state", HeartbeatTable: "beats", EventBus: "holdfast", Shard: 3, Shards: 4, SweepInterval: 2 * time.Minute, Concurrency: 64,
	}
	if err != nil || have != want {
		t.Errorf("have %+v, %v\nwant %+v", have, err, want)
	}
}

func TestAWrongValueIsRefusedByName(t *testing.T) {
	cases := []struct{ name, value, says string }{
		{"HOLDFAST_STATE_TABLE", "", "not set"},
		{"HOLDFAST_HEARTBEAT_TABLE", "", "not set"},
		{"HOLDFAST_EVENT_BUS", "", "not set"},
		{"HOLDFAST_SHARD", "-1", "0 to 999"},
		{"HOLDFAST_SHARD", "1", "less than HOLDFAST_SHARDS"},
		{"HOLDFAST_SHARDS", "0", "1 to 1000"},
		{"HOLDFAST_SHARDS", "1001", "1 to 1000"},
		{"HOLDFAST_SHARDS", "four", "whole number"},
		{"HOLDFAST_SWEEP_INTERVAL", "60", "such as 60s"},
		{"HOLDFAST_SWEEP_INTERVAL", "29s", "from 30s"},
		{"HOLDFAST_SWEEP_INTERVAL", "15m1s", "to 15m0s"},
		{"HOLDFAST_CONCURRENCY", "0", "1 to 64"},
		{"HOLDFAST_CONCURRENCY", "65", "1 to 64"},
		{"HOLDFAST_CONCURRENCY", "1e1", "whole number"},
	}
	for _, c := range cases {
		env := complete()
		env[c.name] = c.value
		have, err := from(env)
		if err == nil {
			t.Errorf("%s=%q was taken", c.name, c.value)
			continue
		}
		if !strings.HasPrefix(err.Error(), c.name+": ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s=%q: error %q, want it to say %q", c.name, c.value, err, c.says)
		}
		if have != (config.Config{}) {
			t.Errorf("%s=%q: a refused configuration is not empty: %+v", c.name, c.value, have)
		}
	}
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	_, err := from(map[string]string{"HOLDFAST_SHARDS": "x", "HOLDFAST_CONCURRENCY": "0"})
	if err == nil {
		t.Fatal("an empty environment was taken")
	}
	for _, name := range []string{config.EnvStateTable, config.EnvHeartbeatTable, config.EnvEventBus, config.EnvShards, config.EnvConcurrency} {
		if !strings.Contains(err.Error(), name+": ") {
			t.Errorf("error does not name %s:\n%v", name, err)
		}
	}
}
