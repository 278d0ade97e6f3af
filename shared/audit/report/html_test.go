package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestThePageAsksForNothing(t *testing.T) {
	for name, text := range map[string]string{"an ordinary report": forms(t, result())["report.html"], "a hostile one": forms(t, hostile())["report.html"]} {
		t.Run(name, func(t *testing.T) {
			inScript := regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAllString(text, "")
			// What stands in a tag beside the values of its attributes, which may say anything.
			tags := strings.Join(regexp.MustCompile(`<[^<>]*>`).FindAllString(regexp.MustCompile(`="[^"]*"`).ReplaceAllString(inScript, "="), -1), "")
			for _, banned := range []string{"<link", "<img", "<iframe", "<object", "<base", "@import", " src=", " href=", "javascript:", " onclick", " style=", "ZgotmplZ", "http:", "https:", "url("} {
				if strings.Contains(tags, banned) || (banned[0] != ' ' && strings.Contains(strings.ToLower(inScript), banned)) {
					t.Errorf("the page has %q", banned)
				}
			}
			if n := strings.Count(text, "<script"); n != 1 {
				t.Errorf("there are %d scripts, want 1", n)
			}
			ids := map[string]bool{}
			for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
				if ids[id[1]] {
					t.Errorf("id %q stands twice", id[1])
				}
				ids[id[1]] = true
			}
		})
	}
}

func TestThePolicyAllowsThePagesOwnScriptAndStyleOnly(t *testing.T) {
	text := forms(t, result())["report.html"]
	policy := html.UnescapeString(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)[1])
	for _, element := range []string{"script", "style"} {
		body := regexp.MustCompile(`(?s)<` + element + `>(.*?)</` + element + `>`).FindStringSubmatch(text)[1]
		sum := sha256.Sum256([]byte(body))
		if want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("the policy %q does not have %q", policy, want)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
}

func TestHostileTextsStayTexts(t *testing.T) {
	for name, text := range forms(t, hostile()) {
		for _, banned := range []string{"\u202e", "\u200b", "\x1b", "\x00"} {
			if strings.Contains(text, banned) {
				t.Errorf("%s has %q", name, banned)
			}
		}
		if name == "report.html" && (strings.Contains(text, "<img") || strings.Count(text, "</script>") != 1) {
			t.Error("markup from outside stands in the page")
		}
		if name != "report.json" && !strings.Contains(text, `\u202e`) {
			t.Errorf("%s does not show the hidden character", name)
		}
	}
}

func TestABrowserShowsThePageAndSortsIt(t *testing.T) {
	b := launch(t)
	file := savePage(t, forms(t, result())["report.html"])
	b.open(file, 1280)
	b.screenshot("report-desktop", true)

	// By keyboard: to the first heading of the findings' table, then Enter twice and Space on the next one.
	b.eval(`document.querySelector(".findings thead button").focus()`)
	before := b.eval(column(".findings", 0))
	b.press("Enter", 13)
	up := b.eval(column(".findings", 0))
	state := b.eval(`document.querySelector(".findings thead th").getAttribute("aria-sort")`)
	if state != "ascending" || !strings.HasPrefix(up.(string), "critical high") || !strings.HasSuffix(up.(string), "medium") {
		t.Errorf("sorted up by Enter: %v, state %v; it was %v", up, state, before)
	}
	b.press("Enter", 13)
	down := b.eval(column(".findings", 0)).(string)
	if state := b.eval(`document.querySelector(".findings thead th").getAttribute("aria-sort")`); state != "descending" || !strings.HasPrefix(down, "medium") || !strings.HasSuffix(down, "critical") {
		t.Errorf("sorted down: %q, state %v", down, state)
	}
	b.press("Tab", 9)
	b.press(" ", 32)
	ids := strings.Fields(b.eval(column(".findings", 1)).(string))
	if !slices.IsSorted(ids) || len(ids) < 5 || b.eval(`document.querySelectorAll(".findings th[aria-sort]").length`) != 1.0 {
		t.Errorf("sorted by the next column with Space: %v", ids)
	}
	// By mouse, and by number: 40 comes after 8.
	b.eval(`document.querySelectorAll(".numbers thead button")[2].click()`)
	if got := b.eval(column(".numbers", 2)); got != "0 8 40" {
		t.Errorf("terminations sorted: %v", got)
	}

	b.eval(`(() => { const box = document.querySelector("input[value=medium]"); box.click(); })()`)
	if got := b.eval(`document.getElementById("shown").textContent`).(string); !strings.HasPrefix(got, "4 of 9 findings") {
		t.Errorf("without the medium ones it says %q", got)
	}
	b.eval(`(() => { const f = document.querySelector("input[type=search]"); f.focus(); f.value = "MATCHER"; f.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	if got := b.eval(column(".findings", 1)); got != "HF014" {
		t.Errorf("searching for matcher shows %v", got)
	}
	for _, url := range b.requests {
		if url != "file://"+file && url != "about:blank" {
			t.Errorf("the page asked for %s", url)
		}
	}
}

func TestAPhoneShowsThePageWithoutScrollingSideways(t *testing.T) {
	b := launch(t)
	file := savePage(t, forms(t, result())["report.html"])
	for _, width := range []int{360, 390} {
		b.open(file, width)
		if got := b.eval(`document.documentElement.scrollWidth`); got != float64(width) {
			t.Errorf("at %d pixels the page is %v wide", width, got)
		}
	}
	b.screenshot("report-phone", true)
	b.screenshot("report-phone-top", false)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": "dark"}}})
	b.screenshot("report-phone-dark", false)
	b.open(savePage(t, forms(t, hostile())["report.html"]), 360)
	if got := b.eval(`document.documentElement.scrollWidth`); got != 360.0 {
		t.Errorf("with hostile names the page is %v wide", got)
	}
	if got := b.eval(`document.images.length`); got != 0.0 {
		t.Errorf("hostile names made %v images", got)
	}
}

func TestAWordOfSeverityStandsOnOneLine(t *testing.T) {
	b := launch(t)
	b.open(savePage(t, forms(t, result())["report.html"]), 1280)
	if got := b.eval(`Math.max(...Array.from(document.querySelectorAll(".findings .chip")).map(c => c.getClientRects()[0].height))`).(float64); got > 32 {
		t.Errorf("a severity is %v pixels high, want one line", got)
	}
}
