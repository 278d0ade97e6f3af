package audit_test

import (
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// These limits come from templates that others wrote; docs/audit-corpus.md tells which.

func TestAFrontPageThatTerminatesIsHighAndADeepPathCritical(t *testing.T) {
	for path, want := range map[string]audit.Severity{"/": audit.High, "/actuator/health": audit.High, "/health/deep": audit.Critical} {
		r := audit.Judge(audit.Account{
			Groups:       []audit.Group{{Name: "web", HealthCheckTypes: []string{"EC2", "ELB"}, TargetGroups: []string{"t"}}},
			TargetGroups: []audit.TargetGroup{{ID: "t", TargetType: "instance", CheckProtocol: "HTTP", Path: &path}}, Static: true,
		}, audit.Options{})
		if found := of(r, "HF001"); len(found) != 1 || found[0].Severity != want {
			t.Errorf("%s: findings are %+v, want one that is %s", path, found, want)
		}
	}
}

func TestWithoutTheNumberOfMembersARefreshIsNotJudged(t *testing.T) {
	low := 0
	r := audit.Judge(audit.Account{Groups: []audit.Group{{Name: "web", RefreshMinHealthy: &low}}, Static: true}, audit.Options{})
	if found := of(r, "HF023"); len(found) != 0 {
		t.Errorf("findings are %+v, want none", found)
	}
}

func TestARefreshThatTakesOneMemberAtATimeTakesNotMany(t *testing.T) {
	for _, c := range []struct {
		name             string
		desired, percent int
		want             int
	}{
		{"half of two is one", 2, 50, 0}, {"all of one is one", 1, 0, 0}, {"half of four is two", 4, 50, 1},
		{"three quarters of five leave one away", 5, 74, 0}, {"of six they leave two", 6, 60, 1}, {"nothing of nobody", 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := audit.Judge(audit.Account{Groups: []audit.Group{{Name: "web", Desired: &c.desired, RefreshMinHealthy: &c.percent}}, Static: true}, audit.Options{})
			if found := of(r, "HF023"); len(found) != c.want {
				t.Errorf("findings are %+v, want %d", found, c.want)
			}
		})
	}
}
