package world_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/awsact"
	"github.com/holdfast-aws/holdfast/shared/awsfleet"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// fleet is Holdfast's own reader over the real clients.
func (l *lab) fleet() *awsfleet.Reader {
	return awsfleet.New(awsfleet.API{AutoScaling: l.autoscaling, LoadBalancing: l.elb, EC2: l.ec2},
		awsfleet.Options{Now: l.clock.Now})
}

func TestHoldfastReadsTheWorldCompletely(t *testing.T) {
	l := newLab(t)
	l.Do(func(c *sim.Cloud) {
		must(t, c.SetGroupTags("web", map[string]string{"holdfast:guard": "true"}))
		must(t, c.SetRefresh("web", "Successful"))
	})
	run := l.fleet().NewRun()
	groups, err := run.Guarded(context.Background())
	must(t, err)
	if len(groups) != 1 || groups[0].Name != "web" || !groups[0].OptedIn {
		t.Fatalf("guarded groups %+v", groups)
	}
	g, reads := run.Details(context.Background(), groups[0])
	if reads != (guard.Reads{}) {
		t.Errorf("incomplete: %+v", reads)
	}
	if len(g.Members) != 4 || g.Refresh != "Successful" {
		t.Errorf("%d members, refresh %q", len(g.Members), g.Refresh)
	}
	for _, m := range g.Members {
		if len(m.Targets) != 2 {
			t.Errorf("member %s has %d targets, want one per port", m.ID, len(m.Targets))
		}
	}
}

func TestHoldfastMarksAndHoldsInTheWorld(t *testing.T) {
	l := newLab(t)
	l.Do(func(c *sim.Cloud) { must(t, c.SetGroupTags("web", map[string]string{"holdfast:guard": "true"})) })
	actor := awsact.New(l.autoscaling, awsact.Options{})
	must(t, actor.Suspend(context.Background(), "web", []string{"ReplaceUnhealthy", "HealthCheck"}))
	id := l.member(t, "web", 0)
	must(t, actor.Mark(context.Background(), id))
	l.clock.Add(time.Minute)
	run := l.fleet().NewRun()
	_, err := run.Guarded(context.Background())
	must(t, err)
	g, err := run.Group(context.Background(), "web")
	must(t, err)
	if len(g.Suspended) != 2 || len(g.Members) != 4 {
		t.Errorf("suspended %+v, %d members", g.Suspended, len(g.Members))
	}
	must(t, actor.Restore(context.Background(), id))
	must(t, actor.Resume(context.Background(), "web", []string{"ReplaceUnhealthy", "HealthCheck"}))
	l.clock.Add(10 * time.Minute)
	l.Do(func(c *sim.Cloud) {
		if _, ok := c.Instance(id); !ok {
			t.Error("the restored member was replaced")
		}
	})
}
