package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

// quietFor makes members silent for so long that the next look finds them stale.
func quietFor(f *guardtest.Fleet, members ...int) {
	f.Silence(members...)
	for _, i := range members {
		f.Remember(i).AdvancedAt = guard.At(f.In.Now.Add(-time.Hour))
	}
}

func TestSilenceIsAWitnessOnlyIfMostOthersSpeak(t *testing.T) {
	tests := map[string]struct {
		n, silent int
		class     string
		told      string
	}{
		"one of two, the other speaks":           {2, 1, "broken", ""},
		"two of three: one of two others speaks": {3, 2, "blind", "heartbeat-path!"}, // exactly half is not more than half
		"two of four: two of three others speak": {4, 2, "broken", ""},
		"three of five: two of four others":      {5, 3, "blind", "heartbeat-path!"},
		"three of six: three of five others":     {6, 3, "broken", ""},
		"all of six":                             {6, 6, "blind", "heartbeat-path!"},
		"the only one has no others":             {1, 1, "broken", "last-instance!"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := calm(guardtest.New(test.n))
			f.Sweep()
			quietFor(f, upTo(test.silent)...)
			f.Aim(0, "unhealthy", "Target.Timeout")
			f.Sweep()
			v := f.Sweep()
			switch test.class {
			case "blind":
				want(t, "reason", string(deferral(v, f.ID(0)).Reason), "blind")
				if v.Members.Broken != 0 || v.Members.Bad != 1 {
					t.Errorf("members %+v, want one bad and none broken", v.Members)
				}
			default:
				if v.Members.Broken != 1 {
					t.Errorf("members %+v, want one broken", v.Members)
				}
			}
		})
	}
}

func TestWhatIsToldOfSilence(t *testing.T) {
	tests := map[string]struct {
		lay  func(*guardtest.Fleet)
		told string
	}{
		"all fall silent":  {func(f *guardtest.Fleet) { quietFor(f, upTo(8)...) }, "heartbeat-path!"},
		"half fall silent": {func(f *guardtest.Fleet) { quietFor(f, upTo(4)...) }, "heartbeat-path"},
		"all rows vanish": {func(f *guardtest.Fleet) {
			for i := range 8 {
				f.M(i).Beat = guard.Beat{}
			}
		}, "heartbeat-path!"},
		"none ever spoke": {func(f *guardtest.Fleet) { neverSpoke(f, 8) }, "heartbeat-coverage!"},
		"most never spoke": {func(f *guardtest.Fleet) {
			neverSpoke(f, 5)
			quietFor(f, 5, 6)
		}, "heartbeat-coverage!"},
		"as many fell silent as never spoke": {func(f *guardtest.Fleet) {
			neverSpoke(f, 3)
			quietFor(f, 3, 4, 5)
		}, "heartbeat-path!"},
		"one serves in silence": {func(f *guardtest.Fleet) { quietFor(f, 0) }, "heartbeat-path"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(8)
			f.Sweep()
			test.lay(f)
			want(t, "pages", pages(f.Sweep()), test.told)
		})
	}
}

// neverSpoke makes the first members ones that never sent a beat, long past the time for the first.
func neverSpoke(f *guardtest.Fleet, n int) {
	for i := range n {
		f.M(i).Beat = guard.Beat{}
		m := f.Remember(i)
		*m = guard.MemberState{ID: m.ID, Lifecycle: m.Lifecycle, Since: guard.At(f.In.Now.Add(-time.Hour))}
	}
}

func TestWhoCountsAmongTheOthers(t *testing.T) {
	tests := map[string]struct {
		lay    func(f *guardtest.Fleet, i int)
		broken int
	}{
		"those who beat count":                  {func(*guardtest.Fleet, int) {}, 1},
		"those who fail speak too":              {func(f *guardtest.Fleet, i int) { f.M(i).Beat.Status = "failing" }, 1},
		"those outside do not count":            {func(f *guardtest.Fleet, i int) { f.M(i).Lifecycle = "Standby" }, 1},
		"those without a target do not count":   {func(f *guardtest.Fleet, i int) { f.Aim(i, "unused", "Target.NotInUse") }, 1},
		"those who leave do not count":          {func(f *guardtest.Fleet, i int) { f.M(i).Beat.Status = "draining" }, 1},
		"those who cannot be read do not count": {func(f *guardtest.Fleet, i int) { f.M(i).Beat.Unreadable = true }, 1},
		"those who are silent count against it": {func(f *guardtest.Fleet, i int) { quietFor(f, i) }, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := calm(guardtest.New(8)) // one silent and failing, four as the case says, three that beat
			f.Sweep()
			quietFor(f, 0)
			f.Aim(0, "unhealthy", "Target.Timeout")
			for i := 1; i < 5; i++ {
				test.lay(f, i)
			}
			if v := f.Sweep(); v.Members.Broken != test.broken {
				t.Errorf("members %+v, want %d broken", v.Members, test.broken)
			}
		})
	}
}

func TestDuringAHoldTheStrickenAreLeftOutOfTheCount(t *testing.T) {
	f := guardtest.New(8)
	f.Sweep()
	quietFor(f, upTo(5)...)
	for i := range 5 {
		f.Aim(i, "unhealthy", "Target.Timeout")
	}
	v := f.Sweep()
	want(t, "first sight", v.Mode, guard.Held)
	want(t, "reason", string(deferral(v, f.ID(0)).Reason), "blind") // five of eight silent
	v = f.Sweep()
	want(t, "reason while held", string(deferral(v, f.ID(0)).Reason), "held")
	if v.Members.Broken != 5 {
		t.Errorf("members %+v, want five broken: the three that serve all beat", v.Members)
	}
	quietFor(f, 5, 6)
	want(t, "when those that serve fall silent too", string(deferral(f.Sweep(), f.ID(0)).Reason), "blind")
}

// worker gives a group of queue consumers with a deep and rising queue, and the action that allows marks.
func worker(n int) *guardtest.Fleet {
	f := calm(guardtest.New(n))
	f.In.Policy.Kind = guard.KindWorker
	f.In.Policy.Queue = &guard.QueueSpec{SQSURL: "https://sqs.eu-west-1.amazonaws.com/111122223333/jobs", Deep: 1000}
	f.In.Group.Queue = &guard.QueueReading{Depth: 1000, Trend: "rising"}
	f.In.Group.TargetGroups = nil
	for i := range n {
		f.M(i).Targets = nil
	}
	f.Sweep()
	return f
}

func TestWorkers(t *testing.T) {
	tests := map[string]struct {
		lay   func(*guardtest.Fleet)
		class string
		told  string
	}{
		"silent while the queue is deep and rising": {func(*guardtest.Fleet) {}, "broken", "worker-stalled!"},
		"the queue is not deep":                     {func(f *guardtest.Fleet) { f.In.Group.Queue.Depth = 999 }, "healthy", ""},
		"the queue is flat":                         {func(f *guardtest.Fleet) { f.In.Group.Queue.Trend = "flat" }, "bad", "worker-stalled!"},
		"the queue is falling":                      {func(f *guardtest.Fleet) { f.In.Group.Queue.Trend = "falling" }, "healthy", ""},
		"there is no queue":                         {func(f *guardtest.Fleet) { f.In.Policy.Queue = nil }, "healthy", ""},
		"the queue cannot be read":                  {func(f *guardtest.Fleet) { f.In.Reads.Queue = "throttled" }, "healthy", "blind"},
		"the group only holds":                      {func(f *guardtest.Fleet) { f.In.Policy.Action = guard.ActionHoldOnly }, "bad", "worker-stalled!"},
		"two are silent":                            {func(f *guardtest.Fleet) { quietFor(f, 1) }, "bad", "worker-stalled!"},
		"it only reports a failure":                 {func(f *guardtest.Fleet) { f.Mute = map[string]bool{}; f.M(0).Beat.Status = "failing" }, "healthy", ""},
		"all beat":                                  {func(f *guardtest.Fleet) { f.Mute = map[string]bool{} }, "healthy", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := worker(8)
			quietFor(f, 0)
			test.lay(f)
			class := strings.Split(verdictOn(f), ",")[0]
			if name == "two are silent" && f.Verdict.Members.Bad == 2 && f.Verdict.Members.Broken == 0 {
				class = "bad"
			}
			want(t, "class", class, test.class)
			told := pages(f.Verdict)
			if test.told != "" && !strings.Contains(told, test.told) || test.told == "" && strings.Contains(told, "stalled") {
				t.Errorf("pages %q, want %q", told, test.told)
			}
		})
	}
	f := worker(8)
	quietFor(f, 0)
	f.Sweep()
	want(t, "a silent worker alone", fate(f.Sweep(), f.ID(0)), "mark")
	f.Replace(0)
	f.M(7).Targets = nil
	beat := f.M(7).Beat
	f.M(7).Beat = guard.Beat{}
	f.In.Policy.MarksPer10Minutes = 5
	quietFor(f, 0)
	f.Sweep()
	want(t, "while its replacement has not beaten", fate(f.Sweep(), f.ID(0)), "in-flight=1/1")
	f.M(7).Beat = beat
	f.Sweeps(10)
	want(t, "after its first beat it was marked", fate(f.Verdict, f.ID(0)), "waiting")
}

func TestOnePortOfATargetGroupThatSpeaksIsEnough(t *testing.T) {
	f := guardtest.New(9)
	for i := range 9 {
		f.M(i).Targets = []guard.Target{{Group: "web", Port: 80, State: "initial"}, {Group: "web", Port: 81, State: "healthy"}}
	}
	f.Aim(0, "unhealthy", "Target.Timeout")
	f.Aim(1, "unhealthy", "Target.Timeout")
	want(t, "two of nine", causes(f.Sweep()), "")
}

func TestWhatBeganAtTheMomentOfTheReleaseIsOver(t *testing.T) {
	for after, triggers := range map[time.Duration]string{0: "", moment: "rolling=3/3"} {
		f := calm(guardtest.New(8))
		f.In.Policy.RollingPercent = 25
		f.In.State.ReleasedAt = guard.At(f.In.Now)
		for _, m := range []string{"x", "y"} {
			f.In.State.Rolling = append(f.In.State.Rolling, guard.Onset{Member: m, At: guard.At(f.In.Now.Add(after))})
		}
		f.Break(0)
		want(t, after.String()+" after the release", causes(f.Sweep()), triggers)
	}
}

func TestWorkersThatAllFallSilentProveNothingThoughTheQueueIsDeep(t *testing.T) {
	for _, trend := range []string{"rising", "flat"} {
		f := worker(8)
		f.In.Policy.CorrelatedMin = 2
		f.In.Group.Queue.Trend = trend
		quietFor(f, upTo(8)...)
		v := f.Sweep()
		want(t, trend+": the mode", v.Mode, guard.Blind)
		if v.Members.Bad != 0 || len(v.Triggers) > 0 {
			t.Errorf("%s: %d bad, %s: the path of the heartbeats is what failed", trend, v.Members.Bad, causes(v))
		}
		want(t, trend+": pages", pages(v), "heartbeat-path!, worker-stalled!")
	}
}

func TestAWorkerIsAloneInItsSilenceBesideOnesThatAreNotAtWork(t *testing.T) {
	for name, lay := range map[string]func(f *guardtest.Fleet){
		"one is in standby":     func(f *guardtest.Fleet) { f.M(1).Lifecycle = "Standby" },
		"one is in its grace":   func(f *guardtest.Fleet) { f.M(1).Since = f.In.Now },
		"one of each":           func(f *guardtest.Fleet) { f.M(1).Lifecycle, f.M(2).Since = "Standby", f.In.Now },
		"one is on its way out": func(f *guardtest.Fleet) { f.M(1).Lifecycle = "Terminating" },
	} {
		f := worker(8)
		quietFor(f, 0, 1, 2)
		f.Remember(1).Old, f.Remember(2).Old = false, false
		if name != "one of each" {
			f.Heal(2)
		}
		lay(f)
		v := f.Sweep()
		if v.Members.Broken != 1 || !strings.HasPrefix(pageText(v, guard.PageWorkerStalled), "1 workers are silent") {
			t.Errorf("%s: %d broken, the page %q", name, v.Members.Broken, pageText(v, guard.PageWorkerStalled))
		}
	}
}

func TestWhoHasTimeForTheFirstBeatIsNotAmongTheOthers(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.FirstHeartbeatSeconds = 900
	for i := 4; i < 8; i++ { // past the grace, and not past the time for the first beat
		f.M(i).Beat = guard.Beat{}
		n := f.Remember(i)
		n.Beat, n.Old, n.Since = false, false, guard.At(f.In.Now.Add(-8*time.Minute))
	}
	quietFor(f, 0)
	f.Aim(0, "unhealthy", "Target.Timeout")
	if v := f.Sweep(); v.Mode != guard.Watching || v.Members.Broken != 1 {
		t.Errorf("%s, %d broken: three of three others beat", v.Mode, v.Members.Broken)
	}
}
