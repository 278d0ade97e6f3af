package scenario_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/scenario"
)

// top is a head of four lines; the steps of a test begin at line 5.
const top = "name: short\ngroup: {name: web}\nfleet: {i1-i4: healthy}\nsteps:\n"

// tail ends a file whose head is under test.
const tail = "steps: [{at: 0s}]\n"

type badFile struct{ name, text, want string }

func badHeads() []badFile {
	return []badFile{
		{"an empty file", "", "x:1: file: is empty, want a scenario"},
		{"a file of comments", "# nothing\n", "x:1: file: is empty, want a scenario"},
		{"text that is no YAML", "name: short\nabout: a: b\n", "x:2: file: is not YAML: mapping values are not allowed in this context"},
		{"two documents", top + "  - {at: 0s}\n---\nname: other\n", "x:6: file: has a second document, want one scenario a file"},
		{"a list instead of a scenario", "- name: short\n", "x:1: file: want a mapping, have a list"},
		{"no name", "group: {name: web}\n" + tail, "x:1: name: is missing"},
		{"a name that is not kebab-case", "name: Not_Kebab\ngroup: {name: web}\n" + tail, `x:1: name: "Not_Kebab" is not kebab-case`},
		{"an unknown key at the top", "name: short\ngroup: {name: web}\nflet: {}\n" + tail, "x:3: flet: unknown key, want one of name, about, source, " +
			"policy, sweep_interval, group, groups, target_groups, dependencies, queue, history, fleet, steps, never"},
		{"a key that stands twice", "name: short\ngroup: {name: web}\nname: again\n" + tail, "x:3: name: stands twice"},
		{"no group", "name: short\n" + tail, "x:1: group: is missing, want group or groups"},
		{"a group without a name", "name: short\ngroup: {desired: 2}\n" + tail, "x:2: group.name: is missing"},
		{"group beside groups", "name: short\ngroup: {name: web}\ngroups: {api: {}}\n" + tail, "x:3: groups: stands beside group, want one of the two"},
		{"groups without a group", "name: short\ngroups: {}\n" + tail, "x:2: groups: is empty, want at least one group"},
		{"a fleet beside groups", "name: short\ngroups: {web: {}}\nfleet: {i1: healthy}\n" + tail, "x:3: fleet: stands beside groups, want it under one of them"},
		{"a member in two groups", "name: short\ngroups:\n  web: {fleet: {i1: healthy}}\n  api: {fleet: {i1: healthy}}\n" + tail,
			`x:4: fleet.i1: member "i1" belongs to group "web"`},
		{"no steps", "name: short\ngroup: {name: web}\n", "x:1: steps: is missing"},
		{"an empty list of steps", "name: short\ngroup: {name: web}\nsteps: []\n", "x:3: steps: is empty, want at least one"},
		{"an interval of zero", "name: short\nsweep_interval: 0s\ngroup: {name: web}\n" + tail, "x:2: sweep_interval: 0s, want more"},
		{"an interval without a unit", "name: short\nsweep_interval: 60\ngroup: {name: web}\n" + tail, `x:2: sweep_interval: "60" is no time, want one such as -25m, 90s or 3d`},
		{"a grace that is negative", "name: short\ngroup: {name: web, grace: -5m}\n" + tail, "x:2: group.grace: -5m is negative, want 0s or more"},
		{"a desired capacity that is text", "name: short\ngroup: {name: web, desired: many}\n" + tail, `x:2: group.desired: want a whole number of 0 or more, have "many"`},
		{"weights that are no boolean", "name: short\ngroup: {name: web, weights: 1}\n" + tail, `x:2: group.weights: want true or false, have "1"`},
		{"a process that does not exist", "name: short\ngroup: {name: web, suspended: {Foo: x}}\n" + tail, `x:2: group.suspended: "Foo" is no process of Auto Scaling`},
		{"an activity without a kind", "name: short\ngroup: {name: web, activities: [{at: -5m, status: Failed}]}\n" + tail, "x:2: group.activities.kind: is missing"},
		{"an activity in the future", "name: short\ngroup: {name: web, activities: [{at: 5m, kind: launch, status: Failed}]}\n" + tail,
			"x:2: group.activities.at: 5m is in the future, want 0s or a time such as -25m"},
		{"a state of a dependency that does not exist", "name: short\ngroup: {name: web}\ndependencies: {db: {state: RED}}\n" + tail,
			`x:3: dependencies.db.state: "RED", want one of OK, ALARM, INSUFFICIENT_DATA, MISSING`},
		{"a last sweep that is not over", "name: short\ngroup: {name: web}\nhistory: {last_sweep: 0s}\n" + tail,
			"x:3: history.last_sweep: 0s is the first sweep of the scenario, want a time before it"},
		{"a quiet time without a hold", "name: short\ngroup: {name: web}\nhistory: {quiet_since: -5m}\n" + tail, "x:3: history.quiet_since: stands without held"},
		{"a quiet time before its hold", "name: short\ngroup: {name: web}\nhistory: {held: {since: -5m}, quiet_since: -6m}\n" + tail,
			"x:3: history.quiet_since: -6m is before the hold began"},
		{"a size whose least is above its most", "name: short\ngroup: {name: web, min: 5, max: 2}\n" + tail, "x:2: group.min: 5 is above max 2"},
		{"no history and a mark", "name: short\ngroup: {name: web}\nhistory: {clean: false, marks: {x1: -5m}}\n" + tail,
			"x:3: history.clean: false leaves no history, want no other key beside it"},
		{"an alias", "name: short\nabout: &a text\nsource: *a\ngroup: {name: web}\n" + tail, "x:3: source: want a string, have an alias, which scenario files do not use"},
		{"a call that never does not know", "name: short\ngroup: {name: web}\nnever: [reboot]\n" + tail, `x:3: never: "reboot", want one of mark, suspend, resume, restore, page`},
	}
}

func badRows() []badFile {
	row := func(text string) string {
		return "name: short\ngroup: {name: web}\nfleet:\n  " + text + "\n" + tail
	}
	return []badFile{
		{"a token that does not exist", row(`i1: "helthy"`), `x:4: fleet.i1: unknown token "helthy"`},
		{"a lifecycle state that does not exist", row(`i1: "Inservice"`), `x:4: fleet.i1: unknown token "Inservice"`},
		{"a beat without a status", row(`i1: "beat=15s"`), `x:4: fleet.i1: token "beat=15s": want an age and a status, such as beat=15s/ok`},
		{"a beat with a bad age", row(`i1: "last=15x/ok"`), `x:4: fleet.i1: token "last=15x/ok": want an age and a status, such as last=15s/ok`},
		{"a beat from the future", row(`i1: "beat=-15s/ok"`), `x:4: fleet.i1: token "beat=-15s/ok": want an age and a status, such as beat=15s/ok`},
		{"a status that does not exist", row(`i1: "beat=15s/fine"`), `x:4: fleet.i1: token "beat=15s/fine": status "fine", want ok, failing or draining`},
		{"a failing check without a name", row(`i1: "beat=15s/failing:disk+"`), `x:4: fleet.i1: token "beat=15s/failing:disk+": a failing check has no name`},
		{"a reason without its bracket", row(`i1: "unhealthy[Target.Timeout"`), `x:4: fleet.i1: unknown token "unhealthy[Target.Timeout"`},
		{"a port that is no port", row(`i1: "web:http=healthy"`), `x:4: fleet.i1: token "web:http=healthy": "http" is no port`},
		{"a target group that does not exist", row(`i1: "admin=healthy"`), `x:4: fleet.i1: unknown target group "admin"`},
		{"two target states", row(`i1: "healthy initial"`), `x:4: fleet.i1: "initial" says the target state a second time`},
		{"a weight of zero", row(`i1: "weight=0"`), `x:4: fleet.i1: token "weight=0": want a weight of 1..999`},
		{"a range that goes down", row(`i8-i1: "healthy"`), `x:4: fleet.i8-i1: range "i8-i1" goes down`},
		{"a range of two kinds", row(`i1-j8: "healthy"`), `x:4: fleet.i1-j8: "i1-j8" is no range, want one such as i1-i8`},
		{"a range that would fill the memory", row(`i1-i99999: "healthy"`), "x:4: fleet.i1-i99999: 99999 members, want at most 10000"},
		{"a member that stands twice", row("i1-i3: healthy\n  i2: initial"), `x:5: fleet.i2: member "i2" stands twice`},
		{"a row that is no text", row("i1: [healthy]"), "x:4: fleet.i1: want a string, have a list"},
		{"a row without tokens", row("i1:"), "x:4: fleet.i1: want a string, have nothing"},
		{"a member that is gone before the first step", row("i1: gone"), "x:4: fleet.i1: gone, but the head of a file states who is there"},
	}
}

func badSteps() []badFile {
	return []badFile{
		{"a time that goes back", top + "  - {at: 120s}\n  - {at: 60s}\n", "x:6: at: 60s goes back, the sweep before is at 120s"},
		{"an end before the beginning", top + "  - {at: 120s}\n  - {until: 2m}\n", "x:6: until: 2m is before the first sweep of the step, at 180s"},
		{"repeat beside until", top + "  - {repeat: 2, until: 5m}\n", "x:5: repeat: stands beside until, want one of the two"},
		{"a repeat of zero", top + "  - {repeat: 0}\n", "x:5: repeat: 0, want 1 or more"},
		{"a time before the scenario", top + "  - {at: -60s}\n", "x:5: at: -60s is negative, want 0s or more"},
		{"more sweeps than a fortnight", top + "  - {until: 15d}\n", "x:5: steps: 21601 sweeps, want at most 20160"},
		{"more sweeps than a fortnight in two steps", top + "  - {at: 0s, repeat: 20159}\n  - {repeat: 4}\n", "x:6: steps: 20164 sweeps, want at most 20160"},
		{"an unknown step key", top + "  - {at: 0s, expects: {}}\n", "x:5: expects: unknown key, want one of at, repeat, until, groups, fleet, group, " +
			"dependencies, policy, queue, reread, reads, calls, trigger, expect"},
		{"an unknown group", top + "  - {groups: {api: {}}}\n", "x:5: groups.api: unknown group"},
		{"a time under one group", top + "  - {groups: {web: {at: 5m}}}\n", "x:5: groups.web.at: unknown key, want one of fleet, group, dependencies, " +
			"policy, queue, reread, reads, calls, trigger, expect"},
		{"an unknown member that is gone", top + "  - {fleet: {i9: gone}}\n", `x:5: fleet.i9: unknown member "i9"`},
		{"gone beside other tokens", top + "  - {fleet: {i1: gone healthy}}\n", "x:5: fleet.i1: gone stands beside other tokens"},
		{"an unknown dependency", top + "  - {dependencies: {db: OK}}\n", "x:5: dependencies.db: is no dependency of the head of the file"},
		{"an alarm event without an alarm", top + "  - {trigger: alarm}\n", "x:5: trigger: alarm, but the file has no dependency"},
		{"a read that does not exist", top + "  - {reads: {clock: failed}}\n", "x:5: reads.clock: unknown key, want one of heartbeats, targets, alarms, group, ledger"},
		{"a read that fails in another way", top + "  - {reads: {targets: slow}}\n", `x:5: reads.targets: "slow", want one of failed, partial`},
		{"an answer that does not exist", top + "  - {calls: {mark: No}}\n", `x:5: calls.mark: "No", want one of ValidationError, ResourceContention, ` +
			"Throttling, AccessDenied, InternalFailure, Timeout, Failed"},
		{"another name for the group", top + "  - {group: {name: api}}\n", `x:5: group.name: "api", want "web"`},
		{"an unknown member in mark", top + "  - {expect: {mark: [i5]}}\n", `x:5: expect.mark: unknown member "i5"`},
		{"an unknown member in defer", top + "  - {expect: {defer: {i5: any}}}\n", `x:5: expect.defer: unknown member "i5"`},
		{"an unknown reason", top + "  - {expect: {defer: {i1: unlucky}}}\n", `x:5: expect.defer.i1: "unlucky", want one of any, blind, warm-up, grace, ` +
			"opted-out, protected, alert-only, hold-only, held, dependency, refreshing, cannot-replace, not-converging, waiting, signals-disagree, confirming, " +
			"last-instance, in-flight, budget, region-budget, capacity, min-healthy, recovered, mode, lost-race"},
		{"an unknown mode", top + "  - {expect: {mode: hold}}\n", `x:5: expect.mode: "hold", want one of watching, held, releasing, blind, off`},
		{"a page that is expected and forbidden", top + "  - {expect: {page: [held], no_page: [held]}}\n", `x:5: expect.no_page: "held" is expected by page too`},
		{"a suspend that is a word", top + "  - {expect: {suspend: all}}\n", `x:5: expect.suspend: want true, false or a list of processes, have "all"`},
		{"a mark that is no list", top + "  - {expect: {mark: i1}}\n", `x:5: expect.mark: want a list, have "i1"`},
	}
}

func TestAFileThatBreaksTheFormatIsRefusedWithItsLine(t *testing.T) {
	for _, tc := range slices.Concat(badHeads(), badRows(), badSteps()) {
		t.Run(tc.name, func(t *testing.T) {
			_, err := scenario.Parse("x", []byte(tc.text))
			if err == nil {
				t.Fatalf("no problem, want %s", tc.want)
			}
			if err.Error() != tc.want {
				t.Errorf("have %s\nwant %s", err, tc.want)
			}
		})
	}
}

func TestAllProblemsOfAFileAreReportedTogetherByLine(t *testing.T) {
	text := "name: Bad Name\ngroup: {name: web, grace: soon}\nfleet: {i1: helthy}\nsteps:\n  - {at: 60s, expect: {mark: [i7]}}\n  - {at: 0s}\nnever: [sleep]\n"
	_, err := scenario.Parse("x", []byte(text))
	var problems scenario.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("have %v, want Problems", err)
	}
	var lines []int
	for _, p := range problems {
		lines = append(lines, p.Line)
	}
	if want := []int{1, 2, 3, 5, 6, 7}; !slices.Equal(lines, want) {
		t.Errorf("problems on lines %v, want %v\n%s", lines, want, err)
	}
}

func TestAProblemThatSeveralGroupsShareIsReportedOnce(t *testing.T) {
	for _, text := range []string{
		"name: short\ngroups: {web: {}, api: {}, pay: {}}\nsteps:\n  - {at: 0s, reads: {clock: failed}}\n",
		"name: short\ngroups: {web: {}, api: {}, pay: {}}\nhistory: {clean: false, last_sweep: -5m}\n" + tail,
	} {
		_, err := scenario.Parse("x", []byte(text))
		if err == nil || strings.Count(err.Error(), "\n") != 0 {
			t.Errorf("have %v, want one problem", err)
		}
	}
}

func TestTheTimesOfAStep(t *testing.T) {
	minutes := func(list ...int) []time.Duration {
		var out []time.Duration
		for _, m := range list {
			out = append(out, time.Duration(m)*time.Minute)
		}
		return out
	}
	for _, tc := range []struct {
		name, steps string
		want        []time.Duration
	}{
		{"at is one sweep", "[{at: 2m}]", minutes(2)},
		{"at with repeat is one and N", "[{at: 0s, repeat: 2}]", minutes(0, 1, 2)},
		{"repeat alone begins one interval later", "[{at: 0s}, {repeat: 2}]", minutes(0, 1, 2)},
		{"until includes its time", "[{at: 0s}, {until: 3m}]", minutes(0, 1, 2, 3)},
		{"until between two sweeps ends before it", "[{at: 0s}, {until: 150s}]", minutes(0, 1, 2)},
		{"until also counts from at", "[{at: 5m, until: 6m}]", minutes(5, 6)},
		{"a step without a time is one sweep", "[{at: 0s}, {}, {}]", minutes(0, 1, 2)},
		{"a repeated moment does not go back", "[{at: 1m}, {at: 1m}]", minutes(1, 1)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := scenario.Parse("x", []byte("name: short\ngroup: {name: web}\nsteps: "+tc.steps+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			var have []time.Duration
			for _, step := range s.Steps {
				have = append(have, step.Times...)
			}
			if !slices.Equal(have, tc.want) {
				t.Errorf("have %v, want %v", have, tc.want)
			}
		})
	}
}

func TestMembersAreWrittenAsRangesAndLists(t *testing.T) {
	for text, want := range map[string]string{
		"i1-i3":       "[i1 i2 i3]",
		"'i1,i4'":     "[i1 i4]",
		"'i1-i2, w7'": "[i1 i2 w7]",
		"i08-i10":     "[i08 i09 i10]",
		"i-0a1b2c3d":  "[i-0a1b2c3d]",
	} {
		s, err := scenario.Parse("x", []byte("name: short\ngroup: {name: web}\nfleet: {"+text+": healthy}\n"+tail))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if have := fmt.Sprint(s.Groups[0].Start.Fleet[0].Members); have != want {
			t.Errorf("%s: have %s, want %s", text, have, want)
		}
	}
}

func TestPolicyValuesReachTheDecoderAsWritten(t *testing.T) {
	for text, want := range map[string]string{
		`"6O"`:                  `"6O"`,
		`""`:                    `""`,
		`-1`:                    `-1`,
		`1e9`:                   `1e9`,
		`0x10`:                  `16`,
		`.nan`:                  `".nan"`,
		`NaN`:                   `"NaN"`,
		`null`:                  `null`,
		`[1, "a"]`:              `[1,"a"]`,
		`true`:                  `true`,
		`{alarm: db, n: [1.5]}`: `{"alarm":"db","n":[1.5]}`,
		`off`:                   `"off"`,
	} {
		s, err := scenario.Parse("x", []byte("name: short\npolicy: {marks_per_hour: "+text+"}\ngroup: {name: web}\n"+tail))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if have := string(s.Groups[0].Start.Policy[0].Raw); have != want {
			t.Errorf("%s: have %s, want %s", text, have, want)
		}
	}
}
