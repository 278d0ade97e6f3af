package operator_test

import (
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/operator"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// The page about a bad layer names holdfast tune, and whoever is paged must be able to stop the group first.
func TestAStricterModeIsTakenWhateverElseIsWrongWithTheLayer(t *testing.T) {
	for _, c := range []struct{ name, content, arg, want, says, remedy string }{
		{"a limit out of its range", `{"quiet_seconds":-1}`, "mode=off", `{"mode":"off","quiet_seconds":-1}`, "bad before this change: quiet_seconds: -1, want 60..86400", "holdfast tune web quiet_seconds="},
		{"observe", `{"quiet_seconds":-1}`, "mode=observe", `{"mode":"observe","quiet_seconds":-1}`, "quiet_seconds: -1", "holdfast tune web quiet_seconds="},
		{"from observe to off", `{"mode":"observe","typo":1}`, "mode=off", `{"mode":"off","typo":1}`, "typo: is no policy key", "holdfast tune web typo="},
		{"a mode that is none", `{"mode":"sometimes","typo":1}`, "mode=off", `{"mode":"off","typo":1}`, "typo: is no policy key", "holdfast tune web typo="},
		{"values that do not fit each other", `{"heartbeat_fresh_seconds":200}`, "mode=off", `{"heartbeat_fresh_seconds":200,"mode":"off"}`, "heartbeat_fresh_seconds 200 is not below", ""},
		{"two keys", `{"typo":1,"quiet_seconds":-1}`, "mode=off", `{"mode":"off","quiet_seconds":-1,"typo":1}`, "quiet_seconds: -1", "holdfast tune web quiet_seconds= typo="},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.shelf.set(webLayer, c.content)
			a, err := r.tune(t, c.arg)
			must(t, err)
			tells(t, "warnings", a.Warnings, webLayer+" is still invalid, so of its content only the mode is in force", c.says, c.remedy)
			if got := r.shelf.values[webLayer].Value; got != c.want {
				t.Errorf("written %s, want %s", got, c.want)
			}
			mode := strings.TrimPrefix(c.arg, "mode=")
			res := guard.Resolve([]guard.Layer{{Name: webLayer, Raw: []byte(c.want)}}, guard.Switch{Value: "act", Found: true})
			if res.Policy.Mode != mode {
				t.Errorf("a sweep reads %s, want %s", res.Policy.Mode, mode)
			}
		})
	}
}

func TestAnInvalidLayerTakesNoOtherChangeAndSaysHowToDropWhatWasBad(t *testing.T) {
	const remedy = "bad before this change: quiet_seconds; to drop that: holdfast tune web quiet_seconds=; a stricter mode alone is taken all the same"
	for _, c := range []struct{ name, content, args, says string }{
		{"another key", `{"quiet_seconds":-1}`, "confirm_sweeps=3", remedy},
		{"a mode that is not stricter", `{"quiet_seconds":-1}`, "mode=act", remedy},
		{"a looser mode", `{"mode":"off","quiet_seconds":-1}`, "mode=observe", remedy},
		{"a mode taken out", `{"mode":"off","quiet_seconds":-1}`, "mode=", remedy},
		{"a stricter mode with a new fault", `{"quiet_seconds":-1}`, "mode=off confirm_sweeps=99", "confirm_sweeps: 99, want 1..10"},
		{"a stricter mode with an old fault made another", `{"quiet_seconds":-1}`, "mode=off quiet_seconds=-2", "quiet_seconds: -2, want 60..86400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.shelf.set(webLayer, c.content)
			_, err := r.tune(t, strings.Fields(c.args)...)
			refused(t, err, c.says)
			if r.shelf.puts != 0 {
				t.Errorf("written %+v", r.shelf.values[webLayer])
			}
		})
	}
}

// The last good content of an invalid layer stays in force with its mode: an observe that a sweep would not obey is no stricter mode.
func TestAModeIsNotStricterThanTheLastGoodOne(t *testing.T) {
	r := newRig(t)
	r.lastGood(t, `{"mode":"off"}`)
	r.shelf.set(webLayer, `{"quiet_seconds":-1}`)
	_, err := r.tune(t, "mode=observe")
	refused(t, err, "quiet_seconds: -1")
}

func (r *rig) lastGood(t *testing.T, content string) {
	t.Helper()
	rec, err := r.ledger.Load(t.Context(), arn("web"))
	must(t, err)
	rec.LastGood = map[string][]byte{webLayer: []byte(content)}
	_, err = r.ledger.Save(t.Context(), arn("web"), rec)
	must(t, err)
}

func TestContentThatIsNoDocumentHasAReadyCommandForAStricterMode(t *testing.T) {
	const put = "aws ssm put-parameter --overwrite --name /holdfast/groups/web --value "
	for _, c := range []struct{ name, lastGood, args, command string }{
		{"with the last good content", `{"quiet_seconds":900,"mode":"act"}`, "mode=off", put + `'{"mode":"off","quiet_seconds":900}'`},
		{"without one", "", "mode=off", put + `'{"mode":"off"}'`},
		{"with one that is not good any more", `{"quiet_seconds":1}`, "mode=observe", put + `'{"mode":"observe"}'`},
		{"other settings are not for that moment", "", "mode=off quiet_seconds=900", put + `'{"mode":"off"}'`},
		{"another key", `{"quiet_seconds":900}`, "quiet_seconds=700", ""},
		{"a mode that is not stricter", "", "mode=act", ""},
		{"a looser mode", `{"mode":"off"}`, "mode=observe", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			if c.lastGood != "" {
				r.lastGood(t, c.lastGood)
			}
			r.shelf.set(webLayer, `{"quiet_seconds":6O`)
			_, err := r.tune(t, strings.Fields(c.args)...)
			refused(t, err, "is not JSON")
			if _, command, _ := strings.Cut(err.Error(), ":\n  "); command != c.command {
				t.Errorf("the command is %q, want %q", command, c.command)
			}
			if r.shelf.puts != 0 {
				t.Error("it was overwritten")
			}
		})
	}
}

func TestADryRunOfAStricterModeWritesNothing(t *testing.T) {
	r := newRig(t)
	r.shelf.set(webLayer, `{"quiet_seconds":-1}`)
	a, err := r.desk.Tune(t.Context(), operator.Tuning{Group: "web", Settings: settings(t, "mode=off"), DryRun: true})
	must(t, err)
	tells(t, "lines", a.Lines, "would be written, a dry run writes nothing", "mode: act (built-in) -> off (/holdfast/groups/web)")
	if r.shelf.puts != 0 {
		t.Error("it was written")
	}
}
