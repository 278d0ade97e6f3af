package baseline

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// ErrOneLimit is the error of a NodeHealthCheck with both limits or none.
var ErrOneLimit = errors.New("want exactly one of MinHealthy and MaxUnhealthy")

// NodeHealthCheck is the rule of the medik8s node-healthcheck-operator.
//
// A node that is not ready, or unknown, for Duration is remediated, at any number in flight, while enough nodes of its pool are healthy.
// When too few are, new remediations stop and running ones go on: a storm. The storm ends when enough were healthy for Cooldown without
// a break; a new dip starts that time anew. While anybody asks for a pause nothing new is remediated. Only nodes count: a machine that
// never joined is none.
//
// Source: node-healthcheck-operator at dd444329 (July 2026), its API types and controller, and its documentation: Duration 300 s,
// minHealthy 51 % in the examples, a percentage rounds up, Cooldown is off unless set; exactly one of the two limits is set.
//
// Left out: escalating remediations, leases shared with other operators, the check for a cluster upgrade, the rules for control planes,
// and the delay before a node that is well again counts as healthy.
type NodeHealthCheck struct {
	// MinHealthy is the fewest healthy nodes, MaxUnhealthy the most unhealthy ones, with which any is remediated. One of the two is empty.
	MinHealthy, MaxUnhealthy Amount
	// Duration is how long a node may be unwell.
	Duration time.Duration
	// Cooldown is how long a storm lasts after enough nodes are healthy again; 0 ends it at once.
	Cooldown time.Duration
	// PauseRequests are the reasons of those who want no remediation at present.
	PauseRequests []string
}

// DefaultNodeHealthCheck is the rule with the numbers of its documentation.
func DefaultNodeHealthCheck() NodeHealthCheck {
	return NodeHealthCheck{MinHealthy: "51%", Duration: 300 * time.Second}
}

// Validate returns ErrOneLimit unless exactly one limit is set, and ErrAmount for one that cannot be read.
func (r NodeHealthCheck) Validate() error {
	if (r.MinHealthy == "") == (r.MaxUnhealthy == "") {
		return ErrOneLimit
	}
	_, err := r.Fewest(0)
	return err
}

// Fewest is the fewest healthy nodes of so many with which any is remediated.
func (r NodeHealthCheck) Fewest(nodes int) (int, error) {
	if r.MinHealthy != "" {
		return r.MinHealthy.Of(nodes, true)
	}
	most, err := r.MaxUnhealthy.Of(nodes, true)
	return nodes - most, err
}

// NodeHealthCheckMemory is what the operator remembers of each pool; the zero value is one that just started.
type NodeHealthCheckMemory struct {
	storms map[string]storm
}

// storm is a time without new remediations.
type storm struct {
	enough time.Time // since when enough nodes are healthy again; zero while too few are
}

// Storm says whether a pool is in a storm, and since when enough of its nodes are healthy again: zero while too few are.
func (m *NodeHealthCheckMemory) Storm(pool string) (active bool, enough time.Time) {
	s, active := m.storms[pool]
	return active, s.enough
}

// Decide remediates pool by pool.
func (r NodeHealthCheck) Decide(o Observation, m *NodeHealthCheckMemory) Action {
	if m.storms == nil {
		m.storms = map[string]storm{}
	}
	var a Action
	o.pools(func(pool string, machines []Machine) {
		nodes, healthy := 0, 0
		var due []string
		for _, n := range machines {
			if n.Pending || n.Readiness == Unseen || n.Excluded {
				continue
			}
			nodes++
			switch left := n.Since.Add(r.Duration).Sub(o.Now); {
			case !n.Bad():
				healthy++
			case n.Leaving || n.Marked:
			case left > 0:
				a.recheck(left)
			default:
				due = append(due, n.ID)
			}
		}
		why := r.refuses(&a, o.Now, m, poolCount{pool, nodes, healthy})
		switch {
		case len(due) == 0:
		case why != "":
			a.Why = why
		default:
			a.Replace = append(a.Replace, due...)
		}
	})
	return a
}

type poolCount struct {
	pool           string
	nodes, healthy int
}

// refuses says why nothing new of a pool is remediated, and keeps its storm.
func (r NodeHealthCheck) refuses(a *Action, now time.Time, m *NodeHealthCheckMemory, p poolCount) string {
	fewest, err := r.Fewest(p.nodes)
	if err != nil {
		return err.Error()
	}
	s, active := m.storms[p.pool]
	switch {
	case p.healthy < fewest:
		m.storms[p.pool] = storm{}
		return fmt.Sprintf("%d of %d healthy, at least %d", p.healthy, p.nodes, fewest)
	case active && s.enough.IsZero():
		s.enough = now
		m.storms[p.pool] = s
	}
	if active {
		if left := s.enough.Add(r.Cooldown).Sub(now); left > 0 {
			a.recheck(left)
			return fmt.Sprintf("the storm ends in %s", left)
		}
		delete(m.storms, p.pool)
	}
	if len(r.PauseRequests) > 0 {
		return "paused: " + r.PauseRequests[0]
	}
	return ""
}

// Guardian puts the rule on watch. It looks every 15 s, where the original is woken by changes; a node is Unknown after 40 s of silence.
func (r NodeHealthCheck) Guardian() gameday.Guardian {
	memory := &NodeHealthCheckMemory{}
	return &watch{
		name: "node-healthcheck-51-percent", period: 15 * time.Second, silence: nodeSilence,
		decide: func(o Observation) Action { return r.Decide(o, memory) },
	}
}
