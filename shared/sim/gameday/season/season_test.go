package season_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday/season"
)

// drill is a day of ten minutes with one group of four in which nothing happens by itself.
func drill(name string) gameday.Day {
	return gameday.Day{
		Name: name, About: "Nothing happens.", Groups: []string{"web"}, Duration: 10 * time.Minute,
		Draw: func(*gameday.Dice) gameday.Course {
			return gameday.Course{Setup: func(c *sim.Cloud) error {
				return c.CreateGroup(sim.GroupSpec{Name: "web", Desired: 4, SteadyFor: time.Hour})
			}}
		},
	}
}

// clumsy marks as many sound members as the seed says, a minute after the start.
type clumsy struct{ name string }

func (c clumsy) Name() string { return c.name }

func (clumsy) Start(w *gameday.World) error {
	w.Cloud.At(w.Start.Add(time.Minute), func(c *sim.Cloud) {
		g, _ := c.Group("web")
		for _, m := range g.Members[:c.Config().Seed] {
			if err := c.SetInstanceHealth(m.ID, sim.Unhealthy, false); err != nil {
				panic(err)
			}
		}
	})
	return nil
}

func (clumsy) Pages() []gameday.Page { return nil }

func plan() season.Plan {
	return season.Plan{
		Days: []gameday.Day{drill("first"), drill("second")}, First: 1, Seeds: 3, Workers: 1,
		Guardians: []func() gameday.Guardian{func() gameday.Guardian { return clumsy{"holdfast"} }, func() gameday.Guardian { return gameday.Nobody() }},
	}
}

func mustPlay(t *testing.T, p season.Plan) season.Table {
	t.Helper()
	table, err := season.Play(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestFiguresAreMeansWithTheirIntervals(t *testing.T) {
	table := mustPlay(t, plan())
	if !slices.Equal(table.Guardians, []string{"holdfast", "nobody"}) || len(table.Days) != 2 {
		t.Fatalf("the table has guardians %v and %d days", table.Guardians, len(table.Days))
	}
	for _, day := range table.Days {
		own, nobody := day.Cells[0], day.Cells[1]
		// Seeds 1, 2 and 3 lose as many members: mean 2, deviation 1, half width 1.96 / sqrt 3.
		if own.HealthyLost != (season.Mean{Value: 2, Half: 1.131607}) || own.RunsWithLoss != 3 || own.WorstLoss != 3 {
			t.Errorf("%s: lost %+v in %d runs, at worst %d", day.Name, own.HealthyLost, own.RunsWithLoss, own.WorstLoss)
		}
		if own.Calls.Value != 2 || nobody.HealthyLost != (season.Mean{}) || nobody.RunsWithLoss != 0 {
			t.Errorf("%s: %v calls; nobody lost %+v", day.Name, own.Calls, nobody.HealthyLost)
		}
	}
}

func TestTheSameSeasonGivesTheSameBytesWithAnyNumberOfWorkers(t *testing.T) {
	p := season.Plan{First: 5, Seeds: 6, Workers: 1, Guardians: []func() gameday.Guardian{gameday.Holdfast, func() gameday.Guardian { return gameday.Nobody() }}}
	for _, name := range []string{"poison-launch-template", "rolling-false-positives", "shared-cache-tenth"} {
		day, ok := gameday.Find(name)
		if !ok {
			t.Fatalf("no day %s", name)
		}
		p.Days = append(p.Days, day)
	}
	write := func(workers int) string {
		p.Workers = workers
		table := mustPlay(t, p)
		var out bytes.Buffer
		if err := errors.Join(table.Markdown(&out), table.HTML(&out), json.NewEncoder(&out).Encode(table)); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	one, four := write(1), write(4)
	if one != four {
		t.Error("one worker and four give different bytes")
	}
	if !strings.Contains(one, "poison-launch-template") || !strings.Contains(one, "| holdfast |") {
		t.Error("the tables name no day or guardian")
	}
}

func TestTheLimitIsShownOnlyWhereItsOraclePlayed(t *testing.T) {
	days := func(names ...string) []season.Day {
		var cells []season.Cell
		for _, name := range names {
			cells = append(cells, cell(name, season.Mean{}, season.Mean{Value: 4}))
		}
		return []season.Day{{Name: "d", Cells: cells}}
	}
	for _, c := range []struct {
		guardians []string
		has, not  string
	}{
		{[]string{"holdfast", "oracle-with-evidence"}, "| d | 0 of 1 | 4.00 | 4.0 | +0 % |  |\n", "nothing of this kind"},
		{[]string{"holdfast"}, "| day | runs with a healthy member lost | capacity minutes | better |\n|---|---:|---:|---|\n| d | 0 of 1 | 4.00 |  |\n", "limit"},
		{[]string{"holdfast", "oracle"}, "| d | 0 of 1 | 4.00 |  |\n", "over it"},
	} {
		var out bytes.Buffer
		if err := (season.Table{Seeds: 1, FirstSeed: 1, Guardians: c.guardians, Days: days(c.guardians...)}).Markdown(&out); err != nil {
			t.Fatal(err)
		}
		_, text, found := strings.Cut(out.String(), "beside the others")
		if !found || !strings.Contains(text, c.has) || strings.Contains(text, c.not) {
			t.Errorf("%v: want %q and no %q in\n%s", c.guardians, c.has, c.not, text)
		}
	}
}

func TestOneSeedIsNoSeeds(t *testing.T) {
	p := plan()
	p.Seeds, p.Days, p.Guardians = 1, p.Days[:1], p.Guardians[:1]
	table := mustPlay(t, p)
	var text, page bytes.Buffer
	if err := errors.Join(table.Markdown(&text), table.HTML(&page)); err != nil {
		t.Fatal(err)
	}
	for out, want := range map[string]string{text.String(): "\n1 seed from 1 on, 1 day, 1 guardian. Figures", page.String(): "the mean of 1 play on"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	if !strings.Contains(page.String(), ">1 seed from 1 on.") {
		t.Error("the page counts seeds wrongly")
	}
}

func TestProgressCountsEveryPlayOnceAndInOrder(t *testing.T) {
	for _, workers := range []int{1, 3} {
		p := plan()
		p.Workers = workers
		var told []uint64
		p.Progress = func(done, all uint64) {
			if all != 12 {
				t.Errorf("%d plays in all, want 3 seeds of 2 days with 2 guardians", all)
			}
			told = append(told, done)
		}
		with := mustPlay(t, p)
		if !slices.Equal(told, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) {
			t.Errorf("%d workers told %v", workers, told)
		}
		if p.Progress = nil; !reflect.DeepEqual(with, mustPlay(t, p)) {
			t.Error("progress changes figures")
		}
	}
}

func TestADayThatCannotBePlayedEndsTheSeason(t *testing.T) {
	p := plan()
	p.Days[1].Draw = func(*gameday.Dice) gameday.Course {
		return gameday.Course{Setup: func(*sim.Cloud) error { return errors.New("no such fleet") }}
	}
	if _, err := season.Play(t.Context(), p); err == nil || !strings.Contains(err.Error(), "no such fleet") {
		t.Errorf("error is %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := season.Play(ended, plan()); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context the error is %v", err)
	}
	p = plan()
	p.Seeds = 0
	if _, err := season.Play(t.Context(), p); err == nil {
		t.Error("no seeds and no error")
	}
}

func cell(name string, lost, capacity season.Mean) season.Cell {
	return season.Cell{Guardian: name, HealthyLost: lost, CapacityMinutes: capacity}
}

func TestWhoIsBetter(t *testing.T) {
	own := cell("holdfast", season.Mean{Value: 1, Half: 0.2}, season.Mean{Value: 20, Half: 2})
	for name, c := range map[string]struct {
		other season.Cell
		want  bool
	}{
		"loses as many and clearly less capacity":         {cell("x", season.Mean{Value: 1, Half: 0.2}, season.Mean{Value: 10, Half: 2}), true},
		"loses as many and a little less capacity":        {cell("x", season.Mean{Value: 1, Half: 0.2}, season.Mean{Value: 17, Half: 2}), false},
		"loses clearly fewer and as much capacity":        {cell("x", season.Mean{}, season.Mean{Value: 20, Half: 2}), true},
		"loses clearly fewer and clearly more capacity":   {cell("x", season.Mean{}, season.Mean{Value: 40, Half: 2}), false},
		"loses clearly more and clearly less capacity":    {cell("x", season.Mean{Value: 5, Half: 0.2}, season.Mean{Value: 10, Half: 2}), false},
		"is an oracle, which is no other guardian":        {cell("oracle", season.Mean{}, season.Mean{Value: 10, Half: 2}), false},
		"is another Holdfast, which is no other guardian": {cell("holdfast-beside-elb", season.Mean{}, season.Mean{Value: 10, Half: 2}), false},
	} {
		t.Run(name, func(t *testing.T) {
			table := season.Table{Guardians: []string{"holdfast", c.other.Guardian}, Days: []season.Day{{Name: "d", Cells: []season.Cell{own, c.other}}}}
			got := table.Verdicts("holdfast", "oracle")
			if len(got) != 1 || (len(got[0].Better) == 1) != c.want {
				t.Errorf("verdicts are %+v", got)
			}
		})
	}
}

func TestHowMuchIsLostOverTheLimit(t *testing.T) {
	table := season.Table{Guardians: []string{"oracle", "holdfast"}, Days: []season.Day{
		{Name: "some", Cells: []season.Cell{cell("oracle", season.Mean{}, season.Mean{Value: 4}), cell("holdfast", season.Mean{}, season.Mean{Value: 5})}},
		{Name: "none", Cells: []season.Cell{cell("oracle", season.Mean{}, season.Mean{}), cell("holdfast", season.Mean{}, season.Mean{})}},
	}}
	got := table.Verdicts("holdfast", "oracle")
	if len(got) != 2 || got[0].Limit != 4 || got[0].Over != 0.25 || got[1].Over != 0 {
		t.Errorf("verdicts are %+v", got)
	}
	if got := table.Verdicts("nobody", "oracle"); got != nil {
		t.Errorf("a guardian that did not play has verdicts %+v", got)
	}
}

func TestThePageNeedsNothingFromAnywhereElse(t *testing.T) {
	var page bytes.Buffer
	table := mustPlay(t, plan())
	if err := table.HTML(&page); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	if found := regexp.MustCompile(`(?i)(src|href)=|url\(|@import|<script|https?://`).FindString(text); found != "" {
		t.Errorf("the page has %q", found)
	}
	if n := strings.Count(text, `<svg viewBox="0 0 112 62"`); n != 4 {
		t.Errorf("%d pictures, want one for each of two days and two guardians", n)
	}
	for _, want := range []string{"first", "second", "holdfast", "nobody", fmt.Sprintf("the mean of %d plays", table.Seeds), "healthy members lost 2.00 ± 1.13"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
