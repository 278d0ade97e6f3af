package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"

	"github.com/holdfast-aws/holdfast/shared/clock"
	"github.com/holdfast-aws/holdfast/shared/notify"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// function is the name under which this program logs and counts.
const function = "notify"

func main() {
	log := telemetry.NewLogger(os.Stdout, function)
	h, err := newHandler(context.Background())
	if err != nil {
		log.Error("start", "error", err.Error())
		os.Exit(1)
	}
	h.log, h.metrics = log, telemetry.NewEmitter(os.Stdout, time.Now)
	lambda.Start(h.Handle)
}

func newHandler(ctx context.Context) (*handler, error) {
	c, err := notify.ConfigFromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	now, err := clock.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	sdk, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	return assemble(c, sdk, parts{now: now})
}
