package world

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world/bus"
	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
	"github.com/holdfast-aws/holdfast/localstack/world/lambdart"
	"github.com/holdfast-aws/holdfast/localstack/world/params"
	"github.com/holdfast-aws/holdfast/localstack/world/queue"
	"github.com/holdfast-aws/holdfast/localstack/world/topics"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// stepMax is the longest step of the clock in Region.Advance. Events are delivered between steps, so it is also how late an alarm's
// event may be.
const stepMax = time.Second

// Handler is a Lambda function that runs in this process.
type Handler func(ctx context.Context, payload []byte) ([]byte, error)

// Invocation is one invocation of a function by the bus.
type Invocation struct {
	// At is the time on the Region's clock.
	At       time.Time `json:"at"`
	Function string    `json:"function"`
	Payload  string    `json:"payload"`
	// Answer is what the function returned, Error why it failed; one of them is empty.
	Answer string        `json:"answer,omitempty"`
	Error  string        `json:"error,omitempty"`
	Took   time.Duration `json:"took"`
}

// Region is everything in one: the simulated services, tables, parameters, queues, topics, a bus with rules, and functions, over one clock
// that only Advance moves. It is an http.Handler and safe for concurrent use.
type Region struct {
	*Server
	Clock  *Clock
	Tables *dynamo.Tables
	Params *params.Store
	Queues *queue.Queues
	Topics *topics.Topics
	Bus    *bus.Bus

	stepping  sync.Mutex // held while the clock moves
	functions lambdart.Functions

	mu          sync.Mutex
	handlers    map[string]Handler
	invocations []Invocation
	errs        []error
	notices     []bus.Event
}

// NewRegion returns a Region in which nothing but Holdfast's two tables exists; the simulator starts at c.Start.
func NewRegion(c sim.Config) (*Region, error) {
	cloud := sim.NewCloud(c)
	clock := NewClock(cloud.Now())
	region, account := cloud.Config().Region, cloud.Config().Account
	r := &Region{
		Clock:    clock,
		Tables:   dynamo.New(dynamo.Options{Now: clock.Now, Region: region, Account: account}),
		Params:   params.New(params.Options{Now: clock.Now, Region: region, Account: account}),
		Queues:   queue.New(queue.Options{Now: clock.Now, Region: region, Account: account}),
		handlers: map[string]Handler{},
	}
	r.Topics = topics.New(topics.Options{Now: clock.Now, Region: region, Account: account, Queues: r.Queues})
	r.Bus = bus.New(bus.Options{Now: clock.Now, Region: region, Account: account, Invoker: r, Queues: r.Queues})
	cloud.OnBeat, cloud.OnAlarm = r.storeBeat, r.publishAlarm
	r.Server = New(Options{
		Cloud: cloud, Now: clock.Now, Seed: c.Seed,
		// A slow answer takes real time: the clock stands still while a function runs.
		Sleep: func(ctx context.Context, d time.Duration) {
			select {
			case <-ctx.Done():
			case <-time.After(d):
			}
		},
	})
	r.Mount(r.Tables.Mount())
	r.Mount(r.Params.Mount())
	r.Mount(r.Queues.Mount())
	r.Mount(r.Topics.Mount())
	r.Mount(r.Bus.Mount())
	for _, path := range adminPaths() {
		r.HandlePath(path, r.adminHandler())
	}
	if _, err := r.Bus.Subscribe(`{"source":["holdfast"]}`, r.keepNotice); err != nil {
		return nil, fmt.Errorf("subscribe to notices: %w", err)
	}
	return r, r.createTables()
}

// Serve makes a function of this process known to the bus under a name.
func (r *Region) Serve(function string, h Handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handlers[function] = h
}

// Start starts a built function, which the bus then knows under its name. Close ends it.
func (r *Region) Start(ctx context.Context, spec lambdart.FunctionSpec) (*lambdart.Function, error) {
	f, err := lambdart.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	r.functions.Add(f)
	return f, nil
}

// Close ends the processes of all functions.
func (r *Region) Close() { r.functions.Close() }

// Invoke implements bus.Invoker. As with AWS's asynchronous invocation, a function that fails is no error here: it stands in
// Invocations.
func (r *Region) Invoke(ctx context.Context, function string, payload []byte) error {
	r.mu.Lock()
	h := r.handlers[function]
	r.mu.Unlock()
	inv := Invocation{At: r.Clock.Now(), Function: function, Payload: string(payload)}
	if h != nil {
		answer, err := h(ctx, payload)
		inv.Answer = string(answer)
		if err != nil {
			inv.Answer, inv.Error = "", err.Error()
		}
	} else {
		res, err := r.functions.Invoke(ctx, function, payload)
		if errors.Is(err, lambdart.ErrUnknownFunction) {
			return fmt.Errorf("%w: %w", bus.ErrNoTarget, err)
		}
		if err != nil {
			return err
		}
		inv.Took, inv.Answer = res.Took, string(res.Payload)
		if res.FunctionError != "" {
			inv.Answer, inv.Error = "", res.FunctionError+": "+string(res.Payload)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.invocations = append(r.invocations, inv)
	return nil
}

// Invocations returns all invocations by the bus so far.
func (r *Region) Invocations() []Invocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Invocation(nil), r.invocations...)
}

// Notices returns Holdfast's own events so far, in the order of their delivery.
func (r *Region) Notices() []bus.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]bus.Event(nil), r.notices...)
}

func (r *Region) keepNotice(_ context.Context, e bus.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notices = append(r.notices, e)
	return nil
}

// Advance moves the clock in steps of at most a second. After each, the simulator catches up, what is due on the bus goes out, and
// the functions that it invokes run to their end while the clock stands still. It returns the context's error, or what went wrong
// inside, such as an event that could not be made.
func (r *Region) Advance(ctx context.Context, d time.Duration) error {
	r.stepping.Lock()
	defer r.stepping.Unlock()
	for d > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		step := min(d, stepMax)
		d -= step
		r.Clock.Add(step)
		r.Do(nil)
		if _, err := r.Bus.Tick(r.Clock.Now()); err != nil {
			return fmt.Errorf("tick: %w", err)
		}
		r.Bus.Deliver(ctx)
		r.mu.Lock()
		err := errors.Join(r.errs...)
		r.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// failed keeps an error of a callback, which has nobody to return it to, for Advance.
func (r *Region) failed(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}
