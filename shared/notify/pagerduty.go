package notify

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// PagerDutyURL is where events go by default; accounts of the service Region Europe use events.eu.pagerduty.com.
const PagerDutyURL = "https://events.pagerduty.com/v2/enqueue"

// Limits of PagerDuty. Source: PagerDuty developer documentation, Events API v2: summary and dedup_key.
const (
	summaryMax = 1024
	dedupMax   = 255
)

type pagerDuty struct {
	client     *http.Client
	address    string
	routingKey Secret
}

// NewPagerDuty returns the channel "pagerduty", a Closer: Events API v2 at an HTTPS address, with the routing key as its secret. It takes urgent
// notices only, each condition as one alert, and the notice of a release, which resolves the alerts of the hold.
func NewPagerDuty(client *http.Client, address string, routingKey Secret) Channel {
	return pagerDuty{client: client, address: address, routingKey: routingKey}
}

func (pagerDuty) Name() string { return "pagerduty" }

func (pagerDuty) Wants(n Notice) bool {
	return !n.Observed() && (n.Urgent || n.Key == guard.PageReleased)
}

// event is an event of Events API v2.
type event struct {
	RoutingKey  string   `json:"routing_key"`
	Action      string   `json:"event_action"`
	DedupKey    string   `json:"dedup_key"`
	Client      string   `json:"client,omitempty"`
	Description *payload `json:"payload,omitempty"`
}

type payload struct {
	Summary   string         `json:"summary"`
	Source    string         `json:"source"`
	Severity  string         `json:"severity"`
	Timestamp string         `json:"timestamp"`
	Component string         `json:"component"`
	Group     string         `json:"group"`
	Class     string         `json:"class"`
	Details   map[string]any `json:"custom_details"`
}

func (p pagerDuty) Send(ctx context.Context, m Message) error {
	key, err := p.routingKey.read(ctx)
	if err != nil {
		return err
	}
	if m.Key == guard.PageReleased {
		return p.post(ctx, key, resolves(m))
	}
	return p.post(ctx, key, []event{trigger(m)})
}

// Close resolves the alert of a notice's condition.
func (p pagerDuty) Close(ctx context.Context, n Notice) error {
	key, err := p.routingKey.read(ctx)
	if err != nil {
		return err
	}
	return p.post(ctx, key, []event{resolve(n.Condition())})
}

// post sends events all at once: one that is slow or refused keeps no other back. The errors are joined; a retry sends all again, and
// resolving twice changes nothing.
func (p pagerDuty) post(ctx context.Context, key secret, events []event) error {
	errs := make([]error, len(events))
	var wg sync.WaitGroup
	for i, e := range events {
		wg.Go(func() {
			e.RoutingKey = string(key)
			errs[i] = post{client: p.client, address: secret(p.address), mask: key, body: e}.send(ctx)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func trigger(m Message) event {
	return event{
		Action: "trigger", DedupKey: dedupKey(m.Condition()), Client: "Holdfast",
		Description: &payload{
			Summary: cut(oneLine(m.Heading+": "+m.Text), summaryMax, cutShort), Source: m.ARN, Severity: "critical",
			Timestamp: m.At.UTC().Format(time.RFC3339), Component: m.Group, Group: m.Region, Class: m.Key,
			Details: map[string]any{"message": m.Plain, "reminder": m.Reminder, "since": m.Since.UTC().Format(time.RFC3339)},
		},
	}
}

// resolves ends every alert that a hold may have raised. Resolving one that is not open does nothing.
func resolves(m Message) []event {
	var out []event
	for _, g := range Guides(Names{}) {
		if g.OfHold && g.Urgency != "notice" {
			out = append(out, resolve(Condition{GroupARN: m.ARN, Key: g.Key}))
		}
	}
	return out
}

func resolve(c Condition) event { return event{Action: "resolve", DedupKey: dedupKey(c)} }

// dedupKey names a condition, readable if there is room.
func dedupKey(c Condition) string {
	key := c.GroupARN + "#" + c.Key
	if c.Subject != "" {
		key += "#" + c.Subject
	}
	if len(key) > dedupMax {
		return digest(c.GroupARN, c.Key, c.Subject)
	}
	return key
}
