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

func TestWhatABlockedReleaseSuspendedIsResumedWithTheRest(t *testing.T) {
	f := guardtest.New(8)
	f.Suspend(f.In.Now.Add(-time.Hour), "HealthCheck")
	f.Break(0, 1)
	want(t, "hold", actions(f.Sweep()), "suspend AZRebalance,ReplaceUnhealthy")
	f.Heal(0, 1)
	f.Sweeps(10)
	f.Break(4)
	f.M(4).Unhealthy = true
	f.In.Policy.MarksPerHour = 0
	want(t, "blocked", story(f, 2), "2 | 4")
	f.Resume("HealthCheck") // who had suspended it does
	want(t, "what is missing", story(f, 1), "4 suspend HealthCheck")
	f.In.Policy.MarksPerHour = 3
	want(t, "the end", story(f, 2), "5 resume AZRebalance,HealthCheck,ReplaceUnhealthy | free")
}

func TestAForceThatComesWhenAllFitsChangesNoRelease(t *testing.T) {
	f := quieted(t)
	want(t, "under way", story(f, 2), "2 | 3 resume HealthCheck")
	force(f, "1")
	want(t, "the rest", story(f, 2), "5 resume AZRebalance,ReplaceUnhealthy | free")
}

func TestAForcedReleaseThatCannotBePacedIsToldWhatBlocksIt(t *testing.T) {
	f := ailing(t)
	h := f.In.State.Hold
	for i := range h.Ours {
		if h.Ours[i].Process == guard.ProcessHealthCheck {
			h.Ours = append(h.Ours[:i:i], h.Ours[i+1:]...) // somebody else's
			break
		}
	}
	f.Heal(1, 2)
	f.Sweeps(3)
	f.In.Policy.MarksPerHour = 0
	force(f, "1")
	f.Sweeps(4)
	want(t, "stage", fmt.Sprint(hold(t, f).Stage), "4")
	if text := pageText(f.Verdict, guard.PageResumeBlocked) + fmt.Sprint(f.In.State.Pages); !strings.Contains(text, guard.PageResumeBlocked) {
		t.Errorf("told: %s", text)
	}
}

func TestAPacedExitThatOthersBlockIsToldAndWaits(t *testing.T) {
	f := ailing(t)
	force(f, "1")
	f.Sweep()
	f.Break(5)
	f.M(5).Unhealthy = true
	f.In.Policy.MarksPerHour = 0
	f.Sweeps(2)
	want(t, "pages", pageText(f.Verdict, guard.PageResumeBlocked), "1 member is still Unhealthy to Auto Scaling and the budget left is 0: resuming ReplaceUnhealthy would replace them at once, so the hold stays")
	if h := hold(t, f); h.Stage != guard.StageResume || !h.Paced {
		t.Errorf("hold %+v, want its paced exit to wait", h)
	}
}

func TestAWatchThatIsOverStartsNoHold(t *testing.T) {
	for left, causedBy := range map[time.Duration]string{0: "", time.Millisecond: "backlog=1/0"} {
		f := calm(guardtest.New(20))
		next := f.In.Now.Add(guardtest.Interval)
		marked(f, "gone", guard.OutcomeDone, 5*time.Minute).By = "aws"
		f.In.State.Watch = &guard.Watch{Since: guard.At(next.Add(-15 * time.Minute)), Until: guard.At(next.Add(left))}
		want(t, fmt.Sprint(left, " before its end"), causes(f.Sweep()), causedBy)
	}
}

func TestAWatchCountsFromTheMomentOfTheRelease(t *testing.T) {
	for age, causedBy := range map[time.Duration]string{10 * time.Minute: "backlog=2/1", 10*time.Minute + time.Millisecond: ""} {
		f := calm(guardtest.New(20))
		next := f.In.Now.Add(guardtest.Interval)
		marked(f, "gone", guard.OutcomeDone, age).By = "aws"
		f.In.State.Marks = append(f.In.State.Marks, f.In.State.Marks[0])
		f.In.State.Marks[1].ID, f.In.State.Marks[1].Member, f.In.State.Marks[1].At = "y", "gone too", guard.At(next.Add(-time.Minute))
		f.In.State.Watch = &guard.Watch{Since: guard.At(next.Add(-10 * time.Minute)), Until: guard.At(next.Add(5 * time.Minute)), Budget: 1}
		v := f.Sweep()
		want(t, fmt.Sprint("one was terminated ", age, " ago"), causes(v), causedBy)
		if len(v.Triggers) > 0 {
			want(t, "text", v.Triggers[0].Text, "2 members were terminated for health since the release, the budget was 1")
		}
	}
}
