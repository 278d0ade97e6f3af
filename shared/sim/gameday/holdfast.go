package gameday

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// How long the person on call takes to run what a page says: after the cause was corrected, and after a page that says that the budget
// blocks a release, which the person reads in the night.
const (
	afterCorrection = 5 * time.Minute
	afterPage       = 15 * time.Minute
)

// holdfast is the real runner and decision core over the simulator's ports.
type holdfast struct {
	name   string
	checks []string
	// alone says that nobody is on call.
	alone  bool
	policy map[string]any
	world  *World
	watch  *drive.Watch
	err    error
}

// Holdfast returns Holdfast itself at its built-in policy, sweeping once a minute, on groups with EC2 health checks, which is how it
// provisions them. Every alarm of the day is declared as a hard dependency of every group.
//
// One person is on call and does one thing, holdfast release --force, for a group about which there was an urgent page: five minutes after
// somebody corrected the cause, on the days on which people do, and fifteen minutes after a page resume-blocked, reminders included.
func Holdfast() Guardian { return &holdfast{name: "holdfast", checks: []string{"EC2"}} }

// HoldfastUnattended is Holdfast with nobody on call.
func HoldfastUnattended() Guardian {
	return &holdfast{name: "holdfast-unattended", checks: []string{"EC2"}, alone: true}
}

// HoldfastBesideELB is Holdfast on groups that keep the health checks of the day, so that Auto Scaling marks members as well.
func HoldfastBesideELB() Guardian { return &holdfast{name: "holdfast-beside-elb"} }

// HoldfastWith is Holdfast with some policy keys set for every group, beside the groups' own health checks or, with ec2, on EC2 checks.
// A key that the policy does not know, or a value outside its range, leaves the built-in policy in force, as it does in an account.
func HoldfastWith(policy map[string]any, ec2 bool) Guardian {
	h := &holdfast{name: "holdfast-with", policy: policy}
	if ec2 {
		h.checks = []string{"EC2"}
	}
	return h
}

// declared is the policy of every group: its dependencies, and the keys that were set.
func (h *holdfast) declared(w *World) (string, error) {
	text, err := drive.DeclaredPolicy(w.Cloud)
	if err != nil || len(h.policy) == 0 {
		return text, err
	}
	keys := map[string]any{}
	if err := json.Unmarshal([]byte(text), &keys); err != nil {
		return "", fmt.Errorf("decode policy: %w", err)
	}
	maps.Copy(keys, h.policy)
	merged, err := json.Marshal(keys)
	if err != nil {
		return "", fmt.Errorf("encode policy: %w", err)
	}
	return string(merged), nil
}

// Name implements Guardian.
func (h *holdfast) Name() string { return h.name }

// Start implements Guardian.
func (h *holdfast) Start(w *World) error {
	h.world = w
	policy, err := h.declared(w)
	if err != nil {
		return fmt.Errorf("start holdfast: %w", err)
	}
	policies := map[string]string{}
	for _, group := range w.Day.Groups {
		policies[group] = policy
		if err := drive.SetChecks(w.Cloud, group, h.checks); err != nil {
			return fmt.Errorf("start holdfast: %w", err)
		}
	}
	h.watch, err = drive.Guard(context.Background(), w.Cloud, drive.Duty{Policies: policies, Fast: true})
	if err != nil {
		return fmt.Errorf("start holdfast: %w", err)
	}
	if h.alone {
		return nil
	}
	if !w.Corrected.IsZero() {
		w.Cloud.At(w.Corrected.Add(afterCorrection), func(*sim.Cloud) { h.corrected() })
	}
	h.answer(0)
	return nil
}

// corrected is what the person on call does for the groups about which there was an urgent page.
func (h *holdfast) corrected() {
	paged := map[string]bool{}
	for _, n := range h.watch.Notices() {
		if n.Urgent && !paged[n.Group] {
			paged[n.Group] = true
			h.check(h.watch.Release(n.Group, "the cause was corrected"))
		}
	}
}

// answer looks once a minute for pages after the first few that ask for a person's release, and plans it.
func (h *holdfast) answer(read int) {
	h.world.Cloud.At(h.world.Cloud.Now().Add(time.Minute), func(c *sim.Cloud) {
		fresh := h.watch.NoticesAfter(read)
		for _, n := range fresh {
			if n.Key == guard.PageResumeBlocked {
				c.At(n.At.Add(afterPage), func(*sim.Cloud) { h.check(h.watch.Release(n.Group, "those left are broken")) })
			}
		}
		h.answer(read + len(fresh))
	})
}

func (h *holdfast) check(err error) {
	if err != nil && h.err == nil {
		h.err = err
	}
}

// Err is the first look that could not be carried out.
func (h *holdfast) Err() error {
	if h.err != nil {
		return h.err
	}
	return h.watch.Err()
}

// Pages implements Guardian.
func (h *holdfast) Pages() []Page {
	var out []Page
	for _, n := range h.watch.Notices() {
		out = append(out, Page{At: n.At, Group: n.Group, Key: n.Key, Urgent: n.Urgent, Reminder: n.Reminder})
	}
	return out
}
