package world_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/holdfast-aws/holdfast/localstack/world"
)

const contentJSON = "application/x-amz-json-1.0"

// sent is one answer to a request that no client of Go made.
type sent struct {
	status int
	header http.Header
	body   string
}

// send posts a body with headers, given as name and value in turn.
func (l *lab) send(t *testing.T, body string, headers ...string) sent {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, l.url+"/", strings.NewReader(body))
	must(t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	must(t, err)
	return sent{status: res.StatusCode, header: res.Header, body: string(text)}
}

// alarmsInJSON asks CloudWatch as the AWS command line does.
func (l *lab) alarmsInJSON(t *testing.T, operation, body string) sent {
	t.Helper()
	return l.send(t, body, "Content-Type", contentJSON, "X-Amz-Target", "GraniteServiceVersion20100801."+operation)
}

func TestTheCommandLineCanPutSetAndReadAnAlarm(t *testing.T) {
	l := newLab(t)
	for _, step := range []struct{ operation, body string }{
		{"PutMetricAlarm", `{"AlarmName":"mine","Namespace":"X","MetricName":"m","Statistic":"Sum","Period":60,"EvaluationPeriods":1,
			"Threshold":1.5,"ComparisonOperator":"GreaterThanThreshold"}`},
		{"SetAlarmState", `{"AlarmName":"mine","StateValue":"ALARM","StateReason":"drill"}`},
	} {
		a := l.alarmsInJSON(t, step.operation, step.body)
		if a.status != http.StatusOK || a.body != "{}" || a.header.Get("Content-Type") != contentJSON {
			t.Fatalf("%s: %+v", step.operation, a)
		}
	}
	a := l.alarmsInJSON(t, "DescribeAlarms", `{"StateValue":"ALARM"}`)
	var out struct{ MetricAlarms []map[string]any }
	if err := json.Unmarshal([]byte(a.body), &out); err != nil || len(out.MetricAlarms) != 1 {
		t.Fatalf("%v: %+v", err, a)
	}
	have := out.MetricAlarms[0]
	at := float64(l.clock.Now().Unix())
	for member, want := range map[string]any{"AlarmName": "mine", "StateValue": "ALARM", "StateReason": "drill", "Threshold": 1.5, "Period": 60.0,
		"StateUpdatedTimestamp": at, "StateTransitionedTimestamp": at} {
		if have[member] != want {
			t.Errorf("%s is %v, want %v", member, have[member], want)
		}
	}
	if a.status != http.StatusOK || a.header.Get("Content-Type") != contentJSON || a.header.Get("Smithy-Protocol") != "" {
		t.Errorf("%d %v", a.status, a.header)
	}
	// The SDK sees the same alarm in its own protocol.
	seen, err := l.cloudwatch.DescribeAlarms(t.Context(), &cloudwatch.DescribeAlarmsInput{StateValue: types.StateValueAlarm})
	must(t, err)
	if len(seen.MetricAlarms) != 1 || !seen.MetricAlarms[0].StateUpdatedTimestamp.Equal(l.clock.Now()) {
		t.Errorf("in CBOR: %+v", seen.MetricAlarms)
	}
}

func TestCloudWatchRefusesInTheProtocolOfTheRequest(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct {
		name, operation, body string
		status                int
		code, query           string
	}{
		{"an unknown alarm", "SetAlarmState", `{"AlarmName":"none","StateValue":"OK","StateReason":"x"}`, 404, "ResourceNotFound", "ResourceNotFound;Sender"},
		{"an unknown state", "SetAlarmState", `{"AlarmName":"db-down","StateValue":"TIRED","StateReason":"x"}`, 400, "InvalidParameterValueException", "InvalidParameterValue;Sender"},
		{"half a body", "SetAlarmState", `{"AlarmName":"db-d`, 400, "SerializationException", ""},
		{"an operation that is not there", "ListMetrics", `{}`, 501, "UnknownOperationException", ""},
	} {
		a := l.alarmsInJSON(t, c.operation, c.body)
		var e map[string]any
		if err := json.Unmarshal([]byte(a.body), &e); err != nil {
			t.Fatalf("%s: %v in %q", c.name, err, a.body)
		}
		if a.status != c.status || e["__type"] != c.code || a.header.Get("X-Amzn-Query-Error") != c.query || a.header.Get("Content-Type") != contentJSON {
			t.Errorf("%s: %+v", c.name, a)
		}
		if text, _ := e["message"].(string); text == "" {
			t.Errorf("%s: no message in %s", c.name, a.body)
		}
	}
	must(t, l.SetFaults(world.Fault{Operation: "cloudwatch:*", Throttle: 1}))
	if a := l.alarmsInJSON(t, "DescribeAlarms", `{}`); a.status != http.StatusBadRequest || a.body != `{"__type":"Throttling","message":"Rate exceeded"}` {
		t.Errorf("a fault: %+v", a)
	}
	_, err := l.cloudwatch.DescribeAlarms(t.Context(), &cloudwatch.DescribeAlarmsInput{})
	refused(t, err, "Throttling", "Rate exceeded")
}

func TestARequestInNoProtocolOfCloudWatchIsRefusedBeforeItDoesAnything(t *testing.T) {
	l := newLab(t)
	target := []string{"X-Amz-Target", "GraniteServiceVersion20100801.SetAlarmState"}
	body := `{"AlarmName":"db-down","StateValue":"ALARM","StateReason":"x"}`
	for name, a := range map[string]sent{
		"the query form": l.send(t, "Action=SetAlarmState&Version=2010-08-01&AlarmName=db-down&StateValue=ALARM&StateReason=x", "Content-Type", "application/x-www-form-urlencoded"),
		"plain JSON":     l.send(t, body, append(target, "Content-Type", "application/json")...),
		"nothing said":   l.send(t, body, target...),
		"JSON as RPC v2": l.send(t, body, append(target, "Content-Type", contentJSON, "Smithy-Protocol", "rpc-v2-cbor")...),
		"another RPC v2": l.send(t, body, append(target, "Content-Type", "application/cbor", "Smithy-Protocol", "rpc-v2-json")...),
	} {
		if a.status != http.StatusUnsupportedMediaType || !strings.HasPrefix(a.body, "cloudwatch was asked with Content-Type ") ||
			!strings.Contains(a.body, "it understands application/cbor with rpc-v2-cbor, and application/x-amz-json-1.0") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if calls := l.Calls(); len(calls) != 0 {
		t.Errorf("calls %v", calls)
	}
}

// An old answer in another protocol would be one that the client cannot read.
func TestAStaleAnswerIsInTheProtocolOfTheRequest(t *testing.T) {
	l := newLab(t)
	ask := func(media string, more ...string) sent {
		return l.send(t, "", append(more, "X-Amz-Target", "GraniteServiceVersion20100801.DescribeAlarms", "Content-Type", media)...)
	}
	if a := ask("application/cbor", "Smithy-Protocol", "rpc-v2-cbor"); a.status != http.StatusOK {
		t.Fatalf("%+v", a)
	}
	l.clock.Add(time.Minute)
	must(t, l.SetFaults(world.Fault{Operation: "cloudwatch:*", Stale: time.Second}))
	a := ask(contentJSON)
	if a.header.Get("Content-Type") != contentJSON || !json.Valid([]byte(a.body)) {
		t.Errorf("%+v", a)
	}
}

// Holdfast's notices and audit print these for people; they exist in AWS only.
func TestACommandThatExistsInAWSOnlyIsRefusedByName(t *testing.T) {
	l := newLab(t)
	const form = "application/x-www-form-urlencoded"
	for operation, a := range map[string]sent{
		"GetConsoleOutput":       l.send(t, "Action=GetConsoleOutput&Version=2016-11-15&InstanceId=i-1", "Content-Type", form),
		"DescribeTrafficSources": l.send(t, "Action=DescribeTrafficSources&Version=2011-01-01&AutoScalingGroupName=web", "Content-Type", form),
		"LookupEvents": l.send(t, "{}", "Content-Type", "application/x-amz-json-1.1",
			"X-Amz-Target", "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents"),
	} {
		text := strings.ReplaceAll(a.body, "&#34;", `"`)
		if a.status != http.StatusNotImplemented || !strings.Contains(text, `operation "`+operation+`"`) || !strings.Contains(text, "is not part of the embedded AWS") {
			t.Errorf("%s: %d %s", operation, a.status, a.body)
		}
	}
	// A name of a service of its own is told whole.
	a := l.send(t, "{}", "X-Amz-Target", "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents")
	if !strings.Contains(a.body, `of service "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101"`) {
		t.Errorf("%s", a.body)
	}
}
