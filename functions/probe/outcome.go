package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/holdfast-aws/holdfast/shared/probe"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// summary is what an invocation returns, for those who invoke it by hand.
type summary struct {
	Run      string             `json:"run"`
	Sources  int                `json:"sources"`
	Load     string             `json:"load,omitempty"`
	Notes    []string           `json:"notes,omitempty"`
	Checked  map[string]outcome `json:"checked,omitempty"`
	Duration int64              `json:"duration_ms"`
}

// outcome is one dependency's result: passed, failed or unknown.
type outcome struct {
	Outcome string      `json:"outcome"`
	Cause   probe.Cause `json:"cause,omitempty"`
	Detail  string      `json:"detail,omitempty"`
	InRow   int         `json:"failures_in_row"`
}

func summarize(r probe.Report, f probe.Facts) summary {
	s := summary{
		Run: f.Run, Sources: r.Sources, Load: r.Load.String(), Notes: r.Notes, Checked: map[string]outcome{}, Duration: f.Duration.Milliseconds(),
	}
	for _, v := range r.Verdicts {
		s.Checked[v.Source.Name] = outcome{Outcome: v.Outcome.String(), Cause: v.Cause, Detail: v.Detail, InRow: v.InRow}
	}
	return s
}

// requestID names the invocation, and so the run.
func requestID(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok && lc.AwsRequestID != "" {
		return lc.AwsRequestID
	}
	return rand.Text()
}

// drop leaves out a tick that waited too long: the ticks after it look at newer facts.
func (h *handler) drop(log *slog.Logger, age time.Duration) error {
	log.Warn("tick dropped", "age_seconds", int(age.Seconds()), "age_seconds_max", int(tickAgeMax.Seconds()))
	return h.metrics.Emit(telemetry.Set{
		Dimensions: map[string]string{telemetry.DimensionFunction: function}, Values: map[string]float64{telemetry.TicksDropped: 1},
	})
}

func (h *handler) facts(ctx context.Context, id string, begin time.Time) probe.Facts {
	end := h.now()
	f := probe.Facts{Function: function, Run: id, Duration: end.Sub(begin)}
	if deadline, ok := ctx.Deadline(); ok {
		f.Margin = deadline.Sub(end)
	}
	return f
}

// close writes the metrics and the log. Metrics that cannot be written are logged and fail nothing: that they are missing tells
// it too.
func (h *handler) close(log *slog.Logger, r probe.Report, f probe.Facts) {
	for _, set := range r.Metrics(f) {
		if err := h.metrics.Emit(set); err != nil {
			log.Error("metrics", "error", err.Error())
		}
	}
	r.Log(log, f)
}
