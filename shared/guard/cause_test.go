package guard_test

import (
	"strings"
	"testing"
	"time"

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

func TestOnlyAShareAtLeastHalfAboveTheGoodIsNamed(t *testing.T) {
	for _, test := range []struct {
		bad, bads, good, goods int
		named                  bool
	}{{9, 13, 1, 5, false}, {10, 13, 1, 5, true}, {9, 11, 8, 25, false}, {10, 11, 8, 25, true}, {13, 14, 3, 7, true}, {12, 14, 3, 7, false}} {
		f := guardtest.New(test.bads + test.goods)
		for i := range test.bads + test.goods {
			if i < test.bad || i >= test.bads && i < test.bads+test.good {
				f.M(i).LaunchTemplate = "2"
			}
		}
		f.Break(upTo(test.bads)...)
		text := pageText(f.Sweep(), guard.PageHeld)
		if text == "" || strings.Contains(text, "launch template version 2") != test.named {
			t.Errorf("%+v: the page %q", test, text)
		}
	}
}

func TestNoMoreThanThreeThatSetTheBadApartAreNamed(t *testing.T) {
	f := guardtest.New(12)
	for i := range 4 {
		m := f.M(i)
		m.LaunchTemplate, m.InstanceType, m.Beat.Agent, m.Zone = "2", "t4g.nano", "2.0.0", "eu-west-1z"
	}
	f.Break(upTo(4)...)
	text := pageText(f.Sweep(), guard.PageHeld)
	for part, named := range map[string]bool{"agent version 2.0.0": true, "instance type t4g.nano": true, "launch template version 2 ": true, "zone eu-west-1z (": false} {
		if strings.Contains(text, part) != named {
			t.Errorf("the page %q: want %q named: %t", text, part, named)
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

func TestMembersYoungerThanAnHourAreACohort(t *testing.T) {
	for age, named := range map[time.Duration]bool{time.Hour - time.Millisecond: true, time.Hour: false} {
		f := guardtest.New(8)
		for i := range 3 {
			f.M(i).Since = f.In.Now.Add(guardtest.Interval - age)
		}
		f.Break(0, 1, 2)
		text := pageText(f.Sweep(), guard.PageHeld)
		if strings.Contains(text, "in service for less than an hour (3 of 3 bad, 0 of 5 good)") != named || strings.Contains(text, "less than an hour") != named {
			t.Errorf("in service for %s: the page %q", age, text)
		}
	}
}

func TestWhatIsNotKnownOfAMemberIsNothingThatTheBadShare(t *testing.T) {
	f := guardtest.New(8)
	for i := range 3 {
		f.M(i).Zone, f.M(i).LaunchTemplate = "eu-west-1z", ""
	}
	f.Break(0, 1, 2)
	text := pageText(f.Sweep(), guard.PageHeld)
	if !strings.Contains(text, "the bad members share: zone eu-west-1z (3 of 3 bad, 0 of 5 good); they fail alike: ") {
		t.Errorf("the page %q, want the zone and nothing else", text)
	}
}
