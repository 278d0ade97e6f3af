package heartbeat

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strings"
)

// Health returns the handler for the load balancer's probe. It says 200 or 503 and nothing else: no body, no name, no version. It makes
// no look of its own, so that it is cheap however often it is asked.
//
// Inside an application, mount it on the application's own server, behind the same worker pool as the requests: then the probe travels
// the path that traffic takes, and a pool that is exhausted answers no probe either. through, if it is not nil, is tried on that path
// within the handler's timeout, for example taking and giving back a worker; it must stay on this host.
func (a *Agent) Health(through func(ctx context.Context) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusServiceUnavailable
		if a.serves() && a.passes(r.Context(), through) {
			status = http.StatusOK
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(status)
	})
}

func (a *Agent) passes(ctx context.Context, through func(context.Context) error) bool {
	if through == nil {
		return true
	}
	bounded, cancel := context.WithTimeout(ctx, a.o.Nesting.Handler)
	defer cancel()
	answer := make(chan error, 1)
	go func() { answer <- guarded(bounded, through) }()
	select {
	case err := <-answer:
		return err == nil
	case <-bounded.Done():
		return false
	}
}

// debugStatus is the body of the debug status. Ages are seconds.
type debugStatus struct {
	Status       string       `json:"status"`
	Serves       bool         `json:"serves"`
	Started      bool         `json:"started"`
	Leaving      bool         `json:"leaving"`
	LeavingError string       `json:"leaving_error,omitempty"`
	Connected    bool         `json:"connected"`
	Beats        int64        `json:"beats"`
	Tries        int64        `json:"tries"`
	Overdue      int64        `json:"overdue"`
	LastBeatAge  float64      `json:"last_beat_age_seconds,omitempty"`
	LastError    string       `json:"last_write_error,omitempty"`
	LastErrorAge float64      `json:"last_write_error_age_seconds,omitempty"`
	Checks       []debugCheck `json:"checks"`
}

type debugCheck struct {
	Name        string  `json:"name"`
	Kind        string  `json:"kind"`
	Looks       int     `json:"looks"`
	FailedInRow int     `json:"failed_in_row"`
	Failing     bool    `json:"failing"`
	Detail      string  `json:"detail,omitempty"`
	Age         float64 `json:"age_seconds"`
	Took        float64 `json:"took_seconds"`
}

// Debug returns the handler for people: results and ages of all checks, and the last write error, as JSON. It wants the header
// "Authorization: Bearer TOKEN", compared in constant time, and tells nothing without it. With an empty token it is not there: 404.
func (a *Agent) Debug(token string) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if token == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		given, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		// The sums have one length whatever was given, so that not even the token's length shows in the time.
		got := sha256.Sum256([]byte(given))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 || !isBearer {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, err := json.MarshalIndent(a.debug(), "", "  ")
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(body, '\n')) // a client that hung up wants no answer
	})
}

func (a *Agent) debug() debugStatus {
	s := a.Stats()
	d := debugStatus{
		Status: a.report().Status, Serves: a.serves(), Connected: s.Connected, Beats: s.Beats, Tries: s.Tries, Overdue: s.Overdue,
		LastBeatAge: s.LastBeat.Seconds(), LastError: s.LastError, LastErrorAge: s.LastErrorAge.Seconds(), LeavingError: s.LeavingError,
		Checks: []debugCheck{},
	}
	a.mu.Lock()
	d.Started, d.Leaving = a.started, a.leaving || a.ending
	a.mu.Unlock()
	for _, r := range a.board.results() {
		kind := "hard"
		switch {
		case r.Dependency:
			kind = "dependency"
		case r.Soft:
			kind = "soft"
		}
		d.Checks = append(d.Checks, debugCheck{
			Name: r.Name, Kind: kind, Looks: r.Looks, FailedInRow: r.FailedInRow, Failing: r.Failing, Detail: r.Detail,
			Age: r.Age.Seconds(), Took: r.Took.Seconds(),
		})
	}
	return d
}
