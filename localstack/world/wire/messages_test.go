package wire_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchschemas "github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqsschemas "github.com/aws/aws-sdk-go-v2/service/sqs/schemas"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

func md5Of(text string) *string {
	sum := md5.Sum([]byte(text))
	return aws.String(hex.EncodeToString(sum[:]))
}

func TestReceivedMessagesPassTheClientsChecksum(t *testing.T) {
	codec := wire.JSON10(sqsschemas.AmazonSQS)
	want := &sqs.ReceiveMessageOutput{Messages: []sqstypes.Message{{
		Body: aws.String(`{"a":"<&>\u2028"}`), MD5OfBody: md5Of(`{"a":"<&>\u2028"}`),
		MessageId: aws.String("m-1"), ReceiptHandle: aws.String("r-1"),
		Attributes: map[string]string{"ApproximateReceiveCount": "1"},
	}}}
	written, err := codec.Encode(wire.Reply{Operation: "ReceiveMessage", Output: want})
	if err != nil {
		t.Fatal(err)
	}
	client := sqs.NewFromConfig(configOf(answering(written)))
	got, err := client.ReceiveMessage(context.Background(), &sqs.ReceiveMessageInput{})
	if err != nil {
		t.Fatal(err)
	}
	got.ResultMetadata = middleware.Metadata{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSentMessageAnswerPassesTheClientsChecksum(t *testing.T) {
	codec := wire.JSON10(sqsschemas.AmazonSQS)
	written, err := codec.Encode(wire.Reply{Operation: "SendMessage", Output: &sqs.SendMessageOutput{
		MD5OfMessageBody: md5Of("hello"), MessageId: aws.String("m-1"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	client := sqs.NewFromConfig(configOf(answering(written)))
	got, err := client.SendMessage(context.Background(), &sqs.SendMessageInput{MessageBody: aws.String("hello")})
	if err != nil {
		t.Fatal(err)
	}
	if aws.ToString(got.MessageId) != "m-1" {
		t.Errorf("message id %q, want m-1", aws.ToString(got.MessageId))
	}
	_, err = client.SendMessage(context.Background(), &sqs.SendMessageInput{MessageBody: aws.String("other")})
	if err == nil {
		t.Error("the client accepted a checksum of another body")
	}
}

func TestErrorsOutsideTheModelKeepCodeAndText(t *testing.T) {
	for _, s := range services() {
		t.Run(s.name, func(t *testing.T) {
			resp := s.codec.EncodeError("r-1", &wire.Error{Code: "Throttling", Message: "Rate <exceeded> & more"})
			got := failureFrom(s, resp)
			if got.ErrorCode() != "Throttling" || got.ErrorMessage() != "Rate <exceeded> & more" {
				t.Errorf("client read %v", got)
			}
			if resp.Status != http.StatusBadRequest {
				t.Errorf("status %d, want 400", resp.Status)
			}
		})
	}
}

func TestOurOwnDefectsBecomeServerErrors(t *testing.T) {
	for _, s := range services() {
		t.Run(s.name, func(t *testing.T) {
			resp := s.codec.EncodeError("r-1", errors.New("lost the thread"))
			if resp.Status != http.StatusInternalServerError {
				t.Errorf("status %d, want 500", resp.Status)
			}
			if got := failureFrom(s, resp); got.ErrorCode() != "InternalFailure" {
				t.Errorf("client read %v", got)
			}
		})
	}
}

func serviceNamed(t *testing.T, name string) service {
	t.Helper()
	for _, s := range services() {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("no service %s", name)
	return service{}
}

func TestOlderQueryCodeReachesTheClient(t *testing.T) {
	s := serviceNamed(t, "sqs")
	resp := s.codec.EncodeError("r-1", &sqstypes.QueueDoesNotExist{Message: aws.String("gone")})
	if got := failureFrom(s, resp).ErrorCode(); got != "AWS.SimpleQueueService.NonExistentQueue" {
		t.Errorf("code %q", got)
	}
}

func TestLargeMetricDataArrivesThroughGzip(t *testing.T) {
	var sent int
	var packed string
	in := &cloudwatch.PutMetricDataInput{Namespace: aws.String("Holdfast")}
	for range 200 {
		in.MetricData = append(in.MetricData, cwtypes.MetricDatum{
			MetricName: aws.String(strings.Repeat("m", 100)), Value: aws.Float64(1),
		})
	}
	client := cloudwatch.NewFromConfig(configOf(func(r *http.Request) (*http.Response, error) {
		packed = r.Header.Get("Content-Encoding")
		body, err := wire.ReadBody(r)
		if err != nil {
			return nil, err
		}
		var got cloudwatch.PutMetricDataInput
		codec := wire.CBOR(cloudwatchschemas.GraniteServiceVersion20100801)
		if err := wire.NewCall(codec, "PutMetricData", body).Decode(&got); err != nil {
			return nil, err
		}
		sent = len(got.MetricData)
		return nil, errors.New("seen")
	}))
	_, err := client.PutMetricData(context.Background(), in)
	if err == nil || !strings.Contains(err.Error(), "seen") {
		t.Fatalf("unexpected result: %v", err)
	}
	if packed != "gzip" || sent != 200 {
		t.Errorf("encoding %q with %d data, want gzip with 200", packed, sent)
	}
}

func TestUnreadableBodiesAreRefused(t *testing.T) {
	bodies := map[string]string{"query": "%zz", "json": "{", "cbor": "\xbf\x61"}
	for _, s := range services() {
		t.Run(s.name, func(t *testing.T) {
			client := s.client(nil)
			err := wire.NewCall(s.codec, s.used[0], []byte(bodies[s.protocol])).Decode(newInput(client, s.used[0]))
			var refused *wire.Error
			if !errors.As(err, &refused) || refused.Code != "SerializationException" {
				t.Errorf("got %v, want a SerializationException", err)
			}
		})
	}
}
