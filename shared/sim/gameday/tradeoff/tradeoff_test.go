package tradeoff_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
	"github.com/holdfast-aws/holdfast/shared/sim/gameday/tradeoff"
)

func TestEveryKeyIsOneOfThePolicysAndTriesItsBuiltInValueAndOnlyValuesInItsRange(t *testing.T) {
	for _, k := range tradeoff.Keys() {
		if !slices.Contains(k.Values, k.Default) || !slices.IsSorted(k.Values) {
			t.Errorf("%s: values %v, want them sorted with the built-in %d among them", k.Name, k.Values, k.Default)
		}
		for _, v := range k.Values {
			document, err := json.Marshal(map[string]int{k.Name: v})
			if err != nil {
				t.Fatal(err)
			}
			if problems := problemsOf(string(document)); len(problems) > 0 {
				t.Errorf("%s: %v", document, problems)
			}
		}
	}
}

// problemsOf are what the policy has to say about a document of a group.
func problemsOf(document string) []guard.Problem {
	return guard.Resolve([]guard.Layer{{Name: guard.LayerDeclared, Raw: []byte(document)}}, guard.Switch{Value: guard.ModeAct, Found: true}).Problems
}

func TestTheSameSeedsGiveTheSameTableAndAnImpossibleBudgetRepairsNothing(t *testing.T) {
	inFlight, err := tradeoff.Find("max_in_flight")
	if err != nil {
		t.Fatal(err)
	}
	inFlight.Values = []int{0, 1}
	day, ok := gameday.Find("broken-in-brownout")
	if !ok {
		t.Fatal("no such day")
	}
	o := tradeoff.Options{Keys: []tradeoff.Key{inFlight}, Days: []gameday.Day{day}, Seeds: 2, First: 1}
	var pages []string
	var tables []tradeoff.Table
	for range 2 {
		if tables, err = tradeoff.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := tradeoff.WriteMarkdown(&page, tables); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page.String())
	}
	if pages[0] != pages[1] {
		t.Errorf("two runs differ:\n%s\n%s", pages[0], pages[1])
	}
	none, one := tables[0].Rows[0], tables[0].Rows[1]
	if none.Plays != 4 || none.Broken == 0 || none.Unrepaired == 0 || one.Unrepaired >= none.Unrepaired || !one.Default || none.Default {
		t.Errorf("none in flight: %+v\none: %+v\nwant four plays each, broken members, and only the second to repair them", none, one)
	}
	if !strings.Contains(pages[0], "| **1** |") {
		t.Errorf("the built-in value is not shown as such:\n%s", pages[0])
	}
}

func TestBetterIsAtLeastAsGoodInEverythingAndBetterInSomething(t *testing.T) {
	base := tradeoff.Cost{HealthyLost: 10, CapacityMinutes: 1000, ErrorMinutes: 100, RepairP50: time.Minute, RepairP95: time.Hour, Unrepaired: 2, Pages: 50, FalsePages: 5}
	for name, c := range map[string]struct {
		change func(*tradeoff.Cost)
		want   bool
	}{
		"the same is not better":            {func(*tradeoff.Cost) {}, false},
		"fewer lost":                        {func(c *tradeoff.Cost) { c.HealthyLost = 9 }, true},
		"fewer lost for more pages":         {func(c *tradeoff.Cost) { c.HealthyLost, c.Pages = 9, 60 }, false},
		"a little less capacity lost":       {func(c *tradeoff.Cost) { c.CapacityMinutes = 999 }, true},
		"fewer lost for a little capacity":  {func(c *tradeoff.Cost) { c.HealthyLost, c.CapacityMinutes = 9, 1001 }, false},
		"faster in the middle, not at last": {func(c *tradeoff.Cost) { c.RepairP50, c.RepairP95 = 30*time.Second, 2*time.Hour }, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := base
			c.change(&other)
			if got := other.Better(base); got != c.want {
				t.Errorf("better is %t, want %t", got, c.want)
			}
		})
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	if _, err := tradeoff.Run(t.Context(), tradeoff.Options{}); err == nil || !strings.Contains(err.Error(), "0 seeds, want at least 1") {
		t.Errorf("error %v, want the number of seeds in it", err)
	}
	if _, err := tradeoff.Find("quiet"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", "quiet")) {
		t.Errorf("error %v, want the key in it", err)
	}
}
