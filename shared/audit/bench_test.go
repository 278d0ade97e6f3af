package audit_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// BenchmarkJudge judges 500 groups with two target groups each, every one of them broken in some way.
func BenchmarkJudge(b *testing.B) {
	one := dump(b, "rules", "HF001", "broken.json")
	a := one
	a.Groups, a.TargetGroups = nil, nil
	for i := range 500 {
		g := one.Groups[0]
		g.Name, g.TargetGroups = fmt.Sprintf("web-%d", i), nil
		for n := range 2 {
			t := one.TargetGroups[0]
			t.ID = fmt.Sprintf("tg-%d-%d", i, n)
			t.Name = t.ID
			g.TargetGroups = append(g.TargetGroups, t.ID)
			a.TargetGroups = append(a.TargetGroups, t)
		}
		a.Groups = append(a.Groups, g)
	}
	o := options(b)
	found := 0
	for b.Loop() {
		found = len(audit.Judge(a, o).Findings)
	}
	b.ReportMetric(float64(found), "findings")
}
