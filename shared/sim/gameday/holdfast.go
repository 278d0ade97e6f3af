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

// onCall is how long the person on call takes to release a hold after the cause was corrected.
const onCall = 5 * time.Minute

// holdfast is the real runner and decision core over the simulator's ports.
type holdfast struct {
	name   string
	checks []string
	byHand bool
	policy map[string]any
	world  *World
	watch  *drive.Watch
	err    error
}

// Holdfast returns Holdfast itself at its built-in policy, sweeping once a minute, on groups with EC2 health checks, which is how it
// provisions them. Every alarm of the day is declared as a hard dependency of every group. A hold that only people end is released by the
// person on call five minutes after the cause was corrected, if that person was paged.
func Holdfast() Guardian { return &holdfast{name: "holdfast", checks: []string{"EC2"}} }

// HoldfastBesideELB is Holdfast on groups that keep the health checks of the day, so that Auto Scaling marks members as well.
func HoldfastBesideELB() Guardian { return &holdfast{name: "holdfast-beside-elb"} }

// HoldfastWith is HoldfastOnCall with some policy keys set for every group, beside the groups' own health checks or, with ec2, on EC2 checks.
// A key that the policy does not know, or a value outside its range, leaves the built-in policy in force, as it does in an account.
func HoldfastWith(policy map[string]any, ec2 bool) Guardian {
	h := &holdfast{name: "holdfast-with", policy: policy, byHand: true}
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

// HoldfastOnCall is Holdfast with a person on call who does more than to release: five minutes after the cause was corrected, a person who was
// paged about a group terminates by hand the members that are still not sound, and then releases the hold. Calls by hand count in no
// measure.
func HoldfastOnCall() Guardian {
	return &holdfast{name: "holdfast-on-call", checks: []string{"EC2"}, byHand: true}
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
	if !w.Corrected.IsZero() {
		w.Cloud.At(w.Corrected.Add(onCall), func(*sim.Cloud) { h.check(h.people()) })
	}
	return nil
}

// people is what the person on call does for the groups about which they were paged.
func (h *holdfast) people() error {
	paged := map[string]bool{}
	for _, n := range h.watch.Notices() {
		if !n.Urgent || paged[n.Group] || n.Key != guard.PageNotConverging && !h.byHand {
			continue
		}
		paged[n.Group] = true
		if h.byHand {
			for _, wrong := range h.world.Wrong(n.Group) {
				if err := h.world.Cloud.TerminateMember(wrong.ID); err != nil {
					return fmt.Errorf("terminate by hand: %w", err)
				}
			}
		}
		if err := h.watch.Release(n.Group, "the cause was corrected"); err != nil {
			return err
		}
	}
	return nil
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
