package scenario_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/scenario"
)

func sweeps(t *testing.T, text string) []scenario.Sweep {
	t.Helper()
	s, err := scenario.Parse("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return replay(t, s, scenario.Options{}).Sweeps
}

func pageKeys(s scenario.Sweep) []string {
	var out []string
	for _, p := range s.Pages {
		out = append(out, p.Key)
	}
	return out
}

func TestAStatedReadFailsOnlyForItsGroup(t *testing.T) {
	for _, source := range []string{"heartbeats", "targets", "group"} {
		for _, how := range []string{"failed", "partial"} {
			t.Run(source+" "+how, func(t *testing.T) {
				all := sweeps(t, `name: reads
groups: {web: {fleet: {i1-i6: healthy}}, api: {fleet: {j1-j6: healthy}}}
steps: [{at: 0s, groups: {web: {reads: {`+source+`: `+how+`}}}}, {}]
`)
				if have := []string{all[0].Mode, all[1].Mode, all[2].Mode}; !slices.Equal(have, []string{"blind", "watching", "watching"}) {
					t.Errorf("modes %v, want web blind in its step only", have)
				}
			})
		}
	}
}

func TestAnUnreadableAlarmDefersTheMarkOfItsOwnGroupOnly(t *testing.T) {
	all := sweeps(t, `name: alarms
dependencies: {db: {kind: hard, state: OK}}
groups:
  web: {fleet: {i1: "unhealthy[Target.Timeout] last=400s/ok", i2-i8: healthy}}
  api: {fleet: {j1: "unhealthy[Target.Timeout] last=400s/ok", j2-j8: healthy}}
steps: [{at: 0s, repeat: 1, groups: {web: {reads: {alarms: failed}}}}]
`)
	web, api := all[2], all[3]
	if len(web.Actions) > 0 || len(web.Deferred) != 1 || web.Deferred[0].Reason != guard.ReasonDependency {
		t.Errorf("web: %+v %+v, want i1 deferred dependency", web.Actions, web.Deferred)
	}
	if len(api.Actions) != 1 || api.Actions[0].Member != "j1" {
		t.Errorf("api: %+v, want j1 marked", api.Actions)
	}
}

func TestWithoutALedgerNothingIsMarkedAndAMassIsHeld(t *testing.T) {
	for _, how := range []string{"failed", "partial"} {
		t.Run(how, func(t *testing.T) {
			one := sweeps(t, single+"steps: [{at: 0s}, {repeat: 3, reads: {ledger: "+how+"}}, {repeat: 3}]\n")
			for i, s := range one {
				if i < 4 && len(s.Actions) > 0 {
					t.Errorf("%s: %+v, want no call without the ledger", s.At, s.Actions)
				}
			}
			many := sweeps(t, mass+"steps: [{at: 0s, reads: {ledger: "+how+"}}]\n")
			if len(many[0].Actions) != 1 || many[0].Actions[0].Kind != guard.ActSuspend {
				t.Errorf("%+v, want a suspend without the ledger", many[0].Actions)
			}
		})
	}
}

func TestARefusedCallCountsAsMadeAndChangesNothing(t *testing.T) {
	all := sweeps(t, mass+"steps: [{at: 0s, calls: {suspend: Throttling}, expect: {suspend: true}}, {expect: {suspend: true}}, {expect: {}}]\n")
	if all[0].Actions[0].Error == "" || len(all[0].Failures) > 0 {
		t.Errorf("%+v %q, want a refused suspend that counts", all[0].Actions, all[0].Failures)
	}
	if len(all[1].Failures)+len(all[2].Failures) > 0 {
		t.Errorf("%q %q, want the suspend sent again, once", all[1].Failures, all[2].Failures)
	}
}

func TestAPageThatCannotBeDeliveredIsSentAgain(t *testing.T) {
	all := sweeps(t, mass+"steps: [{at: 0s, calls: {page: Failed}}, {}, {}]\n")
	if have := pageKeys(all[0]); !slices.Contains(have, "held") || all[0].Pages[0].Error == "" {
		t.Errorf("%+v, want held, not delivered", all[0].Pages)
	}
	if have := pageKeys(all[1]); !slices.Contains(have, "held") {
		t.Errorf("%v, want held again", have)
	}
	if have := pageKeys(all[2]); slices.Contains(have, "held") {
		t.Errorf("%v, want no third held", have)
	}
}

func TestAStatedMarkHoldsForItsStepWhateverIsCalled(t *testing.T) {
	text := stayed + "steps: [{at: 0s, repeat: 4, fleet: {i1: Unhealthy}}, {repeat: 3}]\n"
	restores := 0
	for _, s := range sweeps(t, text) {
		for _, c := range s.Actions {
			if c.Kind == guard.ActRestore {
				restores++
			}
		}
	}
	if restores < 2 {
		t.Errorf("%d restores, want i1 restored again and again, because its mark stays", restores)
	}
}

func TestASuspendedMapInAStepReplacesTheWholeMap(t *testing.T) {
	all := sweeps(t, mass+"steps: [{at: 0s}, {group: {suspended: {}}}]\n")
	if have := pageKeys(all[1]); !slices.Contains(have, "suspension-removed") {
		t.Errorf("%v, want suspension-removed", have)
	}
	if len(all[1].Actions) != 1 || all[1].Actions[0].Kind != guard.ActSuspend {
		t.Errorf("%+v, want it suspended once more", all[1].Actions)
	}
}

func TestNoHistoryIsAWarmUp(t *testing.T) {
	all := sweeps(t, strings.Replace(single, "fleet:", "history: {clean: false}\nfleet:", 1)+"steps: [{at: 0s}]\n")
	if len(all[0].Deferred) != 1 || all[0].Deferred[0].Reason != guard.ReasonWarmUp {
		t.Errorf("%+v, want i1 deferred warm-up", all[0].Deferred)
	}
}

func TestOutsideMembersAndForeignTargetsCountNowhere(t *testing.T) {
	all := sweeps(t, `name: outside
group: {name: web, foreign_targets: [{target: 10.0.0.9, state: "unhealthy[Target.Timeout]"}]}
fleet:
  i1-i4: healthy
  i5: "Standby unused[Target.NotRegistered]"
  i6: "healthy beat=10s/draining"
  i7: "Pending beat=none pending=20m"
steps: [{at: 0s}]
`)
	if have := all[0].Members; have.Eligible != 4 || have.Healthy != 4 || have.Outside != 3 {
		t.Errorf("%+v, want 4 eligible and 3 outside", have)
	}
	if !slices.ContainsFunc(all[0].Verdict.Notes, func(n string) bool { return strings.Contains(n, "10.0.0.9") }) {
		t.Errorf("notes %q, want the foreign target noted", all[0].Verdict.Notes)
	}
}

func TestWeightsAreTheUnitOfDesired(t *testing.T) {
	all := sweeps(t, `name: weights
policy: {capacity_loss_percent_max: 25}
group: {name: web, weights: true}
fleet: {i1: "unhealthy[Target.Timeout] last=400s/ok weight=9", i2-i12: "healthy weight=1"}
steps: [{at: 0s, repeat: 1}]
`)
	if d := all[1].Deferred; len(d) != 1 || d[0].Reason != guard.ReasonCapacity || d[0].Have != 9 || d[0].Limit != 5 {
		t.Errorf("%+v, want i1 deferred capacity: 9, and a quarter of 20 is 5", d)
	}
}

func TestTheRegionsLimitBelongsToTheDefaults(t *testing.T) {
	all := sweeps(t, "policy: {region_marks_per_hour: 0}\n"+single+"steps: [{at: 0s, repeat: 1}]\n")
	if have := pageKeys(all[1]); slices.Contains(have, "config") {
		t.Errorf("%v, want no config page", have)
	}
	if d := all[1].Deferred; len(d) != 1 || d[0].Reason != guard.ReasonRegionBudget {
		t.Errorf("%+v, want i1 deferred region-budget", d)
	}
}

func TestTheHeadsPolicyIsTheLastGoodOneWhenTheFirstStepBreaksIt(t *testing.T) {
	all := sweeps(t, "policy: {confirm_sweeps: 1}\n"+single+`steps: [{at: 0s, policy: {marks_per_hour: "6O"}, expect: {mark: [i1], page: [config]}}]`+"\n")
	if len(all[0].Failures) > 0 {
		t.Errorf("%q, want i1 marked at the first look by the head's policy", all[0].Failures)
	}
}

func TestAWorkerIsJudgedByItsQueue(t *testing.T) {
	all := sweeps(t, `name: worker
policy: {kind: worker, queue: {sqs_url: "https://sqs.example/q", deep: 1000}}
queue: {depth: 5000, trend: rising}
target_groups: {}
group: {name: web}
fleet: {i1: last=400s/ok, i2-i8: beat=15s/ok}
steps: [{at: 0s, expect: {page: [worker-stalled]}}, {expect: {mark: [i1]}}]
`)
	for _, s := range all {
		if len(s.Failures) > 0 {
			t.Errorf("%s: %q", s.At, s.Failures)
		}
	}
}

func TestTheStoryHasABlockForEachSweep(t *testing.T) {
	s, err := scenario.Parse("x", []byte(single+"steps: [{at: 0s}, {calls: {mark: Throttling}, expect: {}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := replay(t, s, scenario.Options{}).WriteStory(&b); err != nil {
		t.Fatal(err)
	}
	want := `single

12:00:00 (0s)  web  watching
  8 eligible, 7 healthy, 1 bad, 1 broken, 0 outside
  deferred i1: confirming (have 1, limit 2)

12:01:00 (60s)  web  watching
  8 eligible, 7 healthy, 1 bad, 1 broken, 0 outside
  did      mark i1 (refused: mark: throttled: Throttling)
  FAILED   mark: want none, have i1

single: 2 looks, 1 expectation not met
`
	if b.String() != want {
		t.Errorf("have\n%s\nwant\n%s", b.String(), want)
	}
}
