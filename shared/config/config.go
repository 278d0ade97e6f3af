package config

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Names of the environment variables. The first three are required.
const (
	EnvStateTable     = "HOLDFAST_STATE_TABLE"
	EnvHeartbeatTable = "HOLDFAST_HEARTBEAT_TABLE"
	EnvEventBus       = "HOLDFAST_EVENT_BUS"
	EnvShard          = "HOLDFAST_SHARD"
	EnvShards         = "HOLDFAST_SHARDS"
	EnvSweepInterval  = "HOLDFAST_SWEEP_INTERVAL"
	EnvConcurrency    = "HOLDFAST_CONCURRENCY"
)

// Values of the optional variables when they are not set, as they would be written.
const (
	DefaultShard         = "0"
	DefaultShards        = "1"
	DefaultSweepInterval = "60s"
	DefaultConcurrency   = "8"
)

// Ranges of the optional variables.
const (
	ShardsMax        = 1000
	SweepIntervalMin = 30 * time.Second
	SweepIntervalMax = 15 * time.Minute
	ConcurrencyMax   = 64
)

// Config is what a function that runs sweeps needs to know of its surroundings.
type Config struct {
	// StateTable and HeartbeatTable are names or ARNs of DynamoDB tables; EventBus is the name or ARN of the bus for notices.
	StateTable, HeartbeatTable, EventBus string
	// Shard, from 0, is which of Shards (1 to ShardsMax) this function looks at unless its event says otherwise.
	Shard, Shards int
	// SweepInterval is the time between two scheduled sweeps, SweepIntervalMin to SweepIntervalMax.
	SweepInterval time.Duration
	// Concurrency is how many groups are looked at at once, 1 to ConcurrencyMax.
	Concurrency int
}

// FromEnv reads the configuration through lookup, which is os.Getenv outside tests; an empty value counts as not set. The
// error joins everything that is wrong, each with the name of its variable; the Config is then the zero value.
func FromEnv(lookup func(string) string) (Config, error) {
	r := reader{lookup: lookup}
	c := Config{
		StateTable:     r.required(EnvStateTable),
		HeartbeatTable: r.required(EnvHeartbeatTable),
		EventBus:       r.required(EnvEventBus),
		Shard:          r.number(EnvShard, DefaultShard, bounds{0, ShardsMax - 1}),
		Shards:         r.number(EnvShards, DefaultShards, bounds{1, ShardsMax}),
		SweepInterval:  r.interval(EnvSweepInterval, DefaultSweepInterval),
		Concurrency:    r.number(EnvConcurrency, DefaultConcurrency, bounds{1, ConcurrencyMax}),
	}
	if len(r.errs) == 0 && c.Shard >= c.Shards {
		r.errs = append(r.errs, fmt.Errorf("%s: %d, want less than %s, which is %d", EnvShard, c.Shard, EnvShards, c.Shards))
	}
	if len(r.errs) > 0 {
		return Config{}, errors.Join(r.errs...)
	}
	return c, nil
}

// reader collects what is wrong while values are read.
type reader struct {
	lookup func(string) string
	errs   []error
}

type bounds struct{ min, max int }

func (r *reader) required(name string) string {
	v := r.lookup(name)
	if v == "" {
		r.errs = append(r.errs, fmt.Errorf("%s: not set", name))
	}
	return v
}

func (r *reader) optional(name, preset string) string {
	if v := r.lookup(name); v != "" {
		return v
	}
	return preset
}

func (r *reader) number(name, preset string, b bounds) int {
	text := r.optional(name, preset)
	n, err := strconv.Atoi(text)
	if err != nil || n < b.min || n > b.max {
		r.errs = append(r.errs, fmt.Errorf("%s: %q, want a whole number from %d to %d", name, text, b.min, b.max))
	}
	return n
}

func (r *reader) interval(name, preset string) time.Duration {
	text := r.optional(name, preset)
	d, err := time.ParseDuration(text)
	if err != nil || d < SweepIntervalMin || d > SweepIntervalMax {
		r.errs = append(r.errs, fmt.Errorf("%s: %q, want a duration from %s to %s, such as 60s", name, text, SweepIntervalMin, SweepIntervalMax))
	}
	return d
}
