package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/picture"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

func TestSimulateTellsTheStoryWithAndWithout(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	code, out, errOut := holdfast(t, "simulate", "brownout", "--seed", "1", "--html", page)
	if code != exitOK || errOut != "" {
		t.Fatalf("exit %d and %q", code, errOut)
	}
	for _, want := range []string{
		"AWS alone, ELB health checks: 8 healthy members of 8 lost\n", "with Holdfast: 0 healthy members of 8 lost; held from 5:22 to 21:00\n",
		"AWS alone, EC2 health checks: 0 healthy members of 8 lost\n", "Holdfast       suspends AZRebalance, HealthCheck, ReplaceUnhealthy\n",
		"calls 7 members Unhealthy",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the story does not say %q:\n%s", want, out)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "held from 5:22 to 21:00") {
		t.Errorf("page of %d bytes, %v", len(text), err)
	}
	if _, again, _ := holdfast(t, "simulate", "--seed=1", "brownout"); again != out {
		t.Error("the same seed told another story")
	}
	if _, other, _ := holdfast(t, "simulate", "--seed=2", "brownout"); other == out {
		t.Error("another seed told the same story")
	}
}

func TestSimulateWritesJSON(t *testing.T) {
	code, out, _ := holdfast(t, "simulate", "--json", "single-broken")
	var told struct {
		Incident string    `json:"incident"`
		Runs     []runJSON `json:"runs"`
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil || code != exitOK || told.Incident != "single-broken" || len(told.Runs) != 3 {
		t.Fatalf("exit %d, %v, %+v", code, err, told)
	}
	for _, r := range told.Runs {
		if want := r.Label != "AWS alone, EC2 health checks"; want != (r.BrokenReplaced == 1) || r.Broken != 1 || r.HealthyLost != 0 {
			t.Errorf("%s: %d of %d broken replaced, %d lost", r.Label, r.BrokenReplaced, r.Broken, r.HealthyLost)
		}
		if r.Guarded != (r.Marks == 1) || r.Guarded != (r.Looks > 0) || len(r.Unmet) > 0 || len(r.Holds) > 0 {
			t.Errorf("%s: %d marks, %d looks, unmet %v, holds %v", r.Label, r.Marks, r.Looks, r.Unmet, r.Holds)
		}
	}
}

func TestSimulateAndDemoRefuseWhatTheyDoNotKnow(t *testing.T) {
	for _, tc := range []struct {
		name        string
		args        []string
		code        int
		out, errOut string
	}{
		{"the list", []string{"simulate", "--list"}, exitOK, "brownout\n", ""},
		{"an unknown incident", []string{"simulate", "flood"}, exitUsage, "", `"flood" is no incident`},
		{"no incident", []string{"simulate"}, exitUsage, "", "holdfast simulate: want the name of an incident: "},
		{"the list as JSON", []string{"simulate", "--list", "--json"}, exitOK, `"name": "brownout"`, ""},
		{"the list of something", []string{"simulate", "--list", "brownout"}, exitUsage, "", `unexpected argument "brownout" beside --list`},
		{"two incidents", []string{"simulate", "brownout", "single-broken"}, exitUsage, "", `unexpected argument "single-broken"`},
		{"a seed that is no number", []string{"simulate", "brownout", "--seed", "x"}, exitUsage, "", `--seed: "x", want a whole number of 0 or more`},
		{"a page that cannot be written", []string{"simulate", "brownout", "--html", "nowhere/page.html"}, exitUsage, "", "write file: open nowhere/page.html"},
		{"a demo of something", []string{"demo", "brownout"}, exitUsage, "", `unexpected argument "brownout"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out, errOut := holdfast(t, tc.args...)
			if code != tc.code || !strings.Contains(out, tc.out) || !strings.Contains(errOut, tc.errOut) {
				t.Errorf("exit %d, %q and %q", code, out, errOut)
			}
		})
	}
}

func TestABrokenPromiseIsAnExitCode(t *testing.T) {
	in, _ := sim.Find("brownout")
	r, err := drive.Run(t.Context(), in, drive.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	claimed := r.Story
	claimed.Guarded = true // AWS alone, sold as guarded
	var o, e strings.Builder
	s := streams{&o, &e}
	c := picture.Case{Name: "brownout", Runs: []picture.Run{{Label: "with Holdfast", Story: claimed}}}
	if code := judge(c, "demo", s); code != exitNo || !strings.Contains(e.String(), "8 healthy members were terminated, want 0") {
		t.Errorf("exit %d and %q", code, e.String())
	}
	calm, err := drive.Run(t.Context(), in, drive.Options{Seed: 1, HealthChecks: []string{"EC2"}})
	if err != nil {
		t.Fatal(err)
	}
	c.Runs[0].Story = calm.Story
	if code := judgeContrast(c, s); code != exitNo || !strings.Contains(e.String(), "shows nothing") {
		t.Errorf("exit %d and %q", code, e.String())
	}
}

func TestTheDemoKeepsItsPromise(t *testing.T) {
	page := filepath.Join(t.TempDir(), "demo.html")
	code, out, errOut := holdfast(t, "demo", "--html", page)
	if code != exitOK || errOut != "" {
		t.Fatalf("exit %d and %q\n%s", code, errOut, out)
	}
	for _, want := range []string{
		"built function sweep", "with Holdfast: 0 healthy members of 8 lost; held from 5:20 to 21:00\n", "its replacement serves at 9:21\n",
		"calls of the AWS API: autoscaling ", "the promise was kept in 2 incidents: Holdfast lost no healthy member, replaced the one that broke alone, and held still while many failed together\n",
		"No setting of AWS alone is good in both incidents: EC2 health checks left 1 broken in place in single-broken; ELB health checks lost 8 healthy members in brownout.\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the demo does not say %q:\n%s", want, out)
		}
	}
	if info, err := os.Stat(page); err != nil || info.Size() < 10_000 {
		t.Errorf("page: %v, %v", info, err)
	}
}

func TestAPageThatCannotBeWrittenIsToldBeforeTheRun(t *testing.T) {
	for _, args := range [][]string{{"simulate", "brownout"}, {"demo"}} {
		code, out, errOut := holdfast(t, append(args, "--html", "nowhere/page.html")...)
		if code != exitUsage || out != "" || !strings.HasPrefix(errOut, "holdfast "+args[0]+": write file: open nowhere/page.html") {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, errOut)
		}
	}
}

func TestAPageReplacesWhatWasInTheFile(t *testing.T) {
	page := file(t, "page.html", strings.Repeat("an older page ", 100_000))
	if code, _, errOut := holdfast(t, "simulate", "single-broken", "--html", page); code != exitOK {
		t.Fatal(errOut)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.HasPrefix(string(text), "<!doctype html>") || strings.Contains(string(text), "older") {
		t.Errorf("page of %d bytes, %v", len(text), err)
	}
}

func TestADemoOutsideTheRepositorySaysWhereToRunIt(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errOut := holdfast(t, "demo")
	if code != exitUsage || out != "" || errOut != "holdfast demo: not inside Holdfast's repository: the functions are built from its sources, run it there\n" {
		t.Errorf("exit %d, %q, %q", code, out, errOut)
	}
}

func TestSimulatePlaysGameDaysAndJudgesNone(t *testing.T) {
	code, out, errOut := holdfast(t, "simulate", "poison-launch-template", "--seed", "3")
	if code != exitOK || errOut != "" || !strings.Contains(out, "never becomes healthy") {
		t.Errorf("exit %d, %q\n%s", code, errOut, out)
	}
	code, out, _ = holdfast(t, "simulate", "--list")
	for _, day := range gameday.Days() {
		if code != exitOK || !strings.Contains(out, "\n"+day.Name+"\n") {
			t.Errorf("the list does not have %s", day.Name)
		}
	}
}

// A figure of the game days can be looked at: the story of a seed is the one that was measured.
func TestTheStoryOfASeedIsTheOneThatTheGameDaysMeasure(t *testing.T) {
	for _, name := range []string{"shared-cache-tenth", "rolling-false-positives", "one-broken", "zone-loss"} {
		day, found := gameday.Find(name)
		if !found {
			t.Fatalf("no day %s", name)
		}
		for seed := uint64(14); seed < 17; seed++ {
			for label, guardian := range map[string]gameday.Guardian{
				"with Holdfast, EC2 health checks": gameday.Holdfast(), "with Holdfast, ELB health checks": gameday.HoldfastBesideELB(),
			} {
				m, err := gameday.Play(day, guardian, seed)
				if err != nil {
					t.Fatal(err)
				}
				cases, err := simulation{seed: seed, free: true}.play(t.Context(), day.Incidents(seed))
				if err != nil || len(cases) != len(day.Groups) {
					t.Fatalf("%d cases for %d groups, %v", len(cases), len(day.Groups), err)
				}
				lost := 0
				for _, c := range cases {
					for _, r := range c.Runs {
						if r.Label == label {
							lost += r.Story.Stats.HealthyTerminated
						}
					}
				}
				if lost != int(m.HealthyLost) {
					t.Errorf("%s, seed %d, %s: the story loses %d, the measure is %d", name, seed, label, lost, m.HealthyLost)
				}
			}
		}
	}
}

func TestADayOfSeveralGroupsIsToldForEach(t *testing.T) {
	code, out, errOut := holdfast(t, "simulate", "shared-cache-tenth", "--seed", "14")
	if code != exitOK || errOut != "" {
		t.Fatalf("exit %d, %q", code, errOut)
	}
	for _, group := range []string{"cart", "search", "web"} {
		if !strings.Contains(out, "shared-cache-tenth/"+group+"\n") {
			t.Errorf("no story of %s", group)
		}
	}
	code, out, _ = holdfast(t, "simulate", "shared-cache-tenth", "--seed", "7", "--json")
	dec := json.NewDecoder(strings.NewReader(out))
	n := 0
	for ; dec.More(); n++ {
		var one struct {
			Incident string
			Runs     []struct{ Notices []drive.Notice }
		}
		if err := dec.Decode(&one); err != nil {
			t.Fatal(err)
		}
		told := 0
		for _, r := range one.Runs {
			for _, notice := range r.Notices {
				told++
				if !strings.HasSuffix(one.Incident, "/"+notice.Group) {
					t.Errorf("the story of %s tells what was said about %s", one.Incident, notice.Group)
				}
			}
		}
		if told == 0 {
			t.Errorf("the story of %s has no notice", one.Incident)
		}
	}
	if code != exitOK || n != 3 {
		t.Errorf("exit %d, %d objects, want 3", code, n)
	}
}
