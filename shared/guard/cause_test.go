package guard_test

import (
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/guard/guardtest"
)

func TestWhatTellsTheBadFromTheGood(t *testing.T) {
	const version = "launch template version 2"
	tests := map[string]struct {
		bad, good int // of the four bad and the eight good members, how many have the version
		named     string
	}{
		"all bad and no good ones have it":     {4, 0, version + " (4 of 4 bad, 0 of 8 good)"},
		"half above the good is enough":        {2, 0, version + " (2 of 4 bad, 0 of 8 good)"},
		"less than half above the good is not": {2, 1, ""},
		"one bad member is no cohort":          {1, 0, ""},
		"everybody has it":                     {4, 8, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := guardtest.New(12)
			for i := range 12 {
				f.M(i).Zone = f.ID(i)
				if i < test.bad || i >= 4 && i < 4+test.good {
					f.M(i).LaunchTemplate = "2"
				}
			}
			for i := range 4 { // each fails in its own way, so that only the version can be common
				f.M(i).Targets[0].Group = f.ID(i)
				f.Aim(i, "unhealthy", "Reason."+f.ID(i))
			}
			text := pageText(f.Sweep(), guard.PageHeld)
			if test.named == "" && strings.Contains(text, version) || !strings.Contains(text, test.named) {
				t.Errorf("the page %q, want %q named", text, test.named)
			}
		})
	}
	f := guardtest.New(12)
	for i := range 4 {
		f.M(i).LaunchTemplate = "2"
		f.M(i).Beat.Agent = "2.0.0"
	}
	f.Break(0, 1, 2, 3)
	text := pageText(f.Sweep(), guard.PageHeld)
	want(t, "what members are comes before how they fail", text[strings.Index(text, "share: "):strings.Index(text, ". suspended")],
		"share: agent version 2.0.0 (4 of 4 bad, 0 of 8 good); launch template version 2 (4 of 4 bad, 0 of 8 good); "+
			"they fail alike: failing check disk (4 of 4 bad, 0 of 8 good); failing with Target.Timeout (4 of 4 bad, 0 of 8 good)")
}

func TestATraitThatSomeGoodMembersHaveIsStillNamedBesideAPerfectSymptom(t *testing.T) {
	f := guardtest.New(8)
	for _, i := range []int{0, 1, 2, 7} {
		f.M(i).LaunchTemplate = "9"
	}
	f.Break(0, 1, 2)
	text := pageText(f.Sweep(), guard.PageHeld)
	for _, part := range []string{"the bad members share: launch template version 9 (3 of 3 bad, 1 of 5 good)", "they fail alike: "} {
		if !strings.Contains(text, part) {
			t.Errorf("the page %q, want %q", text, part)
		}
	}
}

func TestAShareALittleLessThanHalfAboveTheGoodIsNotNamed(t *testing.T) {
	for version, named := range map[int]bool{9: false, 10: true} { // 69 or 76 percent of the bad have it, and 20 of the good
		f := guardtest.New(18)
		for i := range version {
			f.M(i).LaunchTemplate = "2"
		}
		f.M(17).LaunchTemplate = "2"
		f.Break(upTo(13)...)
		text := pageText(f.Sweep(), guard.PageHeld)
		if text == "" || strings.Contains(text, "launch template version 2") != named {
			t.Errorf("%d of 13 bad and 1 of 5 good have it: the page %q, want it named: %t", version, text, named)
		}
	}
}

func TestAHoldOnPaperPromisesNothing(t *testing.T) {
	f := guardtest.New(8)
	f.In.Policy.Action = guard.ActionAlertOnly
	f.Break(0, 1)
	text := pageText(f.Sweep(), guard.PageHeld)
	if !strings.HasSuffix(text, ". no call is made") || strings.Contains(text, "suspended: ") {
		t.Errorf("the page of a group that is only alerted for: %q", text)
	}
}

func TestTheHeldPageSaysDuringAPacedExitTooThatTheLoadBalancerFailsOpen(t *testing.T) {
	f := guardtest.New(4)
	f.In.Policy.HoldMaxSeconds, f.In.Policy.HoldExit, f.In.Policy.PageRepeatSeconds = 600, guard.ExitPaced, 60
	f.Break(upTo(4)...)
	f.Sweeps(13)
	if !hold(t, f).Paced {
		t.Fatalf("no paced exit: %v", f.Verdict.Explain())
	}
	if text := pageText(f.Verdict, guard.PageHeld); !strings.Contains(text, "every target of target group web is unhealthy") {
		t.Errorf("the page %q", text)
	}
}
