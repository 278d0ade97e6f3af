package season

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Markdown writes a table for every day, with what the figures are.
func (t Table) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Game days\n\n%s from %d on, %s, %s. Figures are means per played day with the half width of their 95 %% confidence "+
		"interval (normal approximation, over seeds).\n\n", guard.Counted(int(t.Seeds), "seed"), t.FirstSeed, guard.Counted(len(t.Days), "day"), guard.Counted(len(t.Guardians), "guardian"))
	for _, line := range legend() {
		b.WriteString("- " + line + "\n")
	}
	b.WriteString("\n## All days\n\nThe sum of the means over the days.\n\n| guardian | healthy lost | days with a loss | capacity minutes | error minutes | broken, not repaired | pages | false |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for i, name := range t.Guardians {
		t.total(&b, i, name)
	}
	for _, day := range t.Days {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| guardian | healthy lost | worst | capacity minutes | error minutes | repair p50 | p95 | not repaired | pages | false | notices | calls |\n"+
			"|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n", day.Name, day.About)
		for _, c := range day.Cells {
			fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", c.Guardian, c.HealthyLost, c.WorstLoss, c.CapacityMinutes, c.ErrorMinutes,
				c.Repair.clock(c.Repair.P50), c.Repair.clock(c.Repair.P95), c.Repair.open(), c.Pages, c.FalsePages, c.Notices, c.Calls)
		}
	}
	t.worse(&b)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func (t Table) total(b *strings.Builder, i int, name string) {
	var lost, capacity, failing, pages, wrong float64
	days, broken, open := 0, 0, 0
	for _, day := range t.Days {
		c := day.Cells[i]
		lost, capacity, failing = lost+c.HealthyLost.Value, capacity+c.CapacityMinutes.Value, failing+c.ErrorMinutes.Value
		pages, wrong = pages+c.Pages.Value, wrong+c.FalsePages.Value
		broken, open = broken+c.Repair.Broken, open+c.Repair.Unrepaired
		if c.RunsWithLoss > 0 {
			days++
		}
	}
	share := "–"
	if broken > 0 {
		share = fmt.Sprintf("%.1f %%", 100*float64(open)/float64(broken))
	}
	fmt.Fprintf(b, "| %s | %.2f | %d | %.1f | %.2f | %s | %.2f | %.2f |\n", name, lost, days, capacity, failing, share, pages, wrong)
}

// The names of those that the comparison at the end is about.
const (
	guardianName = "holdfast"
	limitName    = "oracle-with-evidence"
)

// worse tells where Holdfast loses more than it need to.
func (t Table) worse(b *strings.Builder) {
	verdicts := t.Verdicts(guardianName, limitName)
	if len(verdicts) == 0 {
		return
	}
	limited := slices.Contains(t.Guardians, limitName)
	fmt.Fprintf(b, "\n## %s beside the others\n\n", guardianName)
	if limited {
		fmt.Fprintf(b, "The limit is the capacity that %s loses. ", limitName)
	}
	b.WriteString("Better is who loses no more healthy members and clearly less capacity, or clearly fewer healthy members and not clearly more capacity.\n\n")
	head, rule := "", ""
	if limited {
		head, rule = " limit | over it |", "---:|---:|"
	}
	b.WriteString("| day | runs with a healthy member lost | capacity minutes |" + head + " better |\n|---|---:|---:|" + rule + "---|\n")
	for _, v := range verdicts {
		fmt.Fprintf(b, "| %s | %d of %d | %s |", v.Day, v.Cell.RunsWithLoss, t.Seeds, v.Cell.CapacityMinutes)
		if limited {
			over := "–"
			if v.Limit > 0 {
				over = fmt.Sprintf("%+.0f %%", 100*v.Over)
			}
			fmt.Fprintf(b, " %.1f | %s |", v.Limit, over)
		}
		fmt.Fprintf(b, " %s |\n", strings.Join(v.Better, ", "))
	}
}

// legend says what the figures are.
func legend() []string {
	return []string{
		"healthy lost: members terminated for a health reason although nothing was wrong with them; worst: the most in one run",
		"capacity minutes: desired less really serving members, summed over minutes",
		"error minutes: the share of failing requests, summed over minutes and groups",
		"repair: minutes and seconds from a break, or from when a replacement would first have served, until a replacement serves; one that was not repaired counts to the end of the day",
		"pages: urgent messages, reminders included; false: those with nothing really the matter in the quarter of an hour before",
		"calls: SetInstanceHealth, SuspendProcesses and ResumeProcesses",
	}
}

// String is the mean and the half width of its interval.
func (m Mean) String() string {
	if m.Half == 0 {
		return number(m.Value)
	}
	return number(m.Value) + " ± " + number(m.Half)
}

func number(x float64) string {
	if x == 0 {
		return "0"
	}
	return fmt.Sprintf("%.2f", x)
}

// clock is a time to repair as minutes and seconds.
func (r Repair) clock(seconds int) string {
	if r.Broken == 0 {
		return "–"
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// open is how many of the broken members were not repaired.
func (r Repair) open() string {
	if r.Broken == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", r.Unrepaired, r.Broken)
}
