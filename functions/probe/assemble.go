package main

import (
	"net"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/shared/probe"
	"github.com/holdfast-aws/holdfast/shared/probe/probeaws"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

const (
	// deadlineMargin of the function's time is kept for the memory's write and the metrics.
	deadlineMargin = 5 * time.Second
	// requestTimeout bounds one request to AWS; a hung one must not eat the time of the checks.
	requestTimeout = 3 * time.Second
)

// network is how the checks reach their dependencies: the machine's resolver and plain connections.
func network() probe.Net {
	return probe.Net{Resolver: &net.Resolver{PreferGo: true}, Dialer: &net.Dialer{}, Now: time.Now}
}

// assemble makes the handler, whose clock is that of the checks; the calls to AWS share nothing with them.
func assemble(table string, sdk aws.Config, checks probe.Net) *handler {
	sdk.HTTPClient = awshttp.NewBuildableClient().WithTimeout(requestTimeout)
	ports := probe.Ports{
		Documents: probeaws.NewDocuments(ssm.NewFromConfig(sdk)),
		Members:   probeaws.NewMembers(autoscaling.NewFromConfig(sdk), ec2.NewFromConfig(sdk)),
		Memory:    probeaws.NewMemory(dynamodb.NewFromConfig(sdk), table),
		Net:       checks,
	}
	return &handler{
		metrics: telemetry.NewEmitter(os.Stdout, checks.Now), now: checks.Now,
		prober: probe.New(ports, probe.Options{Now: checks.Now, Margin: deadlineMargin}),
	}
}
