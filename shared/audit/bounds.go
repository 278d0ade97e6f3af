package audit

import "fmt"

// Bounds of the numbers in a dump, and of those in a template. They are far above what AWS takes, and low enough that no sum of them overflows.
const (
	// NumberMax is the largest number of a setting that is taken.
	NumberMax = 1_000_000
	ageMax    = 1_000_000_000
)

// number is a value of a resource with its bounds.
type number struct {
	key  string
	at   **int
	low  int
	high int
}

func (g *Group) numbers() []number {
	return []number{
		{"min", &g.Min, 0, NumberMax}, {"max", &g.Max, 0, NumberMax}, {"desired", &g.Desired, 0, NumberMax}, {"grace_seconds", &g.GraceSeconds, 0, NumberMax},
		{"warmup_seconds", &g.WarmupSeconds, NotSet, NumberMax}, {"min_healthy_percent", &g.MinHealthyPercent, NotSet, 100},
		{"max_healthy_percent", &g.MaxHealthyPercent, NotSet, 200}, {"zone_count", &g.ZoneCount, 0, NumberMax},
		{"refresh_min_healthy_percent", &g.RefreshMinHealthy, NotSet, 100}, {"boot_seconds", &g.BootSeconds, NotSet, NumberMax},
	}
}

func (t *TargetGroup) numbers() []number {
	return []number{
		{"interval_seconds", &t.IntervalSeconds, 0, NumberMax}, {"timeout_seconds", &t.TimeoutSeconds, 0, NumberMax},
		{"healthy_count", &t.HealthyCount, 0, 1000}, {"unhealthy_count", &t.UnhealthyCount, 0, 1000},
		{"deregistration_delay_seconds", &t.DrainSeconds, 0, NumberMax}, {"slow_start_seconds", &t.SlowStartSeconds, 0, NumberMax},
		{"fail_open_count", &t.FailOpenCount, NotSet, NumberMax}, {"fail_open_percent", &t.FailOpenPercent, NotSet, 100},
		{"dns_count", &t.DNSCount, NotSet, NumberMax}, {"dns_percent", &t.DNSPercent, NotSet, 100},
	}
}

// Bound makes the numbers of groups and target groups that no dump may have unknown, and lists each as unread. A template may state any
// number; AWS would refuse it.
func (a *Account) Bound() {
	bound := func(kind, name string, list []number) {
		for _, v := range list {
			n := *v.at
			if n == nil || (*n >= v.low && *n <= v.high) {
				continue
			}
			a.Unread = append(a.Unread, Unread{Kind: kind, Name: name, What: v.key, Why: fmt.Sprintf("%d is out of range, want %d to %d", *n, max(v.low, 0), v.high)})
			*v.at = nil
		}
	}
	for i := range a.Groups {
		bound(KindGroup, a.Groups[i].Name, a.Groups[i].numbers())
	}
	for i := range a.TargetGroups {
		bound(KindTargetGroup, a.TargetGroups[i].title(), a.TargetGroups[i].numbers())
	}
}
