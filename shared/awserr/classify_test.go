package awserr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

// reply is one canned HTTP answer, as the service would write it on the wire.
type reply struct {
	status int
	body   string
	header map[string]string
}

func queryError(status int, code, message string) reply {
	return reply{status: status, body: "<ErrorResponse><Error><Type>Sender</Type><Code>" + code + "</Code><Message>" + message +
		"</Message></Error><RequestId>r-1</RequestId></ErrorResponse>"}
}

func ec2Error(status int, code, message string) reply {
	return reply{status: status, body: "<Response><Errors><Error><Code>" + code + "</Code><Message>" + message +
		"</Message></Error></Errors><RequestID>r-1</RequestID></Response>"}
}

func jsonError(status int, code, message string) reply {
	return reply{status: status, body: fmt.Sprintf(`{"__type":"com.amazonaws#%s","message":%q}`, code, message)}
}

// serve answers the n-th request with the n-th reply, and the last one from then on.
func serve(t *testing.T, replies ...reply) aws.Config {
	t.Helper()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		r := replies[min(n, len(replies)-1)]
		n++
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		for k, v := range r.header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(r.status)
		_, _ = io.WriteString(w, r.body)
	}))
	t.Cleanup(server.Close)
	return config(server.URL)
}

func config(url string) aws.Config {
	return aws.Config{
		Region: "us-east-1", BaseEndpoint: &url,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "example"}, nil
		}),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	}
}

func mark(ctx context.Context, c aws.Config) error {
	_, err := autoscaling.NewFromConfig(c).SetInstanceHealth(ctx, &autoscaling.SetInstanceHealthInput{
		InstanceId: aws.String("i-0a"), HealthStatus: aws.String("Unhealthy"), ShouldRespectGracePeriod: aws.Bool(true),
	})
	return err
}

func put(ctx context.Context, c aws.Config) error {
	_, err := dynamodb.NewFromConfig(c).PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("t"), Item: map[string]ddb.AttributeValue{"pk": &ddb.AttributeValueMemberS{Value: "a"}},
	})
	return err
}

func transact(ctx context.Context, c aws.Config) error {
	_, err := dynamodb.NewFromConfig(c).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []ddb.TransactWriteItem{{Delete: &ddb.Delete{
			TableName: aws.String("t"), Key: map[string]ddb.AttributeValue{"pk": &ddb.AttributeValueMemberS{Value: "a"}},
		}}},
	})
	return err
}

func targetHealth(ctx context.Context, c aws.Config) error {
	_, err := elasticloadbalancingv2.NewFromConfig(c).DescribeTargetHealth(ctx,
		&elasticloadbalancingv2.DescribeTargetHealthInput{TargetGroupArn: aws.String("arn")})
	return err
}

func instances(ctx context.Context, c aws.Config) error {
	_, err := ec2.NewFromConfig(c).DescribeInstances(ctx, &ec2.DescribeInstancesInput{})
	return err
}

func parameter(ctx context.Context, c aws.Config) error {
	_, err := ssm.NewFromConfig(c).GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/a")})
	return err
}

func depth(ctx context.Context, c aws.Config) error {
	_, err := sqs.NewFromConfig(c).GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: aws.String("https://sqs/1/q")})
	return err
}

func reasons(codes ...string) reply {
	parts := make([]string, 0, len(codes))
	for _, code := range codes {
		parts = append(parts, fmt.Sprintf(`{"Code":%q}`, code))
	}
	return reply{status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",` +
		`"message":"Transaction cancelled","CancellationReasons":[` + strings.Join(parts, ",") + `]}`}
}

func TestAnswersOfRealClientsGetTheirKind(t *testing.T) {
	type call func(context.Context, aws.Config) error
	cases := []struct {
		name string
		call call
		with reply
		want error
	}{
		{"a throttle of Auto Scaling is throttled", mark, queryError(400, "Throttling", "Rate exceeded"), fault.Throttled},
		{"rate exceeded under another code is throttled", mark, queryError(400, "Surprise", "Rate exceeded"), fault.Throttled},
		{"a throttle of the load balancing API is throttled", targetHealth, queryError(400, "Throttling", "Rate exceeded"), fault.Throttled},
		{"a throttle of EC2 is throttled although its status is 503", instances, ec2Error(503, "RequestLimitExceeded", "Request limit exceeded."), fault.Throttled},
		{"a throttle of Parameter Store is throttled", parameter, jsonError(400, "ThrottlingException", "Rate exceeded"), fault.Throttled},
		{"too many requests is throttled", parameter, jsonError(429, "TooManyRequestsException", "slow"), fault.Throttled},
		{"a status 429 without a known code is throttled", parameter, jsonError(429, "Surprise", "slow"), fault.Throttled},
		{"an exceeded table throughput is throttled", put, jsonError(400, "ProvisionedThroughputExceededException", "exceeded"), fault.Throttled},

		{"a mark in the grace period is too young", mark, queryError(400, "ValidationError",
			"The age of the instance (986 seconds) is less than the configured grace period of 1500 seconds"), fault.TooYoung},

		{"an unmanaged instance is gone", mark, queryError(400, "ValidationError",
			"Instance Id not found - No managed instance found for instance ID: i-0a"), fault.Gone},
		{"an unknown group is gone", mark, queryError(400, "ValidationError", "AutoScalingGroup name not found - null"), fault.Gone},
		{"an unknown target group is gone", targetHealth, queryError(400, "TargetGroupNotFound", "One or more target groups not found"), fault.Gone},
		{"an unknown parameter is gone", parameter, jsonError(400, "ParameterNotFound", ""), fault.Gone},
		{"an unknown table is gone", put, jsonError(400, "ResourceNotFoundException", "Requested resource not found"), fault.Gone},
		{"an unknown queue is gone", depth, reply{status: 400, body: `{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"no"}`,
			header: map[string]string{"x-amzn-query-error": "AWS.SimpleQueueService.NonExistentQueue;Sender"}}, fault.Gone},

		{"a failed condition is a conflict", put, jsonError(400, "ConditionalCheckFailedException", "The conditional request failed"), fault.Conflict},
		{"a write that meets a transaction is a conflict", put, jsonError(400, "TransactionConflictException", "ongoing"), fault.Conflict},
		{"a transaction with a failed condition is a conflict", transact, reasons("None", "ConditionalCheckFailed"), fault.Conflict},
		{"a transaction that meets another is a conflict", transact, reasons("TransactionConflict", "None"), fault.Conflict},
		{"a failed condition beside a throttle is a conflict", transact, reasons("ThrottlingError", "ConditionalCheckFailed"), fault.Conflict},
		{"a throttled transaction is throttled", transact, reasons("None", "ThrottlingError"), fault.Throttled},
		{"a transaction over the throughput is throttled", transact, reasons("ProvisionedThroughputExceeded", "None"), fault.Throttled},
		{"a transaction with invalid input is refused", transact, reasons("ValidationError", "None"), fault.Refused},
		{"a transaction with invalid input before a throttle is refused", transact, reasons("ValidationError", "ThrottlingError"), fault.Refused},
		{"a transaction with invalid input after a throttle is refused", transact, reasons("ThrottlingError", "ValidationError"), fault.Refused},
		{"a transaction that names no reason is unknown", transact, reasons("None", "None"), fault.Unknown},
		{"a transaction still in progress is unknown", transact, jsonError(400, "TransactionInProgressException", "in progress"), fault.Unknown},

		{"access denied is refused", mark, queryError(403, "AccessDenied", "User is not authorized to perform"), fault.Refused},
		{"access denied by DynamoDB is refused", put, jsonError(400, "AccessDeniedException", "not authorized"), fault.Refused},
		{"an unauthorized EC2 call is refused", instances, ec2Error(403, "UnauthorizedOperation", "You are not authorized"), fault.Refused},
		{"another validation error is refused", mark, queryError(400, "ValidationError", "1 validation error detected"), fault.Refused},
		{"expired credentials are refused", mark, queryError(403, "ExpiredToken", "The security token is expired"), fault.Refused},

		{"a contended resource is unknown", mark, queryError(500, "ResourceContention", "You already have a pending update"), fault.Unknown},
		{"an internal failure is unknown", mark, queryError(500, "InternalFailure", "oops"), fault.Unknown},
		{"an internal error of DynamoDB is unknown", put, jsonError(500, "InternalServerError", "oops"), fault.Unknown},
		{"an unavailable service is unknown", mark, reply{status: 503, body: "<html>no"}, fault.Unknown},
		{"a request timeout is unknown although its status is 4xx", put, jsonError(408, "RequestTimeoutException", "late"), fault.Unknown},
		{"a success that cannot be read is unknown", put, reply{status: 200, body: "<not json"}, fault.Unknown},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.call(t.Context(), serve(t, c.with))
			if err == nil {
				t.Fatal("the call succeeded")
			}
			checkOnly(t, awserr.Classify(err), c.want)
		})
	}
}

// checkOnly checks that an error is of one kind and of no other.
func checkOnly(t *testing.T, err, want error) {
	t.Helper()
	for _, kind := range []error{fault.Throttled, fault.Gone, fault.TooYoung, fault.Conflict, fault.Refused, fault.Unknown, fault.Partial} {
		if got := errors.Is(err, kind); got != errors.Is(kind, want) {
			t.Errorf("is %v: %t, want only %v; error: %v", kind, got, want, err)
		}
	}
}

// retrying makes a client that retries without waiting.
func retrying(c aws.Config, attempts int, tokens uint) aws.Config {
	c.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = attempts
			o.RateLimiter = ratelimit.NewTokenRateLimit(tokens)
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
	return c
}

func TestTheRetriesOfTheSDKDoNotHideTheKind(t *testing.T) {
	throttle := queryError(400, "Throttling", "Rate exceeded")
	cases := []struct {
		name     string
		attempts int
		tokens   uint
		replies  []reply
		want     error
	}{
		{"attempts used up by throttles are throttled", 3, 500, []reply{throttle}, fault.Throttled},
		{"a retry quota used up by throttles is throttled", 3, 0, []reply{throttle}, fault.Throttled},
		{"a retry quota used up after a server's fault is unknown", 3, 0, []reply{queryError(500, "ResourceContention", "pending")}, fault.Unknown},
		{"attempts used up by a contended resource are unknown", 2, 500, []reply{queryError(500, "ResourceContention", "pending")}, fault.Unknown},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := awserr.Classify(mark(t.Context(), retrying(serve(t, c.replies...), c.attempts, c.tokens)))
			checkOnly(t, err, c.want)
			var quota ratelimit.QuotaExceededError
			if got, want := errors.As(err, &quota), c.tokens == 0; got != want {
				t.Errorf("the retry quota stands in the error: %t, want %t: %v", got, want, err)
			}
		})
	}
}

func TestRequestsWithoutAnAnswer(t *testing.T) {
	t.Run("a connection reset after the request was sent is unknown", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
		}))
		defer server.Close()
		checkOnly(t, awserr.Classify(mark(t.Context(), config(server.URL))), fault.Unknown)
	})
	t.Run("a broken connection with the retry quota used up is unknown", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
		defer server.Close()
		checkOnly(t, awserr.Classify(mark(t.Context(), retrying(config(server.URL), 3, 0))), fault.Unknown)
	})
	t.Run("a deadline that passes while waiting for the answer is unknown", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel(context.DeadlineExceeded)
			<-r.Context().Done()
		}))
		defer server.Close()
		checkOnly(t, awserr.Classify(mark(ctx, config(server.URL))), fault.Unknown)
	})
	t.Run("a call on a cancelled context is unknown", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		checkOnly(t, awserr.Classify(mark(ctx, serve(t, reply{status: 200}))), fault.Unknown)
	})
	t.Run("input that the SDK itself refuses is refused", func(t *testing.T) {
		_, err := autoscaling.NewFromConfig(serve(t, reply{status: 200})).SetInstanceHealth(t.Context(), &autoscaling.SetInstanceHealthInput{})
		checkOnly(t, awserr.Classify(err), fault.Refused)
	})
	t.Run("a retry quota alone is throttled", func(t *testing.T) {
		err := fmt.Errorf("get token: %w", ratelimit.QuotaExceededError{Available: 0, Requested: 5})
		checkOnly(t, awserr.Classify(err), fault.Throttled)
	})
}

func TestClassifyKeepsWhatItIsGiven(t *testing.T) {
	if err := awserr.Classify(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	own := fmt.Errorf("read pages: %w", fault.Partial)
	if err := awserr.Classify(own); !errors.Is(err, fault.Partial) || errors.Is(err, fault.Unknown) {
		t.Errorf("an error with a kind became %v", err)
	}
	checkOnly(t, awserr.Classify(errors.New("strange")), fault.Unknown)
	// A fake that has no HTTP answer is judged by the model's word for the code.
	checkOnly(t, awserr.Classify(&smithy.GenericAPIError{Code: "ValidationError", Message: "bad"}), fault.Refused)
	checkOnly(t, awserr.Classify(&smithy.GenericAPIError{Code: "ResourceContention", Fault: smithy.FaultServer}), fault.Unknown)
	var api smithy.APIError
	if err := awserr.Classify(mark(t.Context(), serve(t, queryError(400, "Throttling", "Rate exceeded")))); !errors.As(err, &api) || api.ErrorCode() != "Throttling" {
		t.Errorf("the original error is lost in %v", err)
	}
}
