package main

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"

	"github.com/holdfast-aws/holdfast/shared/config"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// function is the name under which this program logs and counts.
const function = "probe"

func main() {
	log := telemetry.NewLogger(os.Stdout, function)
	h, err := newHandler(context.Background())
	if err != nil {
		log.Error("start", "error", err.Error())
		os.Exit(1)
	}
	h.log = log
	lambda.Start(h.Handle)
}

func newHandler(ctx context.Context) (*handler, error) {
	table := os.Getenv(config.EnvStateTable)
	if table == "" {
		return nil, fmt.Errorf("%s: not set", config.EnvStateTable)
	}
	sdk, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	return assemble(table, sdk, network()), nil
}
