package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// served runs the command until the test ends and returns its URL.
func served(t *testing.T, args ...string) string {
	t.Helper()
	url, _ := greeted(t, args...)
	return url
}

// greeted also returns the greeting.
func greeted(t *testing.T, args ...string) (url, greeting string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, append([]string{"--listen", "127.0.0.1:0"}, args...), write) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the command ended with %v", err)
		}
	})
	text := make([]byte, 4096)
	n, err := read.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	url = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(string(text[:n]))
	if url == "" || !strings.Contains(string(text[:n]), "export AWS_ENDPOINT_URL="+url) {
		t.Fatalf("greeting %q", text[:n])
	}
	return url, string(text[:n])
}

func TestTheGreetingTellsWhatToExportAndWhatRunsByItself(t *testing.T) {
	for _, c := range []struct {
		speed string
		says  string
	}{{"0", "# its time, which stands still until you move it"}, {"30", "# its time, 30 times as fast as yours"}} {
		url, text := greeted(t, "--speed", c.speed)
		for _, want := range []string{
			" AWS_DEFAULT_REGION=us-east-1 ", " HOLDFAST_STATE_TABLE=" + world.StateTable + " ", " HOLDFAST_HEARTBEAT_TABLE=" + world.HeartbeatTable + " ",
			" " + world.ClockVariable + "=" + url + "/_world/clock\n", "its clock starts at 2026-11-30T12:00:00Z",
			"go build -tags holdfast_world -o build/world/holdfast ./cmd/holdfast\n", "/_world/repair\n", "nothing is swept without --sweep",
			"go build -tags lambda.norpc,holdfast_world -o build/world/sweep ./functions/sweep\n", c.says,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("--speed %s: the greeting does not say %q:\n%s", c.speed, want, text)
			}
		}
	}
	watched := greeting("http://127.0.0.1:1", settings{speed: 60, sweep: "build/world/sweep"}, time.Time{})
	if !strings.Contains(watched, "looks every minute of its time") || strings.Contains(watched, "nothing is swept") {
		t.Errorf("with a sweep the greeting says\n%s", watched)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s %v", url, res.StatusCode, text, err)
	}
	return string(text)
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestAPersonCanBreakAndRepairAndLetTimePass(t *testing.T) {
	url := served(t, "--speed", "0", "--incident", "brownout")
	groups := func() sim.Sample {
		var all []sim.Sample
		if err := json.Unmarshal([]byte(get(t, url+"/_world/groups")), &all); err != nil || len(all) != 1 {
			t.Fatalf("%v, %d groups", err, len(all))
		}
		return all[0]
	}
	id := groups().Members[3].ID
	for _, step := range []struct{ path, body string }{
		{"break", fmt.Sprintf(`{"instance":%q,"kind":"hang"}`, id)}, {"time", `{"advance":"90s"}`},
		{"dependency", `{"name":"cache","state":"down","fail_share":1}`},
	} {
		if code, text := post(t, url+"/_world/"+step.path, step.body); code != http.StatusNoContent {
			t.Fatalf("%s: %d %s", step.path, code, text)
		}
	}
	s := groups()
	if m := s.Members[3]; m.Truth.Broken != sim.Hang || m.Target != sim.TargetUnhealthy || s.FailShare != 1 {
		t.Errorf("after 90 s: %+v, %v of requests fail", m, s.FailShare)
	}
	if clock := get(t, url+"/_world/clock"); clock != "2026-11-30T12:01:30Z" {
		t.Errorf("the clock says %s", clock)
	}
	if code, text := post(t, url+"/_world/repair", fmt.Sprintf(`{"instance":%q}`, id)); code != http.StatusNoContent {
		t.Errorf("repair: %d %s", code, text)
	}
	if timeline := get(t, url+"/_world/timeline"); !strings.Contains(timeline, `"Kind":"repair"`) {
		t.Errorf("no repair in %s", timeline)
	}
}

func TestWrongOrdersAreRefused(t *testing.T) {
	url := served(t, "--speed", "0", "--incident", "")
	for path, bodies := range map[string][]string{
		"time":       {`{"advance":"soon"}`, `{"advance":"-1s"}`, `{"advance":"25h"}`, `{"advanced":"1s"}`, `nonsense`},
		"break":      {`{"instance":"i-none","kind":"hang"}`},
		"dependency": {`{"name":"db","state":"tired"}`},
	} {
		for _, body := range bodies {
			if code, text := post(t, url+"/_world/"+path, body); code != http.StatusBadRequest || text == "" {
				t.Errorf("%s %s: %d %q", path, body, code, text)
			}
		}
	}
	if code, _ := post(t, url+"/_world/groups", "{}"); code != http.StatusMethodNotAllowed {
		t.Errorf("POST of a page to read: %d", code)
	}
}

func TestAnUnknownKindOrStateIsToldWithThoseThereAre(t *testing.T) {
	url, greeting := greeted(t, "--speed", "0", "--incident", "single-broken")
	var all []sim.Sample
	if err := json.Unmarshal([]byte(get(t, url+"/_world/groups")), &all); err != nil || len(all) != 1 {
		t.Fatalf("%v, %d groups", err, len(all))
	}
	kinds := "full-disk, bad-pool, hang, freeze, crash, stopped, impaired, broken-agent, cut-off, false-check"
	for _, c := range []struct{ path, body, says string }{
		{"break", fmt.Sprintf(`{"instance":%q,"kind":"gremlins"}`, all[0].Members[0].ID), `by "gremlins", want ` + kinds + " or false-alarm"},
		{"dependency", `{"name":"db","state":"tired"}`, `to "tired", want ok, slow or down`},
	} {
		if code, text := post(t, url+"/_world/"+c.path, c.body); code != http.StatusBadRequest || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %q, want %q", c.path, code, text, c.says)
		}
	}
	for _, want := range []string{"kinds: " + kinds + ", false-alarm\n", "states: ok, slow, down\n"} {
		if !strings.Contains(greeting, want) {
			t.Errorf("the greeting does not say %q:\n%s", want, greeting)
		}
	}
}

func TestAnUnknownDependencyIsToldWithThoseThereAre(t *testing.T) {
	for _, c := range []struct{ incident, name, says string }{
		{"brownout", "nosuch", `dependency "nosuch", want one that a group or an alarm here has: authorization, cache, database`},
		{"brownout", "", `dependency "", want one that a group or an alarm here has: authorization, cache, database`},
		{"", "cache", `dependency "cache": no group and no alarm here has a dependency`},
	} {
		url := served(t, "--speed", "0", "--incident", c.incident)
		before := get(t, url+"/_world/timeline")
		code, text := post(t, url+"/_world/dependency", fmt.Sprintf(`{"name":%q,"state":"slow","fail_share":0.5}`, c.name))
		if code != http.StatusBadRequest || !strings.Contains(text, c.says) {
			t.Errorf("%q of %q: %d %q, want %q", c.name, c.incident, code, text, c.says)
		}
		if after := get(t, url+"/_world/timeline"); after != before {
			t.Errorf("%q was refused, but the timeline changed to %s", c.name, after)
		}
	}
}

func TestTheSwitchTakesNoValueThatIsNoMode(t *testing.T) {
	url := served(t, "--speed", "0", "--incident", "")
	for value, want := range map[string]string{"act": "", "off": "", "on": "ParameterPatternMismatchException", "observe ": "ParameterPatternMismatchException"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(fmt.Sprintf(`{"Name":"/holdfast/mode","Value":%q,"Overwrite":true}`, value)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-amz-json-1.1")
		req.Header.Set("X-Amz-Target", "AmazonSSM.PutParameter")
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20261130/us-east-1/ssm/aws4_request, SignedHeaders=host, Signature=0")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || (want == "") != (res.StatusCode == http.StatusOK) || !strings.Contains(string(text), want) {
			t.Errorf("%q: %d %s %v, want %q", value, res.StatusCode, text, err, want)
		}
	}
}

func TestTheClockRunsByItself(t *testing.T) {
	url := served(t, "--speed", "3600")
	begin := get(t, url+"/_world/clock")
	for end := time.Now().Add(10 * time.Second); get(t, url+"/_world/clock") == begin; {
		if time.Now().After(end) {
			t.Fatal("the clock stands still")
		}
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"--listen", "0.0.0.0:1"}, "loopback"},
		{[]string{"--listen", "example.com:1"}, "loopback"},
		{[]string{"--listen", "4599"}, "listen"},
		{[]string{"--speed", "-1"}, "speed"},
		{[]string{"--mode", "on"}, `mode "on", want act, observe, off`},
		{[]string{"--speed", "NaN"}, "speed"},
		{[]string{"--incident", "flood", "--listen", "127.0.0.1:0"}, "no incident"},
		{[]string{"more"}, "unexpected"},
		{[]string{"--sweep", "/nowhere/bootstrap", "--listen", "127.0.0.1:0"}, "nowhere"},
	} {
		if err := run(t.Context(), tc.args, io.Discard); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%v: %v, want it to say %q", tc.args, err, tc.says)
		}
	}
}
