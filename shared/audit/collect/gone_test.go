package collect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/daily"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// fragile is a Region in which many rules find something, each hanging on other reads.
func fragile(t *testing.T) (*lab, func() (audit.Account, audit.Report)) {
	t.Helper()
	l := newLab(t)
	l.fleet(t)
	l.notices(t)
	l.Do(func(c *sim.Cloud) {
		must(t, c.SuspendProcesses("web", []string{sim.ProcessReplaceUnhealthy}))
		must(t, c.CreateGroup(sim.GroupSpec{
			Name: "other", Desired: 2, Min: 1, Max: 3, TargetGroups: []string{"web"}, HealthCheckTypes: []string{"ELB", "EC2"}, Tags: map[string]string{"holdfast:guard": "true"},
		}))
	})
	must(t, l.Declare("other", `{"mode":"nonsense","hold_exit":"x"}`))
	l.SetStatusChecks(world.StatusCheck{ID: "asc-1", Path: "/db", Tags: [][2]string{{"aws:autoscaling:groupName", "web"}}})
	o := l.options()
	o.Metrics, o.Concurrency = true, 1
	return l, func() (audit.Account, audit.Report) {
		a := l.read(t, o)
		return a, audit.Judge(a, audit.Options{})
	}
}

// TestAReadThatFailsMakesNoFindingGoneOrNew takes every operation that a whole read makes.
func TestAReadThatFailsMakesNoFindingGoneOrNew(t *testing.T) {
	l, look := fragile(t)
	a, r := look()
	known := daily.Compare(daily.Known{}, a, r, daily.Unsaid{}).Next(daily.Known{}, a.At)
	known.Version = 1
	for _, rule := range []string{"HF006", "HF026", "HF030", "HF032", "HF033", "HF034", "HF036"} {
		if !slices.ContainsFunc(known.Findings, func(b daily.Brief) bool { return b.Rule == rule }) {
			t.Errorf("nothing of %s is found, so that it is not tried", rule)
		}
	}
	var operations []string
	for call := range l.Calls() {
		_, operation, _ := strings.Cut(call, ":")
		if strings.HasPrefix(operation, "Describe") || strings.HasPrefix(operation, "Get") || operation == "Query" || operation == "BatchGetItem" {
			operations = append(operations, call)
		}
	}
	if len(operations) < 16 {
		t.Fatalf("only %v are called", operations)
	}
	slices.Sort(operations)
	for _, operation := range operations {
		for _, fails := range []wire.Error{{Code: "AccessDenied", Message: "x", Status: 403}, {Code: "InternalFailure", Message: "x", Status: 500}} {
			t.Run(fmt.Sprint(operation, " ", fails.Code), func(t *testing.T) {
				must(t, l.SetFaults(world.Fault{Operation: operation, FailFirst: -1, Error: fails}))
				a, r := look()
				if len(a.Unread) == 0 {
					t.Fatal("nothing is unread")
				}
				c := daily.Compare(known, a, r, daily.Unsaid{})
				if len(c.Gone)+len(c.New) > 0 || len(c.Kept)+len(c.Lasting) != len(known.Findings) {
					t.Errorf("gone %v, new %v, %d kept and %d lasting of %d", c.Gone, c.New, len(c.Kept), len(c.Lasting), len(known.Findings))
				}
			})
		}
	}
}

// TestAnOperationThatServesTwoKindsIsUnreadForBoth denies what reads both the alarms of policies and Holdfast's own.
func TestAnOperationThatServesTwoKindsIsUnreadForBoth(t *testing.T) {
	l, look := fragile(t)
	must(t, l.SetFaults(world.Fault{Operation: "cloudwatch:DescribeAlarms", FailFirst: -1, Error: wire.Error{Code: "AccessDenied", Message: "x", Status: 403}}))
	a, _ := look()
	var kinds []string
	for _, u := range a.Unread {
		if u.What == "DescribeAlarms" {
			kinds = append(kinds, u.Kind)
		}
	}
	if !slices.Equal(kinds, []string{audit.KindAlarm, audit.KindGuardian}) {
		t.Errorf("unread for %v", kinds)
	}
}
