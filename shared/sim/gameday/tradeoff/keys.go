package tradeoff

import (
	"fmt"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Key is one key of the policy with the values to try, its built-in one among them.
type Key struct {
	Name   string
	Values []int
	// Default is the built-in value.
	Default int
	// Trades says what a smaller and a larger value buy.
	Trades string
}

// Keys are the thresholds, confirmations, quiet times and budgets that are tried, in the order of the policy. Values above the compiled
// ceiling of a group are clamped as in an account, so that budgets differ only below them.
func Keys() []Key {
	d := guard.Defaults()
	return []Key{
		{"heartbeat_stale_seconds", []int{90, 120, 180, 300, 600}, d.HeartbeatStaleSeconds, "smaller: a silent member is broken sooner; larger: late beats are forgiven"},
		{"boot_grace_seconds", []int{0, 120, 300, 600, 1200}, d.BootGraceSeconds, "smaller: a member that never comes up is replaced sooner; larger: slow starts are forgiven"},
		{"confirm_sweeps", []int{1, 2, 3, 5}, d.ConfirmSweeps, "smaller: repair begins sooner; larger: short spells are forgiven"},
		{"disagree_seconds", []int{180, 300, 600, 900, 1800}, d.DisagreeSeconds, "smaller: what only the load balancer sees is repaired sooner; larger: its mistakes are forgiven"},
		{"correlated_percent", []int{10, 15, 25, 35, 50}, d.CorrelatedPercent, "smaller: holds on less; larger: repairs through more"},
		{"correlated_min", []int{2, 3, 5}, d.CorrelatedMin, "smaller: holds on less in small groups; larger: repairs through more"},
		{"zone_percent", []int{25, 50, 75, 100}, d.ZonePercent, "the same within a zone"},
		{"onset_count", []int{2, 3, 5, 10}, d.OnsetCount, "smaller: holds on fewer beginnings; larger: takes more of them for chance"},
		{"onset_window_seconds", []int{120, 300, 600, 1200}, d.OnsetWindowSeconds, "smaller: only what begins together counts as together; larger: holds on more"},
		{"rolling_percent", []int{10, 25, 50, 100}, d.RollingPercent, "smaller: a slow rot is held sooner; larger: repaired for longer"},
		{"rolling_window_seconds", []int{900, 1800, 3600, 7200}, d.RollingWindowSeconds, "smaller: failures are forgotten sooner, and a cluster is waited for less long; larger: more is taken for related"},
		{"max_in_flight", []int{0, 1, 2, 5}, d.MaxInFlight, "smaller: less capacity at risk; larger: several are repaired at once"},
		{"marks_per_10_minutes", []int{0, 1, 2, 5}, d.MarksPer10Minutes, "the same, by time"},
		{"marks_per_hour", []int{1, 2, 3, 6}, d.MarksPerHour, "the same, by time"},
		{"quiet_seconds", []int{60, 300, 600, 1200, 1800}, d.QuietSeconds, "smaller: repair goes on sooner after a hold; larger: a relapse finds the group still held"},
	}
}

// Find returns the key of a name; the error names those that there are.
func Find(name string) (Key, error) {
	var names []string
	for _, k := range Keys() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Key{}, fmt.Errorf("%q is no key that is tried, want one of %s", name, strings.Join(names, ", "))
}
