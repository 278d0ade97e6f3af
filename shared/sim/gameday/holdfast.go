package gameday

import (
	"context"
	"fmt"

	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// holdfast is the real runner and decision core over the simulator's ports.
type holdfast struct{ watch *drive.Watch }

// Holdfast returns Holdfast itself at its built-in policy, sweeping once a minute; every alarm of the day is declared as a hard
// dependency of every group.
func Holdfast() Guardian { return &holdfast{} }

// Name implements Guardian.
func (*holdfast) Name() string { return "holdfast" }

// Start implements Guardian.
func (h *holdfast) Start(w *World) error {
	policy, err := drive.DeclaredPolicy(w.Cloud)
	if err != nil {
		return fmt.Errorf("start holdfast: %w", err)
	}
	policies := map[string]string{}
	for _, group := range w.Day.Groups {
		policies[group] = policy
	}
	h.watch, err = drive.Guard(context.Background(), w.Cloud, drive.Duty{Policies: policies})
	if err != nil {
		return fmt.Errorf("start holdfast: %w", err)
	}
	return nil
}

// Err is the first look that could not be carried out.
func (h *holdfast) Err() error { return h.watch.Err() }

// Pages implements Guardian.
func (h *holdfast) Pages() []Page {
	var out []Page
	for _, n := range h.watch.Notices() {
		out = append(out, Page{At: n.At, Group: n.Group, Key: n.Key, Urgent: n.Urgent, Reminder: n.Reminder})
	}
	return out
}
