package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Names of what outlives a stack, when the props name no other. The command line's presets are the same.
const (
	DefaultStateTable     = "holdfast-state"
	DefaultHeartbeatTable = "holdfast-heartbeats"
	DefaultBus            = "holdfast"
)

// Values where the props say nothing.
const (
	DefaultMemoryMB         = 256
	DefaultLogRetentionDays = 90
)

// parameterBytesMax is what a parameter holds at most; above 4 KB it is of the tier that costs. Source: Systems Manager user guide,
// "Managing parameter tiers".
const parameterBytesMax = 8 << 10

// GuardianProps are the settings of a Guardian. Only CodeDir is required.
type GuardianProps struct {
	// CodeDir has a folder for each function with its bootstrap in it, as `make build` leaves them in build/.
	CodeDir string
	// StateTableName, HeartbeatTableName and BusName replace the default names.
	StateTableName, HeartbeatTableName, BusName string
	// Adopt takes over the tables of an earlier stack, which deleting it left behind, instead of creating them.
	Adopt bool
	// Shards is how many schedules share the groups, 1 to config.ShardsMax; 0 means 1.
	Shards int
	// Defaults is the layer /holdfast/defaults as a JSON object; "" means {}.
	Defaults string
	// MemoryMB of each function, 128 to 10240; 0 means DefaultMemoryMB. The audit has 1024 at least.
	MemoryMB int
	// LogRetentionDays is one of the numbers that CloudWatch Logs takes; 0 means DefaultLogRetentionDays.
	LogRetentionDays int
	// NoReservedConcurrency reserves none: a new account's whole concurrency may be too small to reserve from.
	NoReservedConcurrency bool
	// Emails are subscribed to the notices' topic; each must confirm.
	Emails []string
	// Topic takes the notices and the alarms instead of a topic of the stack's own. Its policy must let CloudWatch publish.
	Topic awssns.ITopic
	// ChatTopicARN is a topic for Amazon Q Developer in chat applications, "" for none.
	ChatTopicARN string
	// SlackSecret and PagerDutySecret are names of SecureString parameters outside /holdfast/, "" for none.
	SlackSecret, PagerDutySecret string
	// AuditThresholds is what services promise, as the audit reads it, at most 8 KB of JSON; "" for none.
	AuditThresholds string
	// Environment has more variables for every function, such as the addresses of emulators.
	Environment map[string]string
	// ProbeVPC is where the deep checks run, nil for outside any VPC; its subnets are those with egress.
	ProbeVPC awsec2.IVpc
}

// settled returns the props with every default in place; the error joins what is wrong.
func (p GuardianProps) settled() (GuardianProps, error) {
	text := func(v *string, preset string) {
		if *v == "" {
			*v = preset
		}
	}
	number := func(v *int, preset int) {
		if *v == 0 {
			*v = preset
		}
	}
	text(&p.StateTableName, DefaultStateTable)
	text(&p.HeartbeatTableName, DefaultHeartbeatTable)
	text(&p.BusName, DefaultBus)
	text(&p.Defaults, "{}")
	number(&p.Shards, 1)
	number(&p.MemoryMB, DefaultMemoryMB)
	number(&p.LogRetentionDays, DefaultLogRetentionDays)
	var errs []error
	if p.CodeDir == "" {
		errs = append(errs, errors.New("no CodeDir"))
	}
	if p.Shards < 1 || p.Shards > config.ShardsMax {
		errs = append(errs, fmt.Errorf("%d shards, want 1 to %d", p.Shards, config.ShardsMax))
	}
	if p.MemoryMB < 128 || p.MemoryMB > 10240 {
		errs = append(errs, fmt.Errorf("%d MB of memory, want 128 to 10240", p.MemoryMB))
	}
	if n := len(p.AuditThresholds); n > parameterBytesMax {
		errs = append(errs, fmt.Errorf("%d bytes of audit thresholds, a parameter holds %d", n, parameterBytesMax))
	}
	if _, err := audit.DecodePromises([]byte(p.AuditThresholds)); p.AuditThresholds != "" && err != nil {
		errs = append(errs, fmt.Errorf("audit thresholds: %w", err))
	}
	if err := CheckPolicy(guard.LayerDefaults, p.Defaults); err != nil {
		errs = append(errs, fmt.Errorf("policy defaults: %w", err))
	}
	return p, errors.Join(errs...)
}

func (p GuardianProps) code(function string) string { return filepath.Join(p.CodeDir, function) }

// CheckPolicy judges one layer of a policy exactly as a sweep would: the error joins every key that a sweep would refuse.
func CheckPolicy(layer, text string) error {
	if !json.Valid([]byte(text)) {
		return errors.New("no valid JSON")
	}
	resolved := guard.Resolve([]guard.Layer{{Name: layer, Raw: []byte(text)}}, guard.Switch{Value: guard.ModeAct, Found: true})
	var errs []error
	for _, p := range resolved.Problems {
		errs = append(errs, fmt.Errorf("%s: %s", p.Key, p.Rule))
	}
	return errors.Join(errs...)
}
