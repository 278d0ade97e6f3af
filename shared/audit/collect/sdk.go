package collect

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/shared/beats"
	"github.com/holdfast-aws/holdfast/shared/ledger"
)

// Each read is tried so often by the SDK's standard rule, with at most so long between two tries; decision 0012 says why by that rule.
// requestTimeout bounds one request, so that a hung one is given up.
const (
	attemptsMax    = 6
	backoffMax     = 2 * time.Second
	requestTimeout = 10 * time.Second
)

// Sources are where Holdfast keeps what it knows; an empty table is not read.
type Sources struct {
	// StateTable and HeartbeatTable are names or ARNs.
	StateTable, HeartbeatTable string
	// Now is the clock that the ledger needs; reading it writes nothing.
	Now func() time.Time
	// BackoffMax is the longest wait between two tries of a call; 0 means two seconds.
	BackoffMax time.Duration
}

// FromSDK makes the clients of an SDK configuration. Its retry rule is replaced by the standard one, and an HTTP client that can have a
// timeout gets one. It makes no call.
func FromSDK(sdk aws.Config, s Sources) (API, error) {
	if s.BackoffMax <= 0 {
		s.BackoffMax = backoffMax
	}
	sdk = sdk.Copy()
	sdk.RetryMode = aws.RetryModeStandard
	sdk.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = attemptsMax, s.BackoffMax })
	}
	if sdk.HTTPClient == nil {
		sdk.HTTPClient = awshttp.NewBuildableClient()
	}
	if client, ok := sdk.HTTPClient.(*awshttp.BuildableClient); ok {
		sdk.HTTPClient = client.WithTimeout(requestTimeout)
	}
	api := API{
		AutoScaling: autoscaling.NewFromConfig(sdk), LoadBalancing: elasticloadbalancingv2.NewFromConfig(sdk), EC2: ec2.NewFromConfig(sdk),
		CloudWatch: cloudwatch.NewFromConfig(sdk), SNS: sns.NewFromConfig(sdk), Policies: ssm.NewFromConfig(sdk),
	}
	table := dynamodb.NewFromConfig(sdk)
	if s.StateTable != "" {
		holds, err := ledger.New(table, ledger.Options{Table: s.StateTable, Now: s.Now})
		if err != nil {
			return API{}, fmt.Errorf("make ledger: %w", err)
		}
		api.Holds = holds
	}
	if s.HeartbeatTable != "" {
		api.Beats = beats.New(table, beats.Options{Table: s.HeartbeatTable})
	}
	return api, nil
}
