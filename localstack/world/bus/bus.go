package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
)

// ErrNoTarget is what a target says that does not exist or may not be called. AWS does not retry these.
var ErrNoTarget = errors.New("target does not exist")

// Invoker hands an event to a Lambda function. AWS invokes asynchronously: an error means that the function was not
// reached, never that it failed. It should wrap ErrNoTarget for a name that it does not know.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) error
}

// Queues puts messages into SQS queues; queue.Queues is one.
type Queues interface {
	Deliver(arn, body string, attributes map[string]string) error
}

// Options configure a Bus.
type Options struct {
	// Now is the clock of events, retries and event age. Required.
	Now func() time.Time
	// Region and Account appear in events and ARNs. Empty means us-east-1 and 111122223333.
	Region, Account string
	// Invoker and Queues are where targets lead; a rule whose target has none is refused.
	Invoker Invoker
	Queues  Queues
}

// Hooks inject what AWS does now and then. They run under the bus's lock, so they must not call back. A nil hook
// injects nothing.
type Hooks struct {
	// Duplicates is how many more times a target gets an event.
	Duplicates func(e Event, target string) int
	// Delay postpones the first delivery of an event to a target.
	Delay func(e Event, target string) time.Duration
	// Lose drops an event before any rule sees it, as AWS may do with the best-effort events of most services.
	Lose func(e Event) bool
}

// Bus is the default event bus of one account in one Region. It is safe for concurrent use.
type Bus struct {
	opts Options
	wake chan struct{} // tells Run that something was queued

	mu          sync.Mutex
	hooks       Hooks
	rules       map[string]*rule
	subscribers []*subscriber
	pending     []*delivery
	dropped     []Dropped
	issued      int
}

type subscriber struct {
	pattern *Pattern
	fn      func(context.Context, Event) error
}

type rule struct {
	name        string
	description string
	pattern     *Pattern
	patternText string
	schedule    string
	period      time.Duration // 0 without a schedule
	next        time.Time     // of the schedule
	state       types.RuleState
	targets     []types.Target
}

// New returns a bus without rules.
func New(opts Options) *Bus {
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Account == "" {
		opts.Account = "111122223333"
	}
	return &Bus{opts: opts, rules: make(map[string]*rule), wake: make(chan struct{}, 1)}
}

// SetHooks replaces the fault hooks.
func (b *Bus) SetHooks(h Hooks) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hooks = h
}

// Subscribe makes fn a target of every event that meets the pattern. Its errors are retried like a target's. The
// error is an InvalidEventPatternException. The returned function ends the subscription.
func (b *Bus) Subscribe(pattern string, fn func(context.Context, Event) error) (cancel func(), err error) {
	p, err := ParsePattern(pattern)
	if err != nil {
		return nil, err
	}
	s := &subscriber{p, fn}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subscribers = append(b.subscribers, s)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.subscribers = slices.DeleteFunc(b.subscribers, func(other *subscriber) bool { return other == s })
	}, nil
}

// Publish queues an event of an AWS service, whose source may begin with "aws.", for every rule that it meets.
func (b *Bus) Publish(e Entry) (Event, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	event, err := b.envelope(e)
	if err != nil {
		return Event{}, err
	}
	return event, b.route(event)
}

// Tick queues the events of every rate that came due up to now, each dated with its own minute, and returns how many.
// A rate first fires one period after its rule was made or enabled. Time that goes back fires nothing.
func (b *Bus) Tick(now time.Time) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fired := 0
	for _, r := range b.sortedRules() {
		for r.enabled() && r.period > 0 && !r.next.After(now) {
			event, err := b.envelope(Entry{
				Source: "aws.events", DetailType: "Scheduled Event", Resources: []string{b.ruleARN(r.name)},
				Detail: struct{}{}, Time: r.next,
			})
			if err != nil {
				return fired, err
			}
			r.next = r.next.Add(r.period)
			fired++
			if err := b.toTargets(r, event); err != nil {
				return fired, err
			}
		}
	}
	return fired, nil
}

func (r *rule) enabled() bool { return r.state != types.RuleStateDisabled }

func (b *Bus) sortedRules() []*rule {
	var out []*rule
	for _, name := range slices.Sorted(maps.Keys(b.rules)) {
		out = append(out, b.rules[name])
	}
	return out
}

func (b *Bus) ruleARN(name string) string {
	return fmt.Sprintf("arn:aws:events:%s:%s:rule/%s", b.opts.Region, b.opts.Account, name)
}

// isDefault accepts the name and the ARN of the one bus there is; none means that bus too.
func isDefault(name *string) bool {
	return name == nil || *name == "default" || strings.HasSuffix(*name, ":event-bus/default")
}
