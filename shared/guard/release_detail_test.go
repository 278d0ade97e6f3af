package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

func TestAHoldOnPaperIsReleasedOnPaperStageByStage(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.Action = guard.ActionAlertOnly
	f.Break(0, 1)
	f.Sweep()
	f.Heal(0, 1)
	f.Sweeps(10)
	want(t, "the release", story(f, 5), "2 | 3 resume HealthCheck | 5 resume AZRebalance,ReplaceUnhealthy | free | free")
}

// TestWhatTheRegionCountedForAMemberIsThereForIt releases a group with one marked member, while the Region has room for one mark an hour.
func TestWhatTheRegionCountedForAMemberIsThereForIt(t *testing.T) {
	for name, c := range map[string]struct {
		own, other time.Duration // ages of the Region's marks in the look that decides, 0 for none
		stage      string
	}{
		"its own mark is the only one":              {own: 20 * time.Minute, stage: "free"},
		"its own has left the hour":                 {own: 2 * time.Hour, other: 20 * time.Minute, stage: "4"},
		"its own leaves the hour just now":          {own: time.Hour, other: 20 * time.Minute, stage: "4"},
		"the only one is another group's":           {other: 20 * time.Minute, stage: "4"},
		"both are of this hour, which is one much":  {own: 20 * time.Minute, other: 20 * time.Minute, stage: "4"},
		"the Region knows of none, and has a place": {stage: "free"},
	} {
		f := quieted(t)
		f.Break(0)
		f.M(0).Unhealthy = true
		f.In.Policy.RegionMarksPerHour = 1
		f.Sweeps(2)
		marked(f, f.ID(0), guard.OutcomeDone, 20*time.Minute)
		next := f.In.Now.Add(guardtest.Interval)
		for id, age := range map[string]time.Duration{f.In.Group.ARN + "/x": c.own, "other/x": c.other} {
			if age > 0 {
				f.In.Region.Marks = append(f.In.Region.Marks, guard.RegionMark{ID: id, At: guard.At(next.Add(-age))})
			}
		}
		f.Sweep()
		stage := map[int]string{guard.StageResume: "4", guard.StageResumed: "free"}[hold(t, f).Stage]
		want(t, name, stage, c.stage)
	}
}

// lost is a group whose last resume is lost: the next look finds the rest still suspended.
func lost(t *testing.T) *guardtest.Fleet {
	t.Helper()
	f := quieted(t)
	f.Sweeps(2)
	f.Failing = true
	want(t, "the call that is lost", story(f, 1), "5 resume AZRebalance,ReplaceUnhealthy")
	f.Failing = false
	return f
}

func TestALostResumeIsNotDecidedAnewInDoubt(t *testing.T) {
	want(t, "without a doubt", actions(lost(t).Sweep()), "resume AZRebalance,ReplaceUnhealthy")
	f := lost(t)
	want(t, "the first look after a gap", actions(f.Step(time.Hour)), "")
	want(t, "the look after it", actions(f.Sweep()), "resume AZRebalance,ReplaceUnhealthy")
	for _, state := range []string{guard.AlarmMissing, guard.AlarmNoData} {
		f := lost(t)
		depend(f, state)
		want(t, state, actions(f.Sweep()), "")
		depend(f, guard.AlarmOK)
		want(t, state+", and OK again", actions(f.Sweep()), "resume AZRebalance,ReplaceUnhealthy")
	}
}

func TestWhatAHalfLostResumeDidIsNobodyElsesWork(t *testing.T) {
	f := lost(t)
	f.Resume("ReplaceUnhealthy") // this half of the call was heard
	depend(f, guard.AlarmMissing)
	for i := range 3 {
		v := f.Sweep()
		want(t, fmt.Sprint("look ", i, ", calls"), actions(v), "")
		if told := pages(v); strings.Contains(told, guard.PageSuspensionRemoved) {
			t.Errorf("look %d: %s", i, told)
		}
	}
	depend(f, guard.AlarmOK)
	want(t, "known again", actions(f.Sweep()), "resume AZRebalance")
}
