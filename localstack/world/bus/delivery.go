package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
)

// Limits of retries. Source: EventBridge user guide, "Retrying event delivery".
const (
	defaultAttempts = 185
	defaultAge      = 24 * time.Hour
	maxBackoff      = 10 * time.Minute // ours: AWS documents backoff with jitter, without numbers
)

// delivery is one event on its way to one target.
type delivery struct {
	event    Event
	payload  []byte
	rule     string // empty for a subscriber
	target   types.Target
	fn       func(context.Context, Event) error
	queued   time.Time
	due      time.Time
	attempts int // failed so far
}

// Dropped is a delivery that was given up.
type Dropped struct {
	Event  Event
	Rule   string
	Target string
	// Attempts counts the failed ones.
	Attempts int
	// Cause is the last failure.
	Cause error
	// DeadLetter is whether the event reached the target's dead-letter queue.
	DeadLetter bool
}

// route queues an event for all subscribers and enabled rules that it meets.
func (b *Bus) route(event Event) error {
	if b.hooks.Lose != nil && b.hooks.Lose(event) {
		return nil
	}
	text, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	for _, s := range b.subscribers {
		if ok, err := s.pattern.Matches(text); err != nil {
			return err
		} else if ok {
			b.queue(delivery{event: event, fn: s.fn})
		}
	}
	for _, r := range b.sortedRules() {
		if r.pattern == nil || !r.enabled() {
			continue
		}
		if ok, err := r.pattern.Matches(text); err != nil {
			return err
		} else if ok {
			if err := b.toTargets(r, event); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Bus) toTargets(r *rule, event Event) error {
	for _, t := range r.targets {
		payload, err := input(t, event)
		if err != nil {
			return err
		}
		b.queue(delivery{event: event, payload: payload, rule: r.name, target: t})
	}
	return nil
}

// queue adds a delivery, with the copies and the delay that the hooks ask for.
func (b *Bus) queue(d delivery) {
	d.queued = b.opts.Now()
	d.due = d.queued
	id := aws.ToString(d.target.Id)
	if b.hooks.Delay != nil {
		d.due = d.due.Add(b.hooks.Delay(d.event, id))
	}
	copies := 1
	if b.hooks.Duplicates != nil {
		copies += b.hooks.Duplicates(d.event, id)
	}
	for range copies {
		one := d
		b.pending = append(b.pending, &one)
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Pending returns how many deliveries wait, those that are not due yet included.
func (b *Bus) Pending() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pending)
}

// Dropped returns the deliveries that were given up, oldest first.
func (b *Bus) Dropped() []Dropped {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.dropped)
}

// Deliver hands over everything that is due, one after another, also what is published meanwhile, and returns how many
// attempts it made. It stops early when ctx ends.
func (b *Bus) Deliver(ctx context.Context) int {
	n := 0
	for ctx.Err() == nil {
		d := b.takeDue()
		if d == nil {
			break
		}
		b.attempt(ctx, d)
		n++
	}
	return n
}

// Run delivers until ctx ends, each event in its own goroutine as AWS would, and returns when all of them are done.
// Retries wait for the clock: whoever moves it calls Tick and then Wake.
func (b *Bus) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
		for d := b.takeDue(); d != nil; d = b.takeDue() {
			wg.Go(func() { b.attempt(ctx, d) })
		}
	}
}

// Wake makes Run look again for what has come due.
func (b *Bus) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *Bus) takeDue() *delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.opts.Now()
	for i, d := range b.pending {
		if !d.due.After(now) {
			b.pending = slices.Delete(b.pending, i, i+1)
			return d
		}
	}
	return nil
}

// attempt tries once and, on failure, queues the next try or gives up.
func (b *Bus) attempt(ctx context.Context, d *delivery) {
	err := b.send(ctx, d)
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d.attempts++
	now := b.opts.Now()
	exhausted := ""
	switch attempts, age := limits(d.target.RetryPolicy); {
	case errors.Is(err, ErrNoTarget):
		exhausted = "NoRetry"
	case d.attempts > attempts:
		exhausted = "MaximumRetryAttempts"
	case now.Sub(d.queued) >= age:
		exhausted = "MaximumEventAgeInSeconds"
	default:
		backoff := time.Second << min(d.attempts-1, 20)
		d.due = now.Add(min(backoff, maxBackoff))
		b.pending = append(b.pending, d)
		return
	}
	b.dropped = append(b.dropped, Dropped{
		Event: d.event, Rule: d.rule, Target: aws.ToString(d.target.Id), Attempts: d.attempts, Cause: err,
		DeadLetter: b.deadLetter(d, exhausted, err),
	})
}

func limits(p *types.RetryPolicy) (attempts int, age time.Duration) {
	attempts, age = defaultAttempts, defaultAge
	if p != nil && p.MaximumRetryAttempts != nil {
		attempts = int(*p.MaximumRetryAttempts)
	}
	if p != nil && p.MaximumEventAgeInSeconds != nil {
		age = time.Duration(*p.MaximumEventAgeInSeconds) * time.Second
	}
	return attempts, age
}

// deadLetter keeps a given-up event, with the attributes that AWS documents for it.
func (b *Bus) deadLetter(d *delivery, exhausted string, cause error) bool {
	if d.target.DeadLetterConfig == nil || b.opts.Queues == nil {
		return false
	}
	code := "SDK_CLIENT_ERROR"
	if errors.Is(cause, ErrNoTarget) {
		code = "NO_RESOURCE"
	}
	attributes := map[string]string{
		"RULE_ARN": b.ruleARN(d.rule), "TARGET_ARN": aws.ToString(d.target.Arn), "ERROR_CODE": code, "ERROR_MESSAGE": cause.Error(),
	}
	if exhausted != "NoRetry" {
		attributes["EXHAUSTED_RETRY_CONDITION"] = exhausted
		attributes["RETRY_ATTEMPTS"] = strconv.Itoa(d.attempts - 1)
	}
	return b.opts.Queues.Deliver(aws.ToString(d.target.DeadLetterConfig.Arn), string(d.payload), attributes) == nil
}

func (b *Bus) send(ctx context.Context, d *delivery) error {
	if d.fn != nil {
		return d.fn(ctx, d.event)
	}
	arn := aws.ToString(d.target.Arn)
	switch name, service := functionName(arn); service {
	case "lambda":
		return b.opts.Invoker.Invoke(ctx, name, d.payload)
	default:
		if err := b.opts.Queues.Deliver(arn, string(d.payload), nil); err != nil {
			return fmt.Errorf("%w: %w", ErrNoTarget, err)
		}
		return nil
	}
}

// functionName reads "arn:aws:lambda:region:account:function:name[:alias]"; the service alone for other ARNs.
func functionName(arn string) (name, service string) {
	parts := strings.Split(arn, ":")
	if len(parts) < 6 || parts[0] != "arn" {
		return "", ""
	}
	if parts[2] == "lambda" && len(parts) >= 7 && parts[5] == "function" {
		return parts[6], "lambda"
	}
	return "", parts[2]
}

// input is what a target gets: its constant input, the part of the event at its path, or the event.
func input(t types.Target, event Event) ([]byte, error) {
	text, err := json.Marshal(event)
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	if t.Input != nil {
		return []byte(*t.Input), nil
	}
	if t.InputPath == nil || *t.InputPath == "$" {
		return text, nil
	}
	value, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	for _, name := range strings.Split(strings.TrimPrefix(*t.InputPath, "$."), ".") {
		fields, _ := value.(map[string]any)
		value = fields[name]
	}
	return json.Marshal(value)
}
