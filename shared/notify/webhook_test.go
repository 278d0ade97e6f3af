package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/notify"
)

// Secrets that no error and no log line may show. The webhook's is the part of its path that only its owner knows.
const (
	slackToken = "XSLACKTOKENX0123456789"
	pagerKey   = "XPAGERKEYX0123456789abcdef0123456"
)

// parameters is SSM.
type parameters map[string]types.Parameter

func (p parameters) GetParameter(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	if !aws.ToBool(in.WithDecryption) {
		return nil, errors.New("asked without decryption")
	}
	found, ok := p[aws.ToString(in.Name)]
	if !ok {
		return nil, &types.ParameterNotFound{}
	}
	return &ssm.GetParameterOutput{Parameter: &found}, nil
}

func secure(value string) types.Parameter {
	return types.Parameter{Type: types.ParameterTypeSecureString, Value: aws.String(value)}
}

// hook is a webhook over TLS: it keeps what it was sent and answers with a status and a text.
type hook struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []map[string]any
	status int
	answer string
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{status: http.StatusOK, answer: "ok"}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var body map[string]any
		if err == nil {
			err = json.Unmarshal(raw, &body)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			http.Error(w, fmt.Sprint("not a JSON post: ", err), http.StatusTeapot)
			return
		}
		h.bodies = append(h.bodies, body)
		if h.status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere?token="+slackToken)
		}
		w.WriteHeader(h.status)
		_, _ = io.WriteString(w, h.answer) // a broken answer is the client's to judge
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) slack() notify.Channel {
	params := parameters{"/secrets/slack": secure(h.URL + "/services/T000/" + slackToken + "\n")}
	return notify.NewSlack(notify.NewHTTPClient(h.Client().Transport), notify.Secret{API: params, Name: "/secrets/slack"})
}

func (h *hook) pagerDuty() notify.Channel {
	params := parameters{"/aws/reference/secretsmanager/pager": secure(pagerKey)}
	return notify.NewPagerDuty(notify.NewHTTPClient(h.Client().Transport), h.URL+"/v2/enqueue", notify.Secret{API: params, Name: "/aws/reference/secretsmanager/pager"})
}

func TestSlackGetsTheChatText(t *testing.T) {
	h := newHook(t)
	m := render(t, noticeOf(guard.PageHeld))
	if err := h.slack().Send(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	if len(h.bodies) != 1 || len(h.bodies[0]) != 1 || h.bodies[0]["text"] != m.Chat {
		t.Errorf("sent %v", h.bodies)
	}
}

func TestPagerDutyGetsOneAlertForAConditionAndItsEnd(t *testing.T) {
	h := newHook(t)
	h.status = http.StatusAccepted
	c := h.pagerDuty()
	again := noticeOf(guard.PageHeld)
	again.Reminder, again.At = true, again.At.Add(time.Hour)
	other := noticeOf(guard.PageBlind)
	other.Subject = "alarms"
	for _, n := range []notify.Notice{noticeOf(guard.PageHeld), again, other} {
		if err := c.Send(context.Background(), render(t, n)); err != nil {
			t.Fatal(err)
		}
	}
	first := h.bodies[0]
	if first["routing_key"] != pagerKey || first["event_action"] != "trigger" || first["dedup_key"] != groupARN+"#held" {
		t.Errorf("event %v", first)
	}
	about := first["payload"].(map[string]any)
	if about["severity"] != "critical" || about["source"] != groupARN || !strings.Contains(about["summary"].(string), "6 of 8 members are bad") || about["class"] != "held" {
		t.Errorf("payload %v", about)
	}
	if h.bodies[1]["dedup_key"] != first["dedup_key"] || h.bodies[2]["dedup_key"] != groupARN+"#blind#alarms" {
		t.Errorf("dedup keys %v, %v", h.bodies[1]["dedup_key"], h.bodies[2]["dedup_key"])
	}
	h.bodies = nil
	if err := c.Send(context.Background(), render(t, noticeOf(guard.PageReleased))); err != nil {
		t.Fatal(err)
	}
	var resolved []string
	for _, b := range h.bodies {
		if b["event_action"] != "resolve" || b["payload"] != nil {
			t.Errorf("event %v", b)
		}
		resolved = append(resolved, strings.TrimPrefix(b["dedup_key"].(string), groupARN+"#"))
	}
	slices.Sort(resolved)
	if want := []string{"held", "hold-too-long", "not-converging", "resume-blocked", "suspension-conflict"}; !slices.Equal(resolved, want) {
		t.Errorf("resolved %v, want %v", resolved, want)
	}
}

func TestPagerDutyGetsUrgentNoticesAndReleasesOnly(t *testing.T) {
	c := newHook(t).pagerDuty()
	observed := noticeOf(guard.PageReleased)
	observed.Mode = guard.ModeObserve
	calm := noticeOf(guard.PageConfig)
	calm.Urgent = false
	released := noticeOf(guard.PageReleased)
	released.Urgent = false
	for name, v := range map[string]struct {
		n    notify.Notice
		want bool
	}{"urgent": {noticeOf(guard.PageHeld), true}, "a release": {released, true}, "not urgent": {calm, false}, "observed": {observed, false}} {
		if c.Wants(v.n) != v.want {
			t.Errorf("%s: want %v", name, v.want)
		}
	}
}

func TestADedupKeyFitsHoweverLongTheNames(t *testing.T) {
	h := newHook(t)
	keys := map[string]bool{}
	for _, subject := range []string{"a", "b"} {
		n := noticeOf(guard.PageHeld)
		n.Subject = strings.Repeat("x", 300) + subject
		n.Text = strings.Repeat("é", 3000)
		if err := h.pagerDuty().Send(context.Background(), render(t, n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range h.bodies {
		key := b["dedup_key"].(string)
		keys[key] = true
		if summary := b["payload"].(map[string]any)["summary"].(string); len(key) > 255 || len(summary) > 1024 {
			t.Errorf("a key of %d bytes, a summary of %d", len(key), len(summary))
		}
	}
	if len(keys) != 2 {
		t.Errorf("keys %v", keys)
	}
}

func TestAWebhookThatDoesNotTakeANoticeIsAnErrorWithoutASecret(t *testing.T) {
	cases := map[string]struct {
		status int
		kind   error
	}{
		"refused":    {http.StatusForbidden, fault.Refused},
		"gone":       {http.StatusNotFound, fault.Refused},
		"too fast":   {http.StatusTooManyRequests, fault.Throttled},
		"broken":     {http.StatusBadGateway, fault.Unknown},
		"redirected": {http.StatusFound, fault.Refused},
	}
	for name, c := range cases {
		for secret, channel := range map[string]func(*hook) notify.Channel{slackToken: (*hook).slack, pagerKey: (*hook).pagerDuty} {
			h := newHook(t)
			h.status, h.answer = c.status, "no such key as "+secret+"\x1b[31m\n"+strings.Repeat("x", 1<<20)
			err := channel(h).Send(context.Background(), render(t, noticeOf(guard.PageHeld)))
			want := fmt.Sprint("status ", c.status, ": no such key as [secret]")
			if secret == slackToken { // the address is the secret: nothing of the answer is shown
				want = fmt.Sprint("status ", c.status)
			}
			if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), want) || secret == slackToken && !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v, want %v with %s", name, err, c.kind, want)
			}
			noSecret(t, err, secret)
			if len(fmt.Sprint(err)) > 500 {
				t.Errorf("%s: an error of %d bytes", name, len(fmt.Sprint(err)))
			}
			if len(h.bodies) != 1 {
				t.Errorf("%s: %d requests, want one, and no redirect followed", name, len(h.bodies))
			}
		}
	}
}

func TestAWebhookWithoutAnAnswerIsAnErrorWithoutASecret(t *testing.T) {
	message := render(t, noticeOf(guard.PageHeld))
	for secret, channel := range map[string]func(*hook) notify.Channel{slackToken: (*hook).slack, pagerKey: (*hook).pagerDuty} {
		h := newHook(t)
		h.Close()
		err := channel(h).Send(context.Background(), message)
		if !errors.Is(err, fault.Unknown) || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("nobody there: %v", err)
		}
		noSecret(t, err, secret)

		h = newHook(t)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		err = channel(h).Send(ctx, message)
		if !errors.Is(err, fault.Unknown) || !strings.Contains(err.Error(), "context canceled") {
			t.Errorf("a caller that gave up: %v", err)
		}
		noSecret(t, err, secret)
		if len(h.bodies) != 0 {
			t.Error("a request was made for a caller that gave up")
		}

		strange := notify.NewHTTPClient(nil) // does not know the server's certificate
		params := parameters{"/s": secure(h.URL + "/" + slackToken)}
		err = notify.NewSlack(strange, notify.Secret{API: params, Name: "/s"}).Send(context.Background(), message)
		if !errors.Is(err, fault.Unknown) || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("a certificate that nobody vouches for: %v", err)
		}
		noSecret(t, err, slackToken)
	}
}

func TestAClientForWebhooksIsBounded(t *testing.T) {
	if c := notify.NewHTTPClient(nil); c.Timeout != notify.SendTimeout || c.CheckRedirect == nil {
		t.Errorf("client %+v", c)
	}
}

func TestASecretThatIsNoneIsRefused(t *testing.T) {
	plain := secure("https://hooks.example.test/" + slackToken)
	plain.Type = types.ParameterTypeString
	cases := map[string]struct {
		params parameters
		kind   error
	}{
		"a parameter that does not exist":  {parameters{}, fault.Gone},
		"a parameter that all may read":    {parameters{"/s": plain}, fault.Refused},
		"an empty parameter":               {parameters{"/s": secure("")}, fault.Refused},
		"an address without TLS":           {parameters{"/s": secure("http://hooks.example.test/" + slackToken)}, fault.Refused},
		"an address without a host":        {parameters{"/s": secure("https:///" + slackToken)}, fault.Refused},
		"an address with a user":           {parameters{"/s": secure("https://u:" + slackToken + "@hooks.example.test/x")}, fault.Refused},
		"an address of another scheme":     {parameters{"/s": secure("file:///" + slackToken)}, fault.Refused},
		"a text that is no address at all": {parameters{"/s": secure("https://%zz/" + slackToken)}, fault.Refused},
	}
	for name, c := range cases {
		err := notify.NewSlack(notify.NewHTTPClient(refuser{t}), notify.Secret{API: c.params, Name: "/s"}).Send(context.Background(), render(t, noticeOf(guard.PageHeld)))
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", name, err, c.kind)
		}
		noSecret(t, err, slackToken)
	}
}

// refuser is a transport that must not be used.
type refuser struct{ t *testing.T }

func (r refuser) RoundTrip(*http.Request) (*http.Response, error) {
	r.t.Error("a request was made")
	return nil, errors.New("no request")
}

// TestASecretAddressInAnotherSpellingIsHidden has peers that repeat the address, or a part of it, in spellings of their own.
func TestASecretAddressInAnotherSpellingIsHidden(t *testing.T) {
	for name, c := range map[string]struct{ path, answer, leak string }{
		"a query without its escapes": {"/hook?sig=Zm9v%2Bsecret%2Fpart0123456789abc", "signature Zm9v+secret/part0123456789abc is wrong", "secret/part0123456789abc"},
		"a path with its escapes":     {"/services/T000%2BXSECRETTOKEN0123", "no such path /services/T000%2BXSECRETTOKEN0123", "XSECRETTOKEN0123"},
		"in capitals":                 {"/hook?sig=abcdefghijklmnop0123", "ABCDEFGHIJKLMNOP0123", "ABCDEFGHIJKLMNOP0123"},
		"slashes escaped in JSON":     {"/services/T000/XSLACKTOKENX0123456789", `{"url":"https:\/\/h\/services\/T000\/XSLACKTOKENX0123456789"}`, "XSLACKTOKENX0123456789"},
		"a fragment":                  {"/hook#XSECRETTOKEN0123456789", "bad XSECRETTOKEN0123456789", "XSECRETTOKEN0123456789"},
		"a plus as a space":           {"/hook?sig=XSECRET+TOKEN0123456789", "bad XSECRET TOKEN0123456789", "TOKEN0123456789"},
		"a semicolon escaped":         {"/hook;sig=XSECRET;TOKEN0123456789", "sig=XSECRET%3BTOKEN0123456789", "TOKEN0123456789"},
		"in short parts":              {"/a1b2c3/d4e5f6", "no a1b2c3 d4e5f6", "d4e5f6"},
	} {
		h := newHook(t)
		h.status, h.answer = http.StatusForbidden, c.answer
		params := parameters{"/s": secure(h.URL + c.path)}
		err := notify.NewSlack(notify.NewHTTPClient(h.Client().Transport), notify.Secret{API: params, Name: "/s"}).Send(context.Background(), render(t, noticeOf(guard.PageHeld)))
		if !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), "status 403") {
			t.Errorf("%s: %v, want refused", name, err)
		}
		noSecret(t, err, c.leak)
	}
}

func TestABrokenAnswerOfASecretAddressIsNotQuoted(t *testing.T) {
	broken := transport(func(*http.Request) (*http.Response, error) {
		return nil, errors.New(`malformed HTTP response "no /hook/d4e5f6 here"`)
	})
	params := parameters{"/s": secure("https://hooks.example.test/hook/d4e5f6")}
	err := notify.NewSlack(notify.NewHTTPClient(broken), notify.Secret{API: params, Name: "/s"}).Send(context.Background(), render(t, noticeOf(guard.PageHeld)))
	if !errors.Is(err, fault.Unknown) || !strings.Contains(err.Error(), "no answer that can be understood") {
		t.Errorf("have %v", err)
	}
	noSecret(t, err, "d4e5f6")
}

// noSecret fails if an error shows a secret, also to those who print it with its types or log it.
func noSecret(t *testing.T, err error, secret string) {
	t.Helper()
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Error("send", "error", err)
	for _, text := range []string{fmt.Sprint(err), fmt.Sprintf("%+v %#v", err, err), log.String()} {
		if strings.Contains(text, secret) {
			t.Errorf("a secret is shown: %.300s", text)
		}
	}
}
