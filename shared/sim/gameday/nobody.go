package gameday

import (
	"fmt"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// nobody leaves a day to Auto Scaling.
type nobody struct{ checks []string }

// Nobody puts nobody on watch: Auto Scaling alone, with the given health check types in every group of the day, or with the day's own when
// there are none.
func Nobody(checks ...string) Guardian { return nobody{checks} }

// Name implements Guardian.
func (n nobody) Name() string {
	if len(n.checks) == 0 {
		return "nobody"
	}
	return "auto-scaling-" + strings.ToLower(n.checks[len(n.checks)-1])
}

// Start implements Guardian.
func (n nobody) Start(w *World) error {
	for _, group := range w.Day.Groups {
		if err := drive.SetChecks(w.Cloud, group, n.checks); err != nil {
			return fmt.Errorf("start %s: %w", n.Name(), err)
		}
	}
	return nil
}

// Pages implements Guardian: Auto Scaling tells nobody.
func (nobody) Pages() []Page { return nil }
