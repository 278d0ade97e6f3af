package world

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world/topics"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// ClockVariable names the environment variable under which a function that was built for this Region finds its clock.
const ClockVariable = "HOLDFAST_WORLD_CLOCK"

// clockPath answers the time as text, RFC 3339.
const clockPath = "/_world/clock"

func adminPaths() []string {
	return []string{
		clockPath, "/_world/time", "/_world/break", "/_world/repair", "/_world/dependency", "/_world/groups", "/_world/timeline",
		"/_world/notices", "/_world/pages", "/_world/invocations",
	}
}

// order is what a person may send to the endpoints that change something; each uses some of the fields.
type order struct {
	Advance   string  `json:"advance"`
	Instance  string  `json:"instance"`
	Kind      string  `json:"kind"`
	Name      string  `json:"name"`
	State     string  `json:"state"`
	FailShare float64 `json:"fail_share"`
}

// adminHandler answers what a person asks of a Region: GET clock, groups, timeline, notices, pages and invocations; POST time
// {"advance":"5m"}, break {"instance","kind"}, repair {"instance"} and dependency {"name","state","fail_share"}.
func (r *Region) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+clockPath, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, r.Clock.Now().Format(time.RFC3339Nano)) // only a closed connection can fail here
	})
	mux.HandleFunc("GET /_world/groups", func(w http.ResponseWriter, _ *http.Request) {
		samples := []sim.Sample{}
		r.Do(func(c *sim.Cloud) {
			for _, g := range c.Groups() {
				if s, err := c.SampleNow(g.Name); err == nil {
					samples = append(samples, s)
				}
			}
		})
		writeJSON(w, samples)
	})
	mux.HandleFunc("GET /_world/timeline", func(w http.ResponseWriter, _ *http.Request) {
		var events []sim.Event
		r.Do(func(c *sim.Cloud) { events = c.Timeline() })
		writeJSON(w, events)
	})
	mux.HandleFunc("GET /_world/notices", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, r.Notices()) })
	mux.HandleFunc("GET /_world/pages", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, pages(r.Topics.Sent())) })
	mux.HandleFunc("GET /_world/invocations", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, r.Invocations()) })
	mux.HandleFunc("POST /_world/time", r.ordered(func(req *http.Request, o order) error {
		d, err := time.ParseDuration(o.Advance)
		if err != nil || d < 0 || d > 24*time.Hour {
			return fmt.Errorf("advance %q, want a duration from 0s to 24h", o.Advance)
		}
		return r.Advance(req.Context(), d)
	}))
	mux.HandleFunc("POST /_world/break", r.onCloud(func(c *sim.Cloud, o order) error { return c.Break(o.Instance, sim.Kind(o.Kind)) }))
	mux.HandleFunc("POST /_world/repair", r.onCloud(func(c *sim.Cloud, o order) error { return c.Repair(o.Instance) }))
	mux.HandleFunc("POST /_world/dependency", r.onCloud(func(c *sim.Cloud, o order) error {
		return setDependency(c, o)
	}))
	return mux
}

// pages are messages as a person reads them.
func pages(sent []topics.Message) string {
	var out strings.Builder
	for _, m := range sent {
		fmt.Fprintf(&out, "%s to %s\nSubject: %s\n\n%s\n\n", m.At.Format(time.RFC3339), m.TopicARN, m.Subject, m.Text)
	}
	return out.String()
}

// setDependency obeys an order about a dependency. The simulator takes any name, because a fleet may be made after its dependencies; an
// order about one that nothing here needs would change nothing, so that its name was probably misspelt.
func setDependency(c *sim.Cloud, o order) error {
	state := sim.DependencyState(o.State)
	known := dependencies(c)
	if slices.Contains(sim.DependencyStates(), state) && !slices.Contains(known, o.Name) { // a state that is none is SetDependency's to refuse
		if len(known) == 0 {
			return fmt.Errorf("set dependency %q: no group and no alarm here has a dependency", o.Name)
		}
		return fmt.Errorf("set dependency %q, want one that a group or an alarm here has: %s", o.Name, strings.Join(known, ", "))
	}
	return c.SetDependency(o.Name, state, o.FailShare)
}

// dependencies names what the groups need and the alarms watch, sorted.
func dependencies(c *sim.Cloud) []string {
	var names []string
	for _, g := range c.Groups() {
		names = append(names, c.DependenciesOf(g.Name)...)
	}
	for _, a := range c.Alarms() {
		if a.Dependency != "" {
			names = append(names, a.Dependency)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// onCloud obeys an order that changes the simulator.
func (r *Region) onCloud(do func(*sim.Cloud, order) error) http.HandlerFunc {
	return r.ordered(func(_ *http.Request, o order) error {
		var err error
		r.Do(func(c *sim.Cloud) { err = do(c, o) })
		return err
	})
}

// ordered decodes an order, strictly, and answers 204, or 400 with what is wrong.
func (r *Region) ordered(do func(*http.Request, order) error) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		var o order
		dec := json.NewDecoder(http.MaxBytesReader(w, req.Body, 1<<16))
		dec.DisallowUnknownFields()
		err := dec.Decode(&o)
		if err == nil {
			err = do(req, o)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}
