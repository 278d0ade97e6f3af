package world

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// Fault is a disturbance of one operation or several. Its parts may be combined;
// several faults may match one call, and then all apply.
type Fault struct {
	// Operation is "service:Operation", "service:*" or "*".
	Operation string
	// Throttle is the probability, 0 to 1, that a call is answered with Throttling
	// "Rate exceeded" (HTTP 400).
	Throttle float64
	// FailFirst makes the next so many calls fail with Error; -1 means all.
	FailFirst int
	// Error is the failure of FailFirst and LoseFirst. The zero value is
	// InternalFailure with HTTP 500.
	Error wire.Error
	// LoseFirst carries out the next so many calls and then answers Error: the act
	// happened, the caller does not know. -1 means all.
	LoseFirst int
	// Slow delays every answer through Options.Sleep.
	Slow time.Duration
	// EmptyPages makes the next so many pages empty although a NextToken is set;
	// -1 is refused, since a client would never finish.
	EmptyPages int
	// PageMax makes pages shorter than was asked for; 0 leaves them alone.
	PageMax int
	// Stale answers a read as the same request was answered at least so long ago,
	// if there was such an answer. It does not apply to writes.
	Stale time.Duration
}

// Validate returns every reason why the fault cannot be used.
func (f Fault) Validate() error {
	var errs []error
	if f.Operation != "*" && strings.Count(f.Operation, ":") != 1 {
		errs = append(errs, fmt.Errorf("operation %q, want service:Operation, service:* or *", f.Operation))
	}
	if f.Throttle < 0 || f.Throttle > 1 {
		errs = append(errs, fmt.Errorf("throttle %v, want 0 to 1", f.Throttle))
	}
	if f.FailFirst < -1 || f.LoseFirst < -1 {
		errs = append(errs, errors.New("fail_first and lose_first want -1 or more"))
	}
	if f.EmptyPages < 0 || f.PageMax < 0 {
		errs = append(errs, errors.New("empty_pages and page_max want 0 or more"))
	}
	if f.Slow < 0 || f.Stale < 0 {
		errs = append(errs, errors.New("slow and stale want 0 or more"))
	}
	if s := f.Error.Status; s != 0 && (s < 400 || s > 599) {
		errs = append(errs, fmt.Errorf("status %d, want 400 to 599", s))
	}
	return errors.Join(errs...)
}

func (f Fault) matches(name string) bool {
	if service, ok := strings.CutSuffix(f.Operation, "*"); ok {
		return strings.HasPrefix(name, service)
	}
	return f.Operation == name
}

// failure is the error of a failing call, with its defaults.
func (f Fault) failure() *wire.Error {
	e := f.Error
	if e.Code == "" {
		e.Code = "InternalFailure"
	}
	if e.Message == "" {
		e.Message = "The request processing has failed because of an injected fault."
	}
	if e.Status == 0 {
		e.Status = http.StatusInternalServerError
	}
	return &e
}

// Throttled is how AWS refuses a call that comes too often.
// Source: Auto Scaling API reference, "Common errors".
func Throttled() *wire.Error {
	return &wire.Error{Code: "Throttling", Message: "Rate exceeded", Status: http.StatusBadRequest}
}

// SetFaults replaces all faults and their counters. Nothing changes when one of
// them is invalid.
func (s *Server) SetFaults(list ...Fault) error {
	var errs []error
	for i, f := range list {
		if err := f.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("fault %d: %w", i, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = append([]Fault(nil), list...)
	return nil
}

// Faults returns the faults as they are now, counters reduced by what happened.
func (s *Server) Faults() []Fault {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	return append([]Fault(nil), s.faults.list...)
}

// faults holds the armed faults. One generator, seeded once, draws for all.
type faults struct {
	mu   sync.Mutex
	rand *rand.Rand
	list []Fault
}

func newFaults(seed uint64) *faults {
	return &faults{rand: rand.New(rand.NewPCG(seed, 0x686f6c6466617374))}
}

// plan is what the faults do to one call.
type plan struct {
	slow  time.Duration
	fail  *wire.Error
	lost  *wire.Error
	stale time.Duration
}

func (f *faults) plan(name string) plan {
	f.mu.Lock()
	defer f.mu.Unlock()
	var p plan
	for i := range f.list {
		fault := &f.list[i]
		if !fault.matches(name) {
			continue
		}
		p.slow += fault.Slow
		p.stale = max(p.stale, fault.Stale)
		if take(&fault.FailFirst) && p.fail == nil {
			p.fail = fault.failure()
		}
		if fault.Throttle > 0 && f.rand.Float64() < fault.Throttle && p.fail == nil {
			p.fail = Throttled()
		}
		if p.fail == nil && take(&fault.LoseFirst) {
			p.lost = fault.failure()
		}
	}
	return p
}

// take uses up one of a counter; a negative counter never ends.
func take(n *int) bool {
	if *n > 0 {
		*n--
		return true
	}
	return *n < 0
}

// pages tells how a page of the operation is disturbed.
func (f *faults) pages(name string) (empty bool, most int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.list {
		fault := &f.list[i]
		if !fault.matches(name) {
			continue
		}
		if fault.PageMax > 0 && (most == 0 || fault.PageMax < most) {
			most = fault.PageMax
		}
		if !empty {
			empty = take(&fault.EmptyPages)
		}
	}
	return empty, most
}
