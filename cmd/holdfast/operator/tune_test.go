package operator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/operator"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

const webLayer = "/holdfast/groups/web"

func settings(t *testing.T, args ...string) []operator.Setting {
	t.Helper()
	out, err := operator.ParseSettings(args)
	must(t, err)
	return out
}

func (r *rig) tune(t *testing.T, args ...string) (operator.Answer, error) {
	t.Helper()
	return r.desk.Tune(t.Context(), operator.Tuning{Group: "web", Settings: settings(t, args...)})
}

func TestTuneWritesWhatASweepWillObey(t *testing.T) {
	r := newRig(t)
	r.shelf.set(guard.LayerDefaults, `{"quiet_seconds":700}`)
	a, err := r.tune(t, "quiet_seconds=900", "mode=observe", "self_report_alone=true", `hold_processes=["ReplaceUnhealthy"]`,
		`queue={"sqs_url":"https://queue/a?b=1&c=2"}`)
	must(t, err)
	want := `{"hold_processes":["ReplaceUnhealthy"],"mode":"observe","queue":{"sqs_url":"https://queue/a?b=1&c=2"},"quiet_seconds":900,"self_report_alone":true}`
	if got := r.shelf.values[webLayer]; got != (operator.Parameter{Value: want, Version: 1}) || !a.Changed {
		t.Errorf("written %+v\nwant %s", got, want)
	}
	tells(t, "lines", a.Lines, "/holdfast/groups/web: written as version 1, in force from the next sweep, at the latest in 1m0s",
		"  quiet_seconds: 700 (/holdfast/defaults) -> 900 (/holdfast/groups/web)",
		"  mode: act (built-in) -> observe (/holdfast/groups/web)",
		"  self_report_alone: false (built-in) -> true (/holdfast/groups/web)",
		"policy of web:")
	tells(t, "warnings", a.Warnings)
	p := guard.Resolve([]guard.Layer{{Name: webLayer, Raw: []byte(want)}}, guard.Switch{Value: "act", Found: true})
	if len(p.Problems) > 0 || p.Policy.QuietSeconds != 900 || p.Policy.Queue == nil || p.Policy.Queue.SQSURL != "https://queue/a?b=1&c=2" {
		t.Errorf("a sweep reads %+v", p)
	}
}

func TestTheTableNamesTheLayerOfEveryValue(t *testing.T) {
	r := newRig(t)
	r.shelf.set(guard.ModeParameter, "observe")
	r.shelf.set(guard.LayerDefaults, `{"marks_per_day":4,"quiet_seconds":700}`)
	r.shelf.set("/holdfast/declared/web", `{"quiet_seconds":800,"kind":"worker"}`)
	r.shelf.set(webLayer, `{"quiet_seconds":9e2}`)
	a, err := r.tune(t)
	must(t, err)
	rows := map[string]string{}
	for _, line := range a.Lines {
		if f := strings.Fields(line); len(f) >= 3 {
			rows[f[0]] = strings.Join(f[1:], " ")
		}
	}
	for key, want := range map[string]string{
		"mode": "observe /holdfast/mode", "marks_per_day": "4 /holdfast/defaults", "kind": "worker /holdfast/declared/web",
		"quiet_seconds": "9e2 /holdfast/groups/web", "confirm_sweeps": "2 built-in", "dependencies": "[] built-in",
		"hold_processes": `["ReplaceUnhealthy","HealthCheck","AZRebalance"] built-in`,
	} {
		if rows[key] != want {
			t.Errorf("%s: %q, want %q", key, rows[key], want)
		}
	}
	for _, k := range guard.Keys() {
		if rows[k.Name] == "" {
			t.Errorf("%s is not in the table", k.Name)
		}
	}
	if a.Changed || r.shelf.puts != 0 {
		t.Error("looking has written")
	}
}

func TestTuneKeepsOtherKeysAndTakesKeysOut(t *testing.T) {
	r := newRig(t)
	r.shelf.set(webLayer, `{ "quiet_seconds": 900, "dependencies": [ {"alarm":"db","kind":"hard"} ], "confirm_sweeps": 3 }`)
	a, err := r.tune(t, "quiet_seconds=", "disagree_seconds=600")
	must(t, err)
	want := `{"confirm_sweeps":3,"dependencies":[{"alarm":"db","kind":"hard"}],"disagree_seconds":600}`
	if got := r.shelf.values[webLayer]; got.Value != want || got.Version != 2 {
		t.Errorf("written %+v, want %s", got, want)
	}
	tells(t, "lines", a.Lines, "quiet_seconds: 900 (/holdfast/groups/web) -> 600 (built-in)", "disagree_seconds: 900 (built-in) -> 600 (/holdfast/groups/web)")
}

func TestEveryKeyCanBeTakenOut(t *testing.T) {
	r := newRig(t)
	r.shelf.set(webLayer, `{"quiet_seconds":900}`)
	_, err := r.tune(t, "quiet_seconds=")
	must(t, err)
	if got := r.shelf.values[webLayer].Value; got != "{}" {
		t.Errorf("written %s", got)
	}
}

func TestWhatWouldBeInvalidIsRefusedWithItsRule(t *testing.T) {
	cases := []struct{ name, arg, says string }{
		{"a limit with a letter", "quiet_seconds=6O", `quiet_seconds: "6O" is not a number`},
		{"a number in quotes", `quiet_seconds="600"`, `quiet_seconds: "600" is not a number`},
		{"a negative number", "marks_per_hour=-1", "marks_per_hour: -1, want 0 or more"},
		{"a number past its range", "quiet_seconds=1e9", "quiet_seconds: 1000000000, want 60..86400"},
		{"a number past the compiled ceiling", "marks_per_hour=1e9", "marks_per_hour: 1000000000 is above the compiled ceiling of 3 for this group of 4 members"},
		{"a number just past the ceiling", "marks_per_hour=4", "ceiling of 3"},
		{"a fraction", "confirm_sweeps=2.5", "confirm_sweeps: 2.5 is not a whole number"},
		{"not a number", "quiet_seconds=NaN", `quiet_seconds: "NaN" is not a number`},
		{"infinity", "quiet_seconds=Infinity", `quiet_seconds: "Infinity" is not a number`},
		{"null", "quiet_seconds=null", "quiet_seconds: null is not a number"},
		{"an empty text", `mode=""`, `mode: "", want act, observe, off`},
		{"blanks", "quiet_seconds= ", `quiet_seconds: " " is not a number`},
		{"an unknown key", "quite_seconds=600", "quite_seconds: is no policy key"},
		{"a key of the defaults", "region_marks_per_hour=3", "region_marks_per_hour: is accepted in /holdfast/defaults only"},
		{"an unknown word", "hold_exit=never", `hold_exit: "never", want operator, paced`},
		{"a word for a flag", "self_report_alone=yes", `self_report_alone: "yes", want true or false`},
		{"no process", "hold_processes=[]", "hold_processes: [] has no ReplaceUnhealthy"},
		{"a process that must never be suspended", `hold_processes=["ReplaceUnhealthy","Launch"]`, `hold_processes: "Launch" is not one of`},
		{"fresh above stale", "heartbeat_fresh_seconds=200", "heartbeat_fresh_seconds 200 is not below heartbeat_stale_seconds 180"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.shelf.set(webLayer, `{"confirm_sweeps":3}`)
			_, err := r.tune(t, c.arg)
			refused(t, err, c.says)
			if err != nil && strings.Contains(err.Error(), "stays in force") {
				t.Errorf("the refusal tells what a sweep would do: %v", err)
			}
			if got := r.shelf.values[webLayer]; got.Version != 1 || r.shelf.puts != 0 {
				t.Errorf("written %+v", got)
			}
		})
	}
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	r := newRig(t)
	_, err := r.tune(t, "quiet_seconds=6O", "nonsense=1", "confirm_sweeps=99")
	refused(t, err, "quiet_seconds: ")
	refused(t, err, "nonsense: ")
	refused(t, err, "confirm_sweeps: 99, want 1..10")
}

func TestALimitAtItsCeilingIsTaken(t *testing.T) {
	r := newRig(t)
	_, err := r.tune(t, "marks_per_hour=3", "marks_per_10_minutes=1", "marks_per_day=8", "max_in_flight=1")
	must(t, err)
	r.edit("web", func(g *guard.Group) {
		for i := range 36 {
			g.Members = append(g.Members, guard.Member{ID: fmt.Sprintf("i-x%02d", i), Lifecycle: "InService"})
		}
	})
	_, err = r.tune(t, "marks_per_hour=4", "marks_per_10_minutes=2", "marks_per_day=20", "max_in_flight=2") // 10, 5, 50 and 5 % of 40
	must(t, err)
	for _, arg := range []string{"marks_per_hour=5", "marks_per_10_minutes=3", "marks_per_day=21", "max_in_flight=3"} {
		_, err = r.tune(t, arg)
		refused(t, err, "compiled ceiling")
	}
}

func TestALimitOfALowerLayerAboveItsCeilingDoesNotBlockOtherKeys(t *testing.T) {
	r := newRig(t)
	r.shelf.set(guard.LayerDefaults, `{"marks_per_hour":50}`)
	_, err := r.tune(t, "quiet_seconds=900")
	must(t, err)
}

func TestALimitThatIsClampedIsShownAsASweepTakesIt(t *testing.T) {
	r := newRig(t)
	r.shelf.set(guard.LayerDefaults, `{"marks_per_hour":50,"marks_per_day":8,"max_in_flight":7,"region_marks_per_hour":6}`)
	r.shelf.set(webLayer, `{"max_in_flight":1}`)
	a, err := r.tune(t)
	must(t, err)
	all := strings.Join(strings.Fields(strings.Join(a.Lines, "\n")), " ")
	for _, row := range []string{
		"marks_per_hour 3 /holdfast/defaults says 50, clamped to the compiled ceiling for 4 members", "marks_per_day 8 /holdfast/defaults region_marks_per_hour",
		"max_in_flight 1 /holdfast/groups/web marks_per_10_minutes",
	} {
		if !strings.Contains(all, row) {
			t.Errorf("the table has no %q:\n%s", row, strings.Join(a.Lines, "\n"))
		}
	}
	a, err = r.tune(t, "max_in_flight=")
	must(t, err)
	tells(t, "lines", a.Lines, "  max_in_flight: 1 (/holdfast/groups/web) -> 1 (/holdfast/defaults says 7, clamped to the compiled ceiling for 4 members)")
}

func TestAnInvalidDocumentCanBeMended(t *testing.T) {
	r := newRig(t)
	r.shelf.set(webLayer, `{"quiet_seconds":"6O","mode":"observe","typo":1}`)
	_, err := r.tune(t, "quiet_seconds=900")
	refused(t, err, "typo: is no policy key")
	a, err := r.tune(t, "quiet_seconds=900", "typo=")
	must(t, err)
	tells(t, "lines", a.Lines, "typo: taken out, it is no policy key", "quiet_seconds: 600 (built-in) -> 900 (/holdfast/groups/web)")
	if got := r.shelf.values[webLayer].Value; got != `{"mode":"observe","quiet_seconds":900}` {
		t.Errorf("written %s", got)
	}
}

func TestADocumentWhoseKeysCannotBeKeptIsNotTouched(t *testing.T) {
	for content, says := range map[string]string{
		`[1]`:                           "is not a JSON object",
		`quiet`:                         "is not a JSON object",
		`{"quiet_seconds":6O`:           "is not JSON",
		`{"mode":"act","mode":"off"}`:   `has the key "mode" twice`,
		`{"mode":"off"} {"mode":"act"}`: "has something after the JSON object",
	} {
		r := newRig(t)
		r.shelf.set(webLayer, content)
		_, err := r.tune(t, "quiet_seconds=900")
		refused(t, err, says)
		if r.shelf.puts != 0 {
			t.Errorf("%s was overwritten", content)
		}
	}
}

func TestTuneTwiceWritesOnce(t *testing.T) {
	r := newRig(t)
	_, err := r.tune(t, "quiet_seconds=900")
	must(t, err)
	for _, same := range []string{"quiet_seconds=900", "quiet_seconds= 900", "confirm_sweeps="} {
		a, err := r.tune(t, same)
		must(t, err)
		tells(t, "lines", a.Lines, "/holdfast/groups/web: has these values already; nothing was changed")
		if a.Changed || r.shelf.puts != 1 {
			t.Errorf("%q was written again", same)
		}
	}
}

func TestADryRunShowsEverythingAndWritesNothing(t *testing.T) {
	r := newRig(t)
	a, err := r.desk.Tune(t.Context(), operator.Tuning{Group: "web", Settings: settings(t, "quiet_seconds=900"), DryRun: true})
	must(t, err)
	tells(t, "lines", a.Lines, "would be written, a dry run writes nothing", "quiet_seconds: 600 (built-in) -> 900", "policy of web:")
	_, err = r.desk.Tune(t.Context(), operator.Tuning{Group: "web", Settings: settings(t, "quiet_seconds=1"), DryRun: true})
	refused(t, err, "quiet_seconds: 1, want 60..86400")
	if a.Changed || r.shelf.puts != 0 {
		t.Error("something was written")
	}
}

func TestAChangeByAnotherIsNotOverwritten(t *testing.T) {
	other := `{"confirm_sweeps":5}`
	cases := []struct {
		name   string
		before string // what stands there when tune begins
		spoil  func(*rig)
		says   string
		left   string // what stands there afterwards
	}{
		{"between the look and the write", `{}`, func(r *rig) { r.shelf.meanwhile = func() { r.shelf.set(webLayer, other) } },
			"was changed by somebody else meanwhile, from version 1 to 2; nothing was written", other},
		{"a parameter that is created meanwhile", "", func(r *rig) { r.shelf.meanwhile = func() { r.shelf.set(webLayer, other) } },
			"from version 0 to 1; nothing was written", other},
		{"a parameter that is created in the last moment", "", func(r *rig) { r.shelf.between = func() { r.shelf.set(webLayer, other) } },
			"was created by somebody else meanwhile; nothing was written", other},
		{"a change in the last moment, which cannot be kept out, is told", `{}`, func(r *rig) { r.shelf.between = func() { r.shelf.set(webLayer, other) } },
			"was written as version 3, and version 2 came between", `{"quiet_seconds":900}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			if c.before != "" {
				r.shelf.set(webLayer, c.before)
			}
			c.spoil(r)
			_, err := r.tune(t, "quiet_seconds=900")
			refused(t, err, c.says)
			if got := r.shelf.values[webLayer].Value; got != c.left {
				t.Errorf("left is %s, want %s", got, c.left)
			}
		})
	}
}

func TestAWriteWhoseAnswerWasLostIsLookedUp(t *testing.T) {
	r := newRig(t)
	r.shelf.lost = true
	a, err := r.tune(t, "quiet_seconds=900")
	must(t, err)
	tells(t, "lines", a.Lines, "written as version 1")
	r.shelf.lost, r.shelf.putErr = false, fmt.Errorf("put parameter: %w", fault.Unknown)
	if _, err := r.tune(t, "quiet_seconds=901"); !errors.Is(err, fault.Unknown) {
		t.Errorf("a write that may not have been done: %v", err)
	}
	r.shelf.putErr = fmt.Errorf("put parameter: %w", fault.Refused)
	if _, err := r.tune(t, "quiet_seconds=902"); !errors.Is(err, fault.Refused) {
		t.Errorf("a write that was refused: %v", err)
	}
}

// repeated is the client: the answer to a write is lost, and its own second try meets what the first one wrote.
type repeated struct{ *shelf }

func (s repeated) Put(ctx context.Context, name, value string, create bool) (int64, error) {
	if _, err := s.shelf.Put(ctx, name, value, create); err != nil {
		return 0, err
	}
	return s.shelf.Put(ctx, name, value, create)
}

func TestAWriteThatTheClientRepeatedIsItsOwn(t *testing.T) {
	for content, version := range map[string]int64{"": 1, "{}": 3} {
		r := newRig(t)
		if content != "" {
			r.shelf.set(webLayer, content)
		}
		p := r.ports()
		p.Parameters = repeated{r.shelf}
		a, err := operator.New(p, r.options()).Tune(t.Context(), operator.Tuning{Group: "web", Settings: settings(t, "mode=off")})
		must(t, err)
		tells(t, "lines", a.Lines, fmt.Sprintf("written as version %d", version))
		if got := r.shelf.values[webLayer]; got.Value != `{"mode":"off"}` || got.Version != version {
			t.Errorf("written %+v", got)
		}
	}
}

func TestWhoCreatedAParameterIsADoubtIfItCannotBeRead(t *testing.T) {
	r := newRig(t)
	r.shelf.between = func() {
		r.shelf.set(webLayer, `{}`)
		r.shelf.unread = errors.New("throttled")
	}
	_, err := r.tune(t, "quiet_seconds=900")
	if err == nil || errors.Is(err, operator.ErrRefused) || !errors.As(err, new(operator.UnsettledError)) {
		t.Errorf("error %v, want a doubt", err)
	}
}

func TestTuneWritesNothingWhenItCannotJudge(t *testing.T) {
	broken := errors.New("throttled")
	for name, spoil := range map[string]func(*rig){
		"the group":      func(r *rig) { r.fleet.err = broken },
		"the parameters": func(r *rig) { r.shelf.unread = broken },
		"other layers":   func(r *rig) { r.shelf.unlisted = broken },
		"the state":      func(r *rig) { r.ledger.FailBefore(r.ledger.Calls()+1, broken) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			spoil(r)
			if _, err := r.tune(t, "quiet_seconds=900"); err == nil || errors.Is(err, operator.ErrRefused) || r.shelf.puts != 0 {
				t.Errorf("error %v, %d writes", err, r.shelf.puts)
			}
		})
	}
	r := newRig(t)
	_, err := r.desk.Tune(t.Context(), operator.Tuning{Group: "wbe", Settings: settings(t, "quiet_seconds=900")})
	refused(t, err, "no Auto Scaling group")
}

func TestWhatTheTunerShouldKnowIsSaid(t *testing.T) {
	r := newRig(t)
	r.held(t, nil)
	r.edit("web", func(g *guard.Group) { g.OptedIn = false })
	r.shelf.set(guard.LayerDefaults, `{"quiet_seconds":1}`)
	a, err := r.tune(t, "mode=off")
	must(t, err)
	tells(t, "warnings", a.Warnings, "web does not carry the tag", "web is held since 2026-11-30 11:50:00Z: in mode off nothing releases it",
		"/holdfast/defaults: quiet_seconds: 1, want 60..86400; the layer below stays in force")
	a, err = r.blind().Tune(t.Context(), operator.Tuning{Group: "web", Settings: settings(t, "mode=observe")})
	must(t, err)
	tells(t, "warnings", a.Warnings, "no state table is known")
}

func TestTheLastGoodContentOfOtherLayersCounts(t *testing.T) {
	r := newRig(t)
	rec, err := r.ledger.Load(t.Context(), arn("web"))
	must(t, err)
	rec.LastGood = map[string][]byte{"/holdfast/declared/web": []byte(`{"heartbeat_stale_seconds":100}`)}
	rec.State.LastSweep = before(time.Second)
	_, err = r.ledger.Save(t.Context(), arn("web"), rec)
	must(t, err)
	r.shelf.set("/holdfast/declared/web", `{"heartbeat_stale_seconds":"x"}`)
	_, err = r.tune(t, "heartbeat_fresh_seconds=100")
	refused(t, err, "heartbeat_fresh_seconds 100 is not below heartbeat_stale_seconds 100")
	a, err := r.tune(t, "heartbeat_fresh_seconds=99")
	must(t, err)
	tells(t, "warnings", a.Warnings, "its last good content stays in force")
}

func TestTheLastGoodContentOfWhatAllGroupsShareCounts(t *testing.T) {
	r := newRig(t)
	_, err := r.ledger.SaveRegion(t.Context(), runner.RegionRecord{LastGoodDefaults: []byte(`{"heartbeat_stale_seconds":100}`), LastGoodMode: "off"})
	must(t, err)
	r.shelf.set(guard.LayerDefaults, `{"heartbeat_stale_seconds":"x"}`)
	r.shelf.set(guard.ModeParameter, "sometimes")
	_, err = r.tune(t, "heartbeat_fresh_seconds=100")
	refused(t, err, "heartbeat_fresh_seconds 100 is not below heartbeat_stale_seconds 100")
	a, err := r.tune(t, "mode=observe")
	must(t, err)
	tells(t, "lines", a.Lines, "off from /holdfast/mode is in force")
	s, err := r.desk.Status(t.Context(), nil)
	must(t, err)
	if s.Switch != "off" || s.SwitchProblem != `"sometimes", want act, observe or off` {
		t.Errorf("the switch is %s: %s", s.Switch, s.SwitchProblem)
	}
	if got := s.Groups[0].Problems; len(got) != 1 || !strings.HasPrefix(got[0], "/holdfast/defaults: ") {
		t.Errorf("the group's problems are %q, want that of the defaults", got)
	}
}

func TestAModeThatTheSwitchBoundsIsSaid(t *testing.T) {
	r := newRig(t)
	r.shelf.set(guard.ModeParameter, "off")
	r.shelf.set(webLayer, `{"mode":"observe"}`)
	a, err := r.tune(t, "mode=act")
	must(t, err)
	tells(t, "lines", a.Lines, "mode: changed without effect, off from /holdfast/mode is in force")
}

func TestSettingsAreKeyAndValue(t *testing.T) {
	got := settings(t, "a=1", "b=word", "c=", `d=[1, 2]`, "e=x=y")
	want := `[{"Key":"a","Raw":1},{"Key":"b","Raw":"word"},{"Key":"c","Raw":null},{"Key":"d","Raw":[1,2]},{"Key":"e","Raw":"x=y"}]`
	if text, err := json.Marshal(got); err != nil || string(text) != want {
		t.Errorf("settings %s, %v\nwant %s", text, err, want)
	}
	for arg, says := range map[string]string{"quiet_seconds": "is not KEY=VALUE", "=5": "is not KEY=VALUE"} {
		if _, err := operator.ParseSettings([]string{arg}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v", arg, err)
		}
	}
	if _, err := operator.ParseSettings([]string{"a=1", "a=2"}); err == nil || !strings.Contains(err.Error(), `"a" stands twice`) {
		t.Errorf("a key twice: error %v", err)
	}
}

// A person copies values: from an example, and from what a dry run shows.
func TestExamplesAndWhatADryRunShowsAreAccepted(t *testing.T) {
	for _, example := range operator.Examples() {
		r := newRig(t)
		key, value, _ := strings.Cut(example, "=")
		value = strings.Trim(value, "'")
		a := tuned(t, r, true, key+"="+value)
		if !slices.ContainsFunc(a.Lines, func(l string) bool {
			f := strings.Fields(l)
			return len(f) == 3 && f[0] == key && f[1] == value
		}) {
			t.Errorf("the table does not show %s as it was given:\n%s", example, strings.Join(a.Lines, "\n"))
		}
		settings, err := operator.ParseSettings([]string{key + "=wrong"})
		must(t, err)
		_, err = r.desk.Tune(t.Context(), operator.Tuning{Group: "web", Settings: settings})
		refused(t, err, "; such as "+example)
	}
	r := newRig(t)
	for _, l := range tuned(t, r, false).Lines[2:] {
		f := strings.Fields(l)
		if len(f) != 3 || f[1] == "none" || f[0] == "region_marks_per_hour" {
			continue
		}
		tuned(t, r, true, f[0]+"="+f[1])
	}
}

// tuned wants settings to be accepted.
func tuned(t *testing.T, r *rig, dry bool, args ...string) operator.Answer {
	t.Helper()
	settings, err := operator.ParseSettings(args)
	must(t, err)
	a, err := r.desk.Tune(t.Context(), operator.Tuning{Group: "web", Settings: settings, DryRun: dry})
	must(t, err)
	return a
}
