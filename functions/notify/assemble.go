package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/shared/notify"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// requestTimeout bounds one request to AWS, so that a hung one leaves time for another try within a channel's own time.
const requestTimeout = 3 * time.Second

// parts are what a test may replace: the clock, and the transport of webhooks, the default one if it is nil.
type parts struct {
	now      func() time.Time
	webhooks http.RoundTripper
}

// assemble makes the handler with the channels that are configured; its log and metrics are the caller's to set.
func assemble(c notify.Config, sdk aws.Config, p parts) (*handler, error) {
	if sdk.HTTPClient == nil {
		sdk.HTTPClient = awshttp.NewBuildableClient()
	}
	if client, ok := sdk.HTTPClient.(*awshttp.BuildableClient); ok {
		sdk.HTTPClient = client.WithTimeout(requestTimeout)
	}
	topics, secrets, web := sns.NewFromConfig(sdk), ssm.NewFromConfig(sdk), notify.NewHTTPClient(p.webhooks)
	var channels []notify.Channel
	if c.Topic != "" {
		channels = append(channels, notify.NewTopic(topics, c.Topic))
	}
	if c.ChatTopic != "" {
		channels = append(channels, notify.NewChatTopic(topics, c.ChatTopic))
	}
	if c.SlackSecret != "" {
		channels = append(channels, notify.NewSlack(web, notify.Secret{API: secrets, Name: c.SlackSecret}))
	}
	if c.PagerDutySecret != "" {
		channels = append(channels, notify.NewPagerDuty(web, c.PagerDutyURL, notify.Secret{API: secrets, Name: c.PagerDutySecret}))
	}
	desk, err := notify.New(notify.Options{
		Channels: channels, Memory: notify.NewTable(dynamodb.NewFromConfig(sdk), c.StateTable, p.now), Now: p.now, StateTable: c.StateTable,
	})
	return &handler{desk: desk}, err
}

// requestID names the invocation: Lambda repeats a failed invocation under the same id.
func requestID(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok && lc.AwsRequestID != "" {
		return lc.AwsRequestID
	}
	return rand.Text()
}

// outcome is a delivery that has ended.
type outcome struct {
	notice notify.Notice
	result notify.Result
	err    error
}

// tell writes one line about the delivery, without the text of the notice, and its metrics. Metrics that cannot be written are
// logged and fail nothing.
func (h *handler) tell(log *slog.Logger, o outcome) {
	n, r := o.notice, o.result
	attrs := []slog.Attr{
		slog.String("event", n.EventID), slog.String("group", n.Group), slog.String("key", n.Key), slog.String("subject", n.Subject),
		slog.Bool("urgent", n.Urgent), slog.Bool("reminder", n.Reminder), slog.Time("at", n.At.UTC()),
		slog.Any("delivered", r.Delivered), slog.Any("failed", r.Failed), slog.Any("skipped", r.Skipped),
	}
	level := slog.LevelInfo
	if r.Unremembered != "" {
		level = slog.LevelWarn
		attrs = append(attrs, slog.String("unremembered", r.Unremembered))
	}
	if o.err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("error", o.err.Error()))
	}
	log.LogAttrs(context.Background(), level, "notice", attrs...)
	if err := h.metrics.Emit(telemetry.Set{
		Dimensions: map[string]string{telemetry.DimensionFunction: function},
		Values:     map[string]float64{telemetry.Pages: float64(len(r.Delivered)), telemetry.PageFailures: float64(len(r.Failed))},
	}); err != nil {
		log.Error("metrics", "error", err.Error())
	}
}
