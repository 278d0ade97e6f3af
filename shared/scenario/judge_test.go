package scenario_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/scenario"
)

// single has one broken member of eight: confirming at 0s, marked at 60s.
const single = `name: single
group: {name: web}
fleet: {i1: "unhealthy[Target.Timeout] last=400s/ok", i2-i8: healthy}
`

// mass has four bad members of eight at 0s: held at once, with a page.
const mass = `name: mass
group: {name: web}
fleet: {i1-i4: "unhealthy[Target.Timeout]", i5-i8: healthy}
`

// stayed is a hold with good members that AWS calls Unhealthy: they are restored.
const stayed = `name: stayed
group: {name: web}
history: {held: {since: -25m}, quiet_since: -5m}
fleet: {i1: "Unhealthy healthy", i2-i8: healthy}
`

func failures(t *testing.T, text string) []string {
	t.Helper()
	s, err := scenario.Parse("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, sweep := range replay(t, s, scenario.Options{}).Sweeps {
		out = append(out, sweep.Failures...)
	}
	return out
}

func TestAnUnmetExpectationIsReported(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"a mark that did not come", single + "steps: [{at: 0s, expect: {mark: [i1]}}]\n", "mark: want i1, have none"},
		{"a mark that was not expected", single + "steps: [{at: 0s, repeat: 1, expect: {}}]\n", "mark: want none, have i1"},
		{"a mark of another member", single + "steps: [{at: 0s, repeat: 1, expect: {mark: [i2]}}]\n", "mark: want i2, have i1"},
		{"a mark that never may be", single + "steps: [{at: 0s, repeat: 1}]\nnever: [mark]\n", "never mark: i1 at 60s"},
		{"a deferral with another reason", single + "steps: [{at: 0s, expect: {defer: {i1: budget}}}]\n", "defer: want i1 budget, have confirming"},
		{"a deferral of a member that is well", single + "steps: [{at: 0s, expect: {defer: {i2: any}}}]\n", "defer: want i2 any, have it not deferred"},
		{"another mode", single + "steps: [{at: 0s, expect: {mode: held}}]\n", "mode: want held, have watching"},
		{"a page that did not come", single + "steps: [{at: 0s, expect: {page: [held]}}]\n", "page: want held, have none"},
		{"a suspend that did not come", single + "steps: [{at: 0s, expect: {suspend: true}}]\n", "suspend: want a call, have none"},
		{"a list of processes that were not suspended", single + "steps: [{at: 0s, expect: {suspend: [ReplaceUnhealthy]}}]\n",
			"suspend: want ReplaceUnhealthy, have none"},
		{"a resume that did not come", single + "steps: [{at: 0s, expect: {resume: true}}]\n", "resume: want a call, have none"},
		{"a suspend that was not expected", mass + "steps: [{at: 0s, expect: {}}]\n",
			"suspend: want no call, have AZRebalance, HealthCheck, ReplaceUnhealthy"},
		{"a suspend of other processes", mass + "steps: [{at: 0s, expect: {suspend: [ReplaceUnhealthy]}}]\n",
			"suspend: want ReplaceUnhealthy, have AZRebalance, HealthCheck, ReplaceUnhealthy"},
		{"a page that was forbidden", mass + "steps: [{at: 0s, expect: {suspend: true, no_page: [held]}}]\n", "no_page: want no held, have it at 0s"},
		{"a page that never may be", mass + "steps: [{at: 0s}]\nnever: [page]\n", "never page: held at 0s"},
		{"a suspend that never may be", mass + "steps: [{at: 0s}]\nnever: [suspend]\n", "never suspend: AZRebalance, HealthCheck, ReplaceUnhealthy at 0s"},
		{"a restore that was not expected", stayed + "steps: [{at: 0s, repeat: 3, expect: {}}]\n", "restore: want none, have i1"},
		{"a restore that never may be", stayed + "steps: [{at: 0s, repeat: 3}]\nnever: [restore]\n", "never restore: i1 at "},
		{"a resume that was not expected", stayed + "steps: [{at: 0s, repeat: 20, expect: {restore: [i1]}}]\n",
			"resume: want no call, have AZRebalance, HealthCheck, ReplaceUnhealthy"},
		{"a resume that never may be", stayed + "steps: [{at: 0s, repeat: 20}]\nnever: [resume]\n", "never resume: AZRebalance, ReplaceUnhealthy at "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			have := failures(t, tc.text)
			if !slices.ContainsFunc(have, func(f string) bool { return strings.HasPrefix(f, tc.want) }) {
				t.Errorf("have %q, want %q among them", have, tc.want)
			}
		})
	}
}

func TestAMetExpectationIsNotReported(t *testing.T) {
	for name, text := range map[string]string{
		"a union over a step": single + "steps: [{at: 0s, repeat: 1, expect: {mark: [i1]}}]\n",
		"a deferral":          single + "steps: [{at: 0s, expect: {defer: {i1: any}, mode: watching, no_page: [held]}}]\n",
		"a hold":              mass + "steps: [{at: 0s, expect: {suspend: [HealthCheck, ReplaceUnhealthy, AZRebalance], page: [held], mode: held}}]\nnever: [mark, resume]\n",
		"HealthCheck belongs to the union of a list": stayed +
			"steps: [{at: 0s, repeat: 20, expect: {restore: [i1], resume: [HealthCheck, ReplaceUnhealthy, AZRebalance]}}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			if have := failures(t, text); len(have) > 0 {
				t.Errorf("have %q, want none", have)
			}
		})
	}
}

// A release resumes HealthCheck in a sweep of its own. The step that ends with it shows that this is no resume for an expectation.
func TestAResumeOfHealthCheckAloneIsNoResume(t *testing.T) {
	s, err := scenario.Parse("x", []byte(stayed+"steps: [{at: 0s, repeat: 20}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for i, sweep := range replay(t, s, scenario.Options{}).Sweeps {
		for _, c := range sweep.Actions {
			if c.Kind == "resume" && slices.Equal(c.Processes, []string{"HealthCheck"}) {
				at = i
			}
		}
	}
	if at < 1 {
		t.Fatalf("HealthCheck was resumed alone at sweep %d, want a later one", at)
	}
	for len(s.Steps[0].Times) > at+1 {
		s.Steps[0].Times = s.Steps[0].Times[:at+1]
	}
	for _, tc := range []struct {
		name     string
		never    []string
		expect   scenario.Expect
		failures int
	}{
		{"it does not break never", []string{"resume"}, scenario.Expect{Restore: []string{"i1"}}, 0},
		{"it does not meet resume: true", nil, scenario.Expect{Restore: []string{"i1"}, Resume: scenario.Processes{Some: true}}, 1},
		{"it meets a list", nil, scenario.Expect{Restore: []string{"i1"}, Resume: scenario.Processes{List: []string{"HealthCheck"}}}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.Never, s.Steps[0].Changes[0].Expect = tc.never, &tc.expect
			sweeps := replay(t, s, scenario.Options{}).Sweeps
			if have := sweeps[len(sweeps)-1].Failures; len(have) != tc.failures {
				t.Errorf("failures %q, want %d", have, tc.failures)
			}
		})
	}
}

func TestAGroupThatNoRunLooksAtFailsItsExpectations(t *testing.T) {
	have := failures(t, `name: unlooked
groups:
  web: {fleet: {i1: healthy}, dependencies: {db: {}}}
  api: {fleet: {j1: healthy}}
steps:
  - {at: 0s}
  - at: 20s
    trigger: alarm
    groups: {web: {expect: {mode: watching}}, api: {expect: {mode: watching}}}
`)
	if want := []string{"group api was not looked at: mode: want watching, have none"}; !slices.Equal(have, want) {
		t.Errorf("have %q, want %q", have, want)
	}
}
