package scenario_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/scenario"
)

// story replays a text and returns its story.
func story(t *testing.T, text string) string {
	t.Helper()
	s, err := scenario.Parse("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := replay(t, s, scenario.Options{}).WriteStory(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestLooksThatAreTheSameAreOneLine(t *testing.T) {
	have := story(t, "name: short\nabout: one of four\ngroup: {name: web}\nfleet: {i1-i4: healthy}\n"+
		"steps:\n  - {at: 0s, repeat: 3}\n  - {fleet: {i1: unhealthy}, repeat: 1}\n  - {fleet: {i1: healthy}, repeat: 2}\n")
	want := `short: one of four

12:00:00 (0s)  web  watching
  4 eligible, 4 healthy, 0 bad, 0 broken, 0 outside

12:01 to 12:03: the same

12:04:00 (240s)  web  watching
  4 eligible, 3 healthy, 1 bad, 0 broken, 0 outside
  deferred i1: signals-disagree (have 0, limit 900)

12:05:00 (300s)  web  watching
  4 eligible, 4 healthy, 0 bad, 0 broken, 0 outside

12:06: the same

short: 7 looks, every expectation met
`
	if have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
}

func TestTheSameLooksAtSeveralGroupsAreNamed(t *testing.T) {
	have := story(t, "name: short\nsweep_interval: 90s\ngroups: {web: {fleet: {i1-i4: healthy}}, api: {fleet: {j1-j4: healthy}}}\nsteps: [{at: 0s, until: 12h}]\n")
	const want = "12:01:30 to 2026-12-01 00:00: web the same\n12:01:30 to 2026-12-01 00:00: api the same\n\nshort: 962 looks, "
	if !strings.Contains(have, want) || strings.Count(have, "eligible") != 2 {
		t.Errorf("have\n%s\nwant %q in it", have, want)
	}
}

// A look at which something was done, said or missed is always told by itself.
func TestALookThatFailsIsNeverFolded(t *testing.T) {
	have := story(t, "name: short\ngroup: {name: web}\nfleet: {i1-i4: healthy}\nsteps: [{at: 0s}, {expect: {mode: held}}, {expect: {mode: held}}]\n")
	if strings.Count(have, "FAILED   mode: want held, have watching") != 2 || !strings.HasSuffix(have, "\nshort: 3 looks, 2 expectations not met\n") {
		t.Errorf("have\n%s", have)
	}
}

func TestOneLookIsNoPlural(t *testing.T) {
	have := story(t, "name: short\ngroup: {name: web}\nfleet: {i1-i4: healthy}\nsteps: [{at: 0s, expect: {mode: held}}]\n")
	if !strings.HasSuffix(have, "\nshort: 1 look, 1 expectation not met\n") {
		t.Errorf("have\n%s", have)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAVerdictThatCannotBeWrittenIsAnError(t *testing.T) {
	s, err := scenario.Parse("x", []byte("name: short\ngroup: {name: web}\nfleet: {i1: healthy}\nsteps: [{at: 0s}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := replay(t, s, scenario.Options{})
	for name, write := range map[string]func() error{
		"the story": func() error { return r.WriteStory(full{}) }, "the verdict": func() error { return r.WriteVerdict(full{}) },
	} {
		if err := write(); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
