package picture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/picture"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

var update = flag.Bool("update", false, "write the golden files anew")

func story(t *testing.T, name string, o drive.Options) drive.Story {
	t.Helper()
	in, ok := sim.Find(name)
	if !ok {
		t.Fatalf("no incident %s", name)
	}
	r, err := drive.Run(t.Context(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Story
}

func TestPicturesStayAsTheyAre(t *testing.T) {
	for _, name := range []string{"brownout", "single-broken"} {
		for _, guarded := range []bool{false, true} {
			id := fmt.Sprintf("%s-guarded-%t", name, guarded)
			svg, err := picture.SVG(id, "guarded "+fmt.Sprint(guarded), story(t, name, drive.Options{Guarded: guarded, Seed: 1}))
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, id, svg)
			golden := filepath.Join("testdata", id+".svg")
			if *update {
				if err := os.WriteFile(golden, []byte(svg), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if svg != string(want) {
				t.Errorf("%s differs from %s; look at it, then run with -update", id, golden)
			}
		}
	}
}

// wellFormed reads a picture as XML and checks that each id stands once and that each reference leads somewhere.
func wellFormed(t *testing.T, name, svg string) {
	t.Helper()
	ids := map[string]bool{}
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s is not well-formed: %v", name, err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range start.Attr {
			if a.Name.Local == "id" {
				if ids[a.Value] {
					t.Errorf("%s: id %q stands twice", name, a.Value)
				}
				ids[a.Value] = true
			}
		}
	}
	for _, ref := range regexp.MustCompile(`url\(#([^)]*)\)`).FindAllStringSubmatch(svg, -1) {
		if !ids[ref[1]] {
			t.Errorf("%s: nothing has the id %q", name, ref[1])
		}
	}
}

func page(t *testing.T, cases ...picture.Case) string {
	t.Helper()
	var out bytes.Buffer
	if err := picture.Page(&out, picture.Input{How: "how <it> came about", Cases: cases}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func both(t *testing.T, name string) picture.Case {
	t.Helper()
	return picture.Case{Name: name, About: "about " + name, Runs: []picture.Run{
		{Label: "AWS alone", Story: story(t, name, drive.Options{Seed: 1})},
		{Label: "with Holdfast", Story: story(t, name, drive.Options{Guarded: true, Seed: 1})},
		{Label: "aside", Aside: true, Story: story(t, name, drive.Options{Seed: 1, HealthChecks: []string{"EC2"}})},
	}}
}

func TestAPageNeedsNothingFromAnywhere(t *testing.T) {
	text := page(t, both(t, "brownout"), both(t, "single-broken"))
	for _, banned := range []string{"<script", "<link", "<img", "<iframe", "@import", "src=", "javascript:", "onclick", "ZgotmplZ"} {
		if strings.Contains(text, banned) {
			t.Errorf("the page has %q", banned)
		}
	}
	for _, address := range regexp.MustCompile(`https?://[^\s"'<)]+`).FindAllString(text, -1) {
		if address != "http://www.w3.org/2000/svg" {
			t.Errorf("the page names %s", address)
		}
	}
	for _, link := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		target, inside := strings.CutPrefix(link[1], "#")
		if !inside || !strings.Contains(text, `id="`+target+`"`) {
			t.Errorf("link %q leads nowhere", link[1])
		}
	}
	ids := map[string]int{}
	for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if ids[id[1]]++; ids[id[1]] == 2 {
			t.Errorf("id %q stands twice", id[1])
		}
	}
}

func TestAPageSaysItInWordsToo(t *testing.T) {
	text := page(t, both(t, "brownout"))
	for _, want := range []string{
		`<html lang="en">`, `name="viewport"`, "prefers-color-scheme: dark", "how &lt;it&gt; came about",
		`<td class="bad">8</td>`, `<td class="good">0</td>`, "held from 5:22 to 21:00", "<summary>The same as text</summary>", "suspends AZRebalance",
		`<tr class="guarded"><th scope="row">with Holdfast</th>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if n := strings.Count(text, `role="img" aria-labelledby=`); n != 3 {
		t.Errorf("%d pictures with a name, want 3", n)
	}
	if n := strings.Count(text, `tabindex="0" role="region" aria-label=`); n != 4 {
		t.Errorf("%d parts that scroll can be reached by keyboard, want 4", n)
	}
}

// TestEveryStateIsToldWithoutColour looks for a pattern or a shape behind each state that is not the ordinary one.
func TestEveryStateIsToldWithoutColour(t *testing.T) {
	alone, err := picture.SVG("x", "x", story(t, "brownout", drive.Options{Seed: 1}))
	if err != nil {
		t.Fatal(err)
	}
	for class, pattern := range map[string]string{"failing": "x-p-failing", "starting": "x-p-starting", "leaving": "x-p-leaving"} {
		bands := regexp.MustCompile(`<rect class="b-`+class+`"[^>]*>`).FindAllString(alone, -1)
		if len(bands) == 0 {
			t.Errorf("no band is %s", class)
		}
		for _, band := range bands {
			if !strings.Contains(band, `fill="url(#`+pattern+`)"`) {
				t.Errorf("a band without a pattern: %s", band)
			}
		}
	}
	if n := strings.Count(alone, `class="s-terminate"`); n != 8 {
		t.Errorf("%d members are drawn as terminated, want 8", n)
	}
	if strings.Contains(alone, "held") && strings.Contains(alone, `class="b-held"`) {
		t.Error("a hold is drawn although nobody was on watch")
	}
}

func TestAStoryThatCannotBeDrawnIsAnError(t *testing.T) {
	if err := picture.Page(io.Discard, picture.Input{Cases: []picture.Case{{Name: "none", Runs: []picture.Run{{Label: "x"}}}}}); err == nil {
		t.Error("a story without samples was drawn")
	}
}

func TestTextFromOutsideIsEscaped(t *testing.T) {
	s := story(t, "brownout", drive.Options{Guarded: true, Seed: 1})
	s.Notices[0].Text = `<script>alert("x")</script>`
	text := page(t, picture.Case{Name: "brownout", Runs: []picture.Run{{Label: "with <b>", Story: s}}})
	if strings.Contains(text, "<script") || strings.Contains(text, "with <b>") {
		t.Error("markup from outside stands in the page")
	}
}
