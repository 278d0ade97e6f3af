package probe_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/probe"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/probes.md")
	if err != nil {
		t.Fatalf("read page: %v", err)
	}
	return string(text)
}

func TestEveryExampleOfTheDocumentationIsAccepted(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page(t), -1)
	if len(blocks) < 5 {
		t.Fatalf("%d examples were found", len(blocks))
	}
	kinds := map[probe.Kind]bool{}
	for _, b := range blocks {
		c, err := probe.Parse([]byte(b[1]))
		if err != nil {
			t.Errorf("%s\n%v", b[1], err)
		}
		if l := c.Load().String(); b[1] == blocks[0][1] && !strings.Contains(page(t), l) {
			t.Errorf("the page does not say the load of its first example: %s", l)
		}
		for _, s := range c.Sources {
			kinds[s.Kind] = true
		}
	}
	if len(kinds) != 5 {
		t.Errorf("the examples show the kinds %v, want all five", kinds)
	}
}

func TestTheDocumentationNamesEveryKeyCauseAndMetric(t *testing.T) {
	text := page(t)
	want := []string{
		"interval_seconds", "run_timeout_seconds", "concurrency", "sources", "name", "type", "timeout_ms", "every_seconds", "failures_in_row", "url", "status",
		"body_contains", "server_name", "ca_pem", "group", "sample", "scheme", "port", "path", "routing_path", "address", "days_min", "host", "expect", probe.Parameter,
	}
	for _, c := range probe.Causes() {
		want = append(want, string(c))
	}
	for _, m := range telemetry.Metrics() {
		if strings.HasPrefix(m.Name, "probe_") {
			want = append(want, m.Name)
		}
	}
	for _, word := range want {
		if !strings.Contains(text, "`"+word+"`") {
			t.Errorf("the page does not explain `%s`", word)
		}
	}
}
