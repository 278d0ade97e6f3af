package tradeoff

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteMarkdown writes the tables with a line under each that says whether a value is better than the built-in one in everything measured.
func WriteMarkdown(w io.Writer, tables []Table) error {
	var b strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&b, "### `%s`\n\n%s.\n\n", t.Name, strings.ToUpper(t.Trades[:1])+t.Trades[1:])
		b.WriteString("| value | healthy lost | capacity-minutes | error-minutes | repair p50 | p95 | unrepaired | pages | false |\n|---|---|---|---|---|---|---|---|---|\n")
		for _, r := range t.Rows {
			value := fmt.Sprint(r.Value)
			if r.Default {
				value = "**" + value + "**"
			}
			fmt.Fprintf(&b, "| %s | %d | %.0f | %.0f | %s | %s | %d of %d | %d | %d |\n", value, r.HealthyLost, r.CapacityMinutes, r.ErrorMinutes,
				minutes(r.RepairP50), minutes(r.RepairP95), r.Unrepaired, r.Broken, r.Pages, r.FalsePages)
		}
		fmt.Fprintf(&b, "\n%s\n\n", t.verdict())
	}
	_, err := io.WriteString(w, b.String())
	if err != nil {
		return fmt.Errorf("write the tables: %w", err)
	}
	return nil
}

// verdict says whether some value beats the built-in one in everything, or that none does.
func (t Table) verdict() string {
	var own Row
	for _, r := range t.Rows {
		if r.Default {
			own = r
		}
	}
	var better []string
	same := true
	for _, r := range t.Rows {
		if r.Better(own.Cost) {
			better = append(better, fmt.Sprint(r.Value))
		}
		same = same && r.Cost == own.Cost
	}
	switch {
	case same:
		return "All values cost the same on these days: nothing here tells them apart."
	case len(better) > 0:
		return fmt.Sprintf("On these days %s is at least as good as the built-in %d in everything measured, and better in something.", strings.Join(better, " or "), t.Default)
	}
	return fmt.Sprintf("No other value is at least as good as the built-in %d in everything measured.", t.Default)
}

func minutes(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
