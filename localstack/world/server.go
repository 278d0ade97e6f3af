package world

import (
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// Options are what a Server needs from outside.
type Options struct {
	// Cloud is the state behind the simulated services. The Server owns it from
	// then on: use Server.Do for every other access. Nil serves mounted services only.
	Cloud *sim.Cloud
	// Now is the clock; required.
	Now func() time.Time
	// Sleep waits for slow answers; nil answers at once. It must return early when
	// the context ends.
	Sleep func(ctx context.Context, d time.Duration)
	// Seed drives the random faults.
	Seed uint64
	// OnCall, when set, is told about each call after it was answered, in the order
	// of Entry.Seq only as far as the callers themselves were in order.
	OnCall func(Entry)
}

// Entry is one answered call.
type Entry struct {
	// Seq counts calls from 1 in the order of their arrival.
	Seq int `json:"seq"`
	// Service and Operation name the call, for example "autoscaling" and "SetInstanceHealth".
	Service   string `json:"service"`
	Operation string `json:"operation"`
	// At is the time of arrival by Options.Now.
	At time.Time `json:"at"`
	// Status is the HTTP status of the answer.
	Status int `json:"status"`
	// Code is the error code of a failed call, else empty.
	Code string `json:"code,omitempty"`
}

// Name returns service and operation as faults and counters spell them.
func (e Entry) Name() string { return e.Service + ":" + e.Operation }

// Server is the embedded AWS. It is safe for concurrent use; the zero value does
// not work, use New.
type Server struct {
	now    func() time.Time
	sleep  func(context.Context, time.Duration)
	onCall func(Entry)
	faults *faults

	cloudMu sync.Mutex
	cloud   *sim.Cloud

	mu     sync.Mutex
	mounts map[string]wire.Mount
	paths  map[string]http.Handler
	log    []Entry
	calls  map[string]int
	past   *past
	checks []StatusCheck
	// suppressed are the instances whose application status checks are.
	suppressed []string
}

// New returns a server with the simulated services mounted.
func New(o Options) *Server {
	s := &Server{
		now:    o.Now,
		sleep:  o.Sleep,
		onCall: o.OnCall,
		cloud:  o.Cloud,
		faults: newFaults(o.Seed),
		mounts: map[string]wire.Mount{},
		paths:  map[string]http.Handler{},
		calls:  map[string]int{},
		past:   &past{},
	}
	if s.sleep == nil {
		s.sleep = func(context.Context, time.Duration) {}
	}
	s.paths["/_world/"] = http.HandlerFunc(s.admin)
	if s.cloud != nil {
		for _, m := range simulated(s) {
			s.Mount(m)
		}
	}
	return s
}

// Mount adds a service. A second mount with the same key replaces the first.
func (s *Server) Mount(m wire.Mount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mounts[m.Key] = m
}

// HandlePath serves every path that begins with prefix by h, past faults and
// counters. It is for endpoints that are no AWS operation, such as the Lambda
// runtime interface. The longest prefix wins.
func (s *Server) HandlePath(prefix string, h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths[prefix] = h
}

// Do advances the simulator to the present and gives fn exclusive access to it.
// fn must not keep the cloud and must not call the server.
func (s *Server) Do(fn func(*sim.Cloud)) {
	s.cloudMu.Lock()
	defer s.cloudMu.Unlock()
	if s.cloud == nil {
		return
	}
	s.cloud.Advance(s.now())
	if fn != nil {
		fn(s.cloud)
	}
}

// Calls returns how often each operation was called, by "service:Operation".
func (s *Server) Calls() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls)
}

// Log returns all answered calls in the order of their arrival.
func (s *Server) Log() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Entry(nil), s.log...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s.pathHandler(r.URL.Path); h != nil {
		h.ServeHTTP(w, r)
		return
	}
	body, err := wire.ReadBody(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	target, err := wire.TargetOf(r, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	mount, ok := s.mounts[target.Key]
	s.mu.Unlock()
	if !ok {
		http.Error(w, fmt.Sprintf("operation %q of service %q is not part of the embedded AWS", target.Operation, target.Key), http.StatusNotImplemented)
		return
	}
	if mount.Codec, err = mount.CodecFor(r.Header); err != nil {
		http.Error(w, err.Error(), http.StatusUnsupportedMediaType)
		return
	}
	s.serve(r.Context(), w, request{mount: mount, operation: target.Operation, media: r.Header.Get("Content-Type"), body: body})
}

func (s *Server) pathHandler(path string) http.Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	var longest string
	for prefix := range s.paths {
		if strings.HasPrefix(path, prefix) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	return s.paths[longest]
}

// request is one call on its way through the server.
type request struct {
	mount     wire.Mount
	operation string
	media     string // Content-Type
	body      []byte
	entry     int // index in the log
	id        string
	at        time.Time
}

func (r request) name() string { return r.mount.Name + ":" + r.operation }

func (s *Server) serve(ctx context.Context, w http.ResponseWriter, req request) {
	req.at = s.now()
	s.mu.Lock()
	req.entry = len(s.log)
	s.log = append(s.log, Entry{Seq: req.entry + 1, Service: req.mount.Name, Operation: req.operation, At: req.at})
	s.calls[req.name()]++
	s.mu.Unlock()
	req.id = fmt.Sprintf("00000000-0000-4000-8000-%012x", req.entry+1)

	resp, code := s.answer(ctx, req)

	s.mu.Lock()
	s.log[req.entry].Status, s.log[req.entry].Code = resp.Status, code
	entry := s.log[req.entry]
	s.mu.Unlock()
	if s.onCall != nil {
		s.onCall(entry)
	}
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.Header().Set("X-Amzn-Requestid", req.id)
	if req.mount.Name == "dynamodb" {
		// DynamoDB sums every body and its client checks the sum. Source: SDK, service/dynamodb/internal/customizations.
		w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(resp.Body)), 10))
	}
	w.WriteHeader(resp.Status)
	// A client that hung up has already decided; there is nobody left to tell.
	_, _ = w.Write(resp.Body)
}

// answer applies the faults around the service's own answer.
func (s *Server) answer(ctx context.Context, req request) (wire.Response, string) {
	plan := s.faults.plan(req.name())
	if plan.slow > 0 {
		s.sleep(ctx, plan.slow)
	}
	if plan.fail != nil {
		return req.mount.Codec.EncodeError(req.id, plan.fail), plan.fail.Code
	}
	if plan.stale > 0 {
		if old, ok := s.past.before(req, s.now().Add(-plan.stale)); ok {
			return old, ""
		}
	}
	s.Do(nil)
	out, err := req.mount.Service.Handle(ctx, wire.NewCall(req.mount.Codec, req.operation, req.body))
	if err == nil && plan.lost != nil {
		err = plan.lost
	}
	if err != nil {
		return req.mount.Codec.EncodeError(req.id, err), wire.CodeOf(err)
	}
	resp, err := req.mount.Codec.Encode(wire.Reply{Operation: req.operation, RequestID: req.id, Output: out})
	if err != nil {
		return req.mount.Codec.EncodeError(req.id, err), wire.CodeOf(err)
	}
	s.past.keep(req, resp)
	return resp, ""
}
