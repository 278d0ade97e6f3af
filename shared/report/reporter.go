package report

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// API is what the reporter needs of the EventBridge client.
type API interface {
	PutEvents(context.Context, *eventbridge.PutEventsInput, ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error)
}

// Options configure a Reporter; both are required.
type Options struct {
	// Bus is the name or ARN of the event bus that takes the notices.
	Bus string
	// Log takes the verdict lines.
	Log *slog.Logger
}

// Reporter reports one run. It is safe for concurrent use.
type Reporter struct {
	api API
	bus string
	log *slog.Logger

	mu     sync.Mutex
	totals Totals
}

// New returns a reporter for one run; it makes no call.
func New(api API, o Options) *Reporter {
	return &Reporter{api: api, bus: o.Bus, log: o.Log, totals: Totals{Deferred: map[guard.Reason]int{}}}
}

// How many bytes of a verdict line each list and each text may take. Together they stay under the 256 KB at which CloudWatch
// Logs once cut an event and at which many readers of logs still do. Source: CloudWatch Logs user guide, quotas.
const (
	deferredBytesMax = 120 << 10
	listBytesMax     = 20 << 10
	textBytesMax     = 4 << 10
)

// Report writes one verdict line and counts the look. Lists too long for a line are cut from their end, and the line says how
// many entries were left out of which list.
func (r *Reporter) Report(ctx context.Context, rep runner.Report) {
	r.mu.Lock()
	r.totals.add(rep)
	r.mu.Unlock()

	v := rep.Verdict
	c := cutter{leftOut: map[string]int{}}
	attrs := []slog.Attr{
		slog.String("run", rep.Run), slog.String("trigger", rep.Trigger), slog.Time("at", rep.At.UTC()),
		slog.String("group", rep.Group), slog.String("arn", rep.ARN), slog.String("mode", v.Mode), slog.String("cause", cutText(v.Cause, textBytesMax)),
		slog.Any("members", v.Members), slog.Any("limits", v.Limits),
		slog.Any("calls", cutList(&c, "calls", rep.Calls, listBytesMax)),
		slog.Any("actions", cutList(&c, "actions", v.Actions, listBytesMax)),
		slog.Any("deferred", cutList(&c, "deferred", v.Deferred, deferredBytesMax)),
		slog.Any("pages", cutList(&c, "pages", v.Pages, listBytesMax)),
		slog.Any("triggers", cutList(&c, "triggers", v.Triggers, listBytesMax)),
		slog.Any("notes", cutList(&c, "notes", v.Notes, listBytesMax)),
	}
	if len(c.leftOut) > 0 {
		attrs = append(attrs, slog.Any("left_out", c.leftOut))
	}
	level := slog.LevelInfo
	if rep.Failure != "" {
		level = slog.LevelWarn
		attrs = append(attrs, slog.String("failure", cutText(rep.Failure, textBytesMax)))
	}
	r.log.LogAttrs(ctx, level, "verdict", attrs...)
}

// cutter remembers what was left out of which list.
type cutter struct{ leftOut map[string]int }

// cutList keeps as many entries from the beginning as fit; an empty list stays a list.
func cutList[T any](c *cutter, name string, list []T, bytesMax int) []T {
	size := 0
	for i, entry := range list {
		text, err := json.Marshal(entry)
		size += len(text) + 1
		if err != nil || size > bytesMax {
			c.leftOut[name] = len(list) - i
			return append([]T{}, list[:i]...)
		}
	}
	return append([]T{}, list...)
}
