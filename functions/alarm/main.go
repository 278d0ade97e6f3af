package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/holdfast-aws/holdfast/functions/internal/assemble"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// function is the name under which this program logs and counts.
const function = "alarm"

func main() {
	log := telemetry.NewLogger(os.Stdout, function)
	parts, err := assemble.FromEnv(context.Background())
	if err != nil {
		log.Error("start", "error", err.Error())
		os.Exit(1)
	}
	h := newHandler(parts)
	h.log, h.metrics = log, telemetry.NewEmitter(os.Stdout, parts.Now)
	lambda.Start(h.Handle)
}

// newHandler makes the handler of the parts; its log and metrics are the caller's to set.
func newHandler(p *assemble.Parts) *handler { return &handler{now: p.Now, newRun: p.NewRun} }
