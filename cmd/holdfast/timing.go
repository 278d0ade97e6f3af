package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/timing"
)

// timings are the flags of the threshold arithmetic.
type timings struct {
	check  timing.Check
	beats  timing.Beats
	prices timing.Prices
}

// spanRule is what spanValue takes.
const spanRule = "seconds of 0 or more, or a duration such as 10s or 1m30s"

// spanValue is a flag that takes a duration such as 10s, and a bare number as seconds.
type spanValue time.Duration

func (v *spanValue) String() string { return time.Duration(*v).String() }

// Set implements flag.Value.
func (v *spanValue) Set(text string) error {
	d, err := time.ParseDuration(text)
	if n, whole := strconv.Atoi(text); whole == nil {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || d < 0 {
		return errors.New("want " + spanRule)
	}
	*v = spanValue(d)
	return nil
}

func timingFlags(fs *flag.FlagSet) *timings {
	t := &timings{prices: timing.ListPrices()}
	c, b := &t.check, &t.beats
	span := func(into *time.Duration, name string, preset time.Duration, usage string) {
		*into = preset
		fs.Var((*spanValue)(into), name, usage)
	}
	span(&c.Interval, "interval", 10*time.Second, "time between two probes of one load balancer node")
	span(&c.Timeout, "timeout", 5*time.Second, "how long a probe waits")
	fs.IntVar(&c.Unhealthy, "unhealthy", 3, "failed probes in a row until a target is unhealthy")
	fs.IntVar(&c.Healthy, "healthy", 2, "good probes in a row until it is healthy again")
	span(&c.Handler, "handler", 0, "the health handler's own timeout")
	span(&c.Dependency, "dependency", 0, "longest timeout of anything that the handler calls")
	span(&c.Restart, "restart", 0, "how long a process may take to restart unnoticed")
	span(&c.Objective, "objective", 0, "how soon a failure must be known")
	fs.IntVar(&c.Targets, "targets", 0, "registered targets")
	fs.IntVar(&c.Nodes, "nodes", 0, "load balancer nodes; each probes every target")
	p := guard.Defaults()
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	fs.IntVar(&b.Instances, "heartbeats", 0, "instances that write heartbeats: adds the cost table")
	span(&b.Every, "every", 10*time.Second, "time between two heartbeats of one instance")
	span(&b.Sweep, "sweep", time.Minute, "time between two sweeps, each of which reads every heartbeat")
	span(&b.Fresh, "fresh", seconds(p.HeartbeatFreshSeconds), "heartbeat_fresh_seconds of the policy")
	span(&b.Stale, "stale", seconds(p.HeartbeatStaleSeconds), "heartbeat_stale_seconds of the policy")
	fs.Float64Var(&t.prices.Writes, "write-price", t.prices.Writes, "dollars per million write units; preset: us-east-1")
	fs.Float64Var(&t.prices.Reads, "read-price", t.prices.Reads, "dollars per million read units; preset: us-east-1")
	fs.Float64Var(&t.prices.WriteUnit, "write-unit-price", t.prices.WriteUnit, "dollars per provisioned write unit and hour; preset: us-east-1")
	fs.Float64Var(&t.prices.ReadUnit, "read-unit-price", t.prices.ReadUnit, "dollars per provisioned read unit and hour; preset: us-east-1")
	return t
}

// showTiming prints the threshold arithmetic: exit 1 when the numbers break a rule.
func showTiming(_ context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("timing", flag.ContinueOnError)
	t := timingFlags(fs)
	code, ok := parseBare(fs, args, s)
	if !ok {
		return code
	}
	if problem := outOfRange(fs); problem != "" {
		return misused(fs, s, problem)
	}
	beats := false
	fs.Visit(func(f *flag.Flag) { beats = beats || f.Name == "heartbeats" })
	var b strings.Builder
	problems := t.check.Problems()
	writeCheck(&b, t.check)
	if beats {
		writeBeats(&b, t.beats, t.prices)
		problems = append(problems, t.beats.Problems()...)
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "PROBLEM  %s: %s\n", p.Rule, p.Text)
	}
	if len(problems) == 0 {
		b.WriteString("no rule is broken\n")
	}
	if _, err := fmt.Fprint(s.out, b.String()); err != nil {
		return failed("timing", err, s)
	}
	if len(problems) > 0 {
		return exitNo
	}
	return exitOK
}

// outOfRange says which number makes no sum at all, "" if none.
func outOfRange(fs *flag.FlagSet) (problem string) {
	fs.Visit(func(f *flag.Flag) {
		want := "0 or more"
		var wrong bool
		switch v := f.Value.(type) {
		case *spanValue:
			want = "more than 0s"
			wrong = *v == 0 && (f.Name == "every" || f.Name == "sweep")
		case flag.Getter:
			switch n := v.Get().(type) {
			case int:
				wrong = n < 0
			case float64:
				wrong = !(n >= 0) || math.IsInf(n, 0)
			}
		}
		if wrong && problem == "" {
			problem = fmt.Sprintf("--%s: %s, want %s", f.Name, f.Value, want)
		}
	})
	return problem
}

func writeCheck(b *strings.Builder, c timing.Check) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) // a Builder takes everything
	}
	row("detection window", "unhealthy x interval + timeout = %d x %s + %s = %s", c.Unhealthy, c.Interval, c.Timeout, c.Detection())
	row("recovery window", "healthy x interval = %d x %s = %s; a new target needs one probe", c.Healthy, c.Interval, c.Recovery())
	row("nested timeouts", "want dependency %s < handler %s < probe %s < interval %s", stated(c.Dependency), stated(c.Handler), c.Timeout, c.Interval)
	row("restart budget", "want %s < detection window %s <= recovery objective %s", stated(c.Restart), c.Detection(), stated(c.Objective))
	if c.Targets > 0 && c.Nodes > 0 {
		row("probe load", "targets x nodes / interval = %d x %d / %s = %.1f probes a second, %.2f on each target", c.Targets, c.Nodes, c.Interval, c.Probes(), c.ProbesPerTarget())
		row("", "a deep check puts the same %.1f calls a second on each dependency", c.Probes())
	} else {
		row("probe load", "state --targets and --nodes")
	}
	_ = w.Flush()
}

func stated(d time.Duration) string {
	if d == 0 {
		return "(not stated)"
	}
	return d.String()
}

// writeBeats prints the cost of heartbeats at the chosen interval and, to compare, at a few others.
func writeBeats(b *strings.Builder, beats timing.Beats, p timing.Prices) {
	fmt.Fprintf(b, "\nheartbeats of %s, 30 days, $%g per million writes and $%g per million reads;\n", guard.Counted(beats.Instances, "instance"), p.Writes, p.Reads)
	fmt.Fprintf(b, "provisioned $%g and $%g per unit and hour, %.0f %% used:\n", p.WriteUnit, p.ReadUnit, 100*timing.Utilization)
	intervals := []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second, beats.Every}
	slices.Sort(intervals)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "A BEAT EVERY\tWRITES/S\tWRITES $\tREADS $\tON DEMAND $\tWRITE/READ UNITS\tPROVISIONED $\tBEATS LOST UNTIL LATE\tBEATS LOST UNTIL STALE")
	for _, every := range slices.Compact(intervals) {
		one := beats
		one.Every = every
		mark := ""
		if every == beats.Every {
			mark = "\t<"
		}
		_, _ = fmt.Fprintf(w, "%s\t%.1f\t%.2f\t%.2f\t%.2f\t%d/%d\t%.2f\t%d\t%d%s\n", every, one.WritesPerSecond(), one.WriteCost(p), one.ReadCost(p),
			one.WriteCost(p)+one.ReadCost(p), one.WriteUnits(), one.ReadUnits(), one.ProvisionedCost(p), one.MissedUntilLate(), one.MissedUntilStale(), mark)
	}
	_ = w.Flush()
	b.WriteString("< is the interval that was asked for; all $ are for 30 days\n")
}
