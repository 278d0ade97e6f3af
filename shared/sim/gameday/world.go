package gameday

import (
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Wrong is a member with which something is really wrong.
type Wrong struct {
	ID    string
	Truth sim.Truth
	// Since is when it broke, or when it became InService from a bad launch template version.
	Since time.Time
	// Helps says that replacing it helps: a member launched at this moment would come to serve.
	Helps bool
}

// Wrong lists the InService members of a group that are not sound at this moment, in the order of [sim.Group.Members]. It asks the
// simulator's truth, which no guardian but the oracle may.
func (w *World) Wrong(group string) []Wrong {
	g, ok := w.Cloud.Group(group)
	if !ok {
		return nil
	}
	var out []Wrong
	for _, m := range g.Members {
		truth, ok := w.Cloud.Truth(m.ID)
		if !ok || truth.Sound || m.Lifecycle != sim.InService {
			continue
		}
		since := truth.BrokenSince
		if since.IsZero() || truth.BadVersion && m.EnteredInService.Before(since) {
			since = m.EnteredInService
		}
		out = append(out, Wrong{ID: m.ID, Truth: truth, Since: since, Helps: w.Cloud.LaunchWouldServe(group)})
	}
	return out
}
