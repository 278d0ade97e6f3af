package runner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/runner/runnertest"
)

func TestStraysAreNamesLikeAPolicysThatNoGroupHas(t *testing.T) {
	groups := []guard.Group{{Name: "shop/web"}, {Name: "api"}}
	for name, want := range map[string]bool{
		"/holdfast/groups/shop_2Fweb": false, "/holdfast/declared/api": false, "/holdfast/mode": false, "/holdfast/defaults": false,
		"/holdfast/probes": false, "/holdfast/audit/accepted": false, "/holdfast/team/note": false,
		"/holdfast/groups/wbe": true, "/holdfast/groups/shop/web": true, "/holdfast/groups/shop_2fweb": true, "/holdfast/groups/API": true,
		"/holdfast/Groups/api": true, "/holdfast/group/api": true, "/holdfast/Mode": true, "/holdfast/default": true, "/holdfast/mode/api": true,
	} {
		if got := runner.Strays([]string{name}, groups); (len(got) == 1) != want {
			t.Errorf("%s: %v, want it to be one: %v", name, got, want)
		}
	}
}

func TestAParameterThatNobodyReadsIsToldOnceAfterTenMinutes(t *testing.T) {
	const name = "/holdfast/groups/wbe"
	b, _ := quiet(t, 4)
	b.Others = []string{name, "/holdfast/probes"}
	at := b.Now
	for b.Now.Sub(at) < 9*time.Minute {
		b.tick(t)
	}
	if len(b.Pages) != 0 {
		t.Fatalf("told before its group can be there: %+v", b.Pages)
	}
	want := 0
	for b.Now.Sub(at) < 12*time.Minute { // seen first a minute after at
		if b.tick(t); b.Now.Sub(at) >= 11*time.Minute {
			want = 1
		}
		if n := len(b.Pages); n != want {
			t.Fatalf("%s after the beginning: %d pages, want %d", b.Now.Sub(at), n, want)
		}
	}
	b.ticks(t, 60)
	p := b.pages(guard.PageConfig)
	if len(p) != 1 || p[0].Subject != name || p[0].Group != "wbe" || p[0].Urgent || !strings.HasPrefix(p[0].Text, name+" is read by no sweep") {
		t.Fatalf("pages %+v, want it once", b.Pages)
	}
	if suffix := ":parameter" + name; !strings.HasPrefix(p[0].GroupARN, "arn:aws:ssm:") || !strings.HasSuffix(p[0].GroupARN, suffix) {
		t.Errorf("ARN %s, want the parameter's", p[0].GroupARN)
	}
	b.Others = nil
	b.tick(t)
	b.Others = []string{name}
	b.ticks(t, 12)
	if p := b.pages(guard.PageConfig); len(p) != 2 {
		t.Errorf("%d pages of what came back, want a second one", len(p))
	}
}

func TestAStrayIsToldAgainUntilItIsDeliveredAndByTheFirstShardOnly(t *testing.T) {
	b, g := quiet(t, 4)
	for i := range 6 {
		b.Add("other"+string(rune('a'+i)), 4)
	}
	b.Others = []string{"/holdfast/groups/wbe", guard.LayerGroups + guard.EscapeName(g.Name)}
	b.ticks(t, 9)
	for range 3 {
		b.Step()
		b.look(t, on(fault.Throttled, runnertest.OpPage))
	}
	if len(b.Pages) != 0 {
		t.Fatal("delivered")
	}
	for _, shard := range []int{2, 1, 0} {
		req := b.request()
		req.Shard, req.Shards = shard, 3
		if _, err := b.Process("s").Run(context.Background(), req); err != nil {
			t.Fatal(err)
		}
		if told := len(b.pages(guard.PageConfig)); told != 1 && shard == 0 || told != 0 && shard != 0 {
			t.Errorf("after shard %d: %d pages", shard, told)
		}
	}
}

func TestNothingIsAStrayWhilePoliciesOrTheRegionCannotBeRead(t *testing.T) {
	for _, op := range []string{runnertest.OpPolicies, runnertest.OpLoadRegion} {
		b, _ := quiet(t, 4)
		b.Others = []string{"/holdfast/groups/wbe"}
		b.ticks(t, 9)
		for range 5 {
			b.Step()
			b.look(t, on(fault.Throttled, op))
		}
		if slices.ContainsFunc(b.Pages, func(n runner.Notice) bool { return n.Subject == "/holdfast/groups/wbe" }) {
			t.Errorf("%s fails: told all the same", op)
		}
	}
}

func TestOfManyStraysTheFirstFiftyAreTold(t *testing.T) {
	for n, want := range map[int]int{49: 49, 50: 50, 51: 50} {
		b, _ := quiet(t, 4)
		for i := range n {
			b.Others = append(b.Others, fmt.Sprintf("/holdfast/groups/gone-%02d", i))
		}
		b.ticks(t, 13)
		if got := len(b.pages(guard.PageConfig)); got != want {
			t.Errorf("of %d strays %d are told, want %d", n, got, want)
		}
	}
}
