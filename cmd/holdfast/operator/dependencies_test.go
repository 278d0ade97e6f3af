package operator_test

import (
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/operator"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

func TestAnAlarmThatDoesNotExistOrHasNoDataIsToldWithWhatItDoes(t *testing.T) {
	for _, c := range []struct{ name, deps, says string }{
		{"a slip of the keyboard", `[{"alarm":"no-such","kind":"hard"}]`, `alarm "no-such" does not exist in this account and Region: while its state is not known, marks wait and nothing is released`},
		{"it is missing even if missing data reads as ok", `[{"alarm":"no-such","kind":"hard","missing":"ok"}]`, `alarm "no-such" does not exist`},
		{"no data", `[{"alarm":"new","kind":"hard"}]`, `alarm "new" has no data (INSUFFICIENT_DATA): while its state is not known, nothing is released, and a mark says that it was made without`},
		{"no data reads as ok", `[{"alarm":"new","kind":"hard","missing":"ok"}]`, ""},
		{"soft", `[{"alarm":"no-such","kind":"soft"}]`, `alarm "no-such" does not exist in this account and Region: it is soft, so that is reported and keeps nothing waiting`},
		{"all is well", `[{"alarm":"db-slow","kind":"hard"},{"alarm":"red","kind":"hard"}]`, ""},
		{"none", `[]`, ""},
	} {
		for _, dry := range []bool{false, true} {
			r := newRig(t)
			r.shelf.set(webLayer, `{"dependencies":[{"alarm":"old","kind":"hard"}]}`)
			r.bells.states["new"], r.bells.states["red"] = guard.AlarmNoData, guard.AlarmRed
			a := tuned(t, r, dry, "dependencies="+c.deps)
			if c.says == "" {
				tells(t, c.name, a.Warnings)
			} else {
				tells(t, c.name, a.Warnings, c.says)
			}
			if a.Changed == dry {
				t.Errorf("%s, dry %v: changed is %v", c.name, dry, a.Changed)
			}
		}
	}
}

func TestAlarmsThatCannotBeReadAreOneLine(t *testing.T) {
	r := newRig(t)
	r.bells.unread = "describe alarms: not authorized"
	a := tuned(t, r, false, `dependencies=[{"alarm":"one","kind":"hard"},{"alarm":"two","kind":"soft"}]`)
	tells(t, "warnings", a.Warnings, "whether the alarms of dependencies exist could not be checked: one, two: describe alarms: not authorized (it needs cloudwatch:DescribeAlarms)")
	if len(a.Warnings) != 1 || !a.Changed {
		t.Errorf("warnings %q, changed %v", a.Warnings, a.Changed)
	}
	p := r.ports()
	p.Alarms = nil
	a, err := operator.New(p, r.options()).Tune(t.Context(), operator.Tuning{Group: "web", Settings: settings(t, `dependencies=[{"alarm":"one","kind":"hard"}]`)})
	must(t, err)
	tells(t, "warnings", a.Warnings, "could not be checked: no alarms can be read here")
}

func TestAlarmsAreAskedForOnlyWhenDependenciesChange(t *testing.T) {
	r := newRig(t)
	r.shelf.set(webLayer, `{"dependencies":[{"alarm":"no-such","kind":"hard"}]}`)
	tuned(t, r, false, "quiet_seconds=900")
	tuned(t, r, false, `dependencies=[{"alarm":"no-such","kind":"hard"}]`, "quiet_seconds=901")
	a := tuned(t, r, false, "dependencies=")
	if len(r.bells.asked) > 0 {
		t.Errorf("asked for %q; warnings %s", r.bells.asked, strings.Join(a.Warnings, "\n"))
	}
}
