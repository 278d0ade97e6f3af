package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// TestTheAlarmOfTheDocumentationIsOnAMetricThatIsEmitted runs the function and looks for the metric that the page's alarm names.
func TestTheAlarmOfTheDocumentationIsOnAMetricThatIsEmitted(t *testing.T) {
	raw, err := os.ReadFile("../../docs/probes.md")
	if err != nil {
		t.Fatalf("read page: %v", err)
	}
	page := string(raw)
	flag := func(name string) string {
		found := regexp.MustCompile(`(?m)--` + name + ` (\S.*?)(?: --| \\?$)`).FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("the page has no --%s", name)
		}
		return found[1]
	}
	dimensions := map[string]string{}
	for _, d := range regexp.MustCompile(`Name=(\w+),Value=(\S+)`).FindAllStringSubmatch(flag("dimensions"), -1) {
		dimensions[d[1]] = d[2]
	}
	name := dimensions[telemetry.DimensionDependency]
	if !strings.Contains(page, `{"name": "`+name+`", `) {
		t.Errorf("the alarm is on %q, which is no source of the page", name)
	}
	f := newFixture(t)
	f.put(t, `{"sources":[{"name":"`+name+`","type":"tcp","address":"db:5432"}]}`)
	f.handle(t, "")
	matches := 0
	for line := range strings.Lines(f.out.String()) {
		if emits(t, line, flag("namespace"), flag("metric-name"), dimensions) {
			matches++
		}
	}
	if matches != 1 {
		t.Errorf("%d metrics are %s %s %v, want one in\n%s", matches, flag("namespace"), flag("metric-name"), dimensions, f.out.String())
	}

	tune := regexp.MustCompile(`holdfast tune \S+ dependencies='(.*)'`).FindStringSubmatch(page)
	if tune == nil {
		t.Fatal("the page has no holdfast tune")
	}
	policy := guard.Resolve([]guard.Layer{{Name: "group", Raw: []byte(`{"dependencies":` + tune[1] + `}`)}}, guard.Switch{Value: "act", Found: true})
	want := guard.Dependency{Alarm: flag("alarm-name"), Kind: "hard", Missing: guard.MissingUnknown}
	if have := policy.Policy.Dependencies; len(policy.Problems) != 0 || len(have) != 1 || have[0] != want {
		t.Errorf("the policy has %+v and %+v, want %+v", have, policy.Problems, want)
	}
}

// emits says whether a line is a metric of that namespace and name with exactly those dimensions.
func emits(t *testing.T, line, namespace, name string, dimensions map[string]string) bool {
	t.Helper()
	var root map[string]any
	var aws struct {
		AWS struct {
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name string }
			}
		} `json:"_aws"`
	}
	for _, into := range []any{&root, &aws} {
		if err := json.Unmarshal([]byte(line), into); err != nil {
			t.Fatalf("decode %s: %v", line, err)
		}
	}
	for _, d := range aws.AWS.CloudWatchMetrics {
		for _, m := range d.Metrics {
			if d.Namespace != namespace || m.Name != name || len(d.Dimensions) != 1 || len(d.Dimensions[0]) != len(dimensions) {
				continue
			}
			same := true
			for _, key := range d.Dimensions[0] {
				same = same && root[key] == dimensions[key]
			}
			if same {
				return true
			}
		}
	}
	return false
}
