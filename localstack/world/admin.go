package world

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// faultJSON is a Fault as the admin endpoint spells it; durations are Go duration
// texts such as "250ms".
type faultJSON struct {
	Operation  string  `json:"operation"`
	Throttle   float64 `json:"throttle,omitempty"`
	FailFirst  int     `json:"fail_first,omitempty"`
	LoseFirst  int     `json:"lose_first,omitempty"`
	Code       string  `json:"code,omitempty"`
	Message    string  `json:"message,omitempty"`
	Status     int     `json:"status,omitempty"`
	Slow       string  `json:"slow,omitempty"`
	EmptyPages int     `json:"empty_pages,omitempty"`
	PageMax    int     `json:"page_max,omitempty"`
	Stale      string  `json:"stale,omitempty"`
}

func (j faultJSON) fault() (Fault, error) {
	slow, err := duration(j.Slow)
	if err != nil {
		return Fault{}, fmt.Errorf("slow: %w", err)
	}
	stale, err := duration(j.Stale)
	if err != nil {
		return Fault{}, fmt.Errorf("stale: %w", err)
	}
	return Fault{
		Operation: j.Operation, Throttle: j.Throttle, FailFirst: j.FailFirst, LoseFirst: j.LoseFirst,
		Error: wire.Error{Code: j.Code, Message: j.Message, Status: j.Status},
		Slow:  slow, EmptyPages: j.EmptyPages, PageMax: j.PageMax, Stale: stale,
	}, nil
}

func duration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	return time.ParseDuration(text)
}

func jsonOf(f Fault) faultJSON {
	j := faultJSON{
		Operation: f.Operation, Throttle: f.Throttle, FailFirst: f.FailFirst, LoseFirst: f.LoseFirst,
		Code: f.Error.Code, Message: f.Error.Message, Status: f.Error.Status,
		EmptyPages: f.EmptyPages, PageMax: f.PageMax,
	}
	if f.Slow > 0 {
		j.Slow = f.Slow.String()
	}
	if f.Stale > 0 {
		j.Stale = f.Stale.String()
	}
	return j
}

// admin serves /_world/faults (GET, PUT with a JSON array, DELETE), /_world/calls
// (the counters) and /_world/log (every call in order).
func (s *Server) admin(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "GET /_world/faults":
		list := []faultJSON{}
		for _, f := range s.Faults() {
			list = append(list, jsonOf(f))
		}
		writeJSON(w, list)
	case "PUT /_world/faults":
		if err := s.putFaults(w, r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	case "DELETE /_world/faults":
		if err := s.SetFaults(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	case "GET /_world/calls":
		writeJSON(w, s.Calls())
	case "GET /_world/log":
		writeJSON(w, s.Log())
	default:
		http.Error(w, "the embedded AWS has no such page", http.StatusNotFound)
	}
}

func (s *Server) putFaults(w http.ResponseWriter, r *http.Request) error {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	dec.DisallowUnknownFields()
	var list []faultJSON
	if err := dec.Decode(&list); err != nil {
		return fmt.Errorf("decode faults: %w", err)
	}
	faults := make([]Fault, 0, len(list))
	for i, j := range list {
		f, err := j.fault()
		if err != nil {
			return fmt.Errorf("fault %d: %w", i, err)
		}
		faults = append(faults, f)
	}
	return s.SetFaults(faults...)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	// The values are plain; only a closed connection can fail here.
	_ = json.NewEncoder(w).Encode(v)
}
