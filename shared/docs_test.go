package shared_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A page of the documentation that names a test, a case or a file of ours must name one that is there: else it promises what nothing keeps.
func TestWhatTheDocumentationNamesIsThere(t *testing.T) {
	tests := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+|Fuzz\w+)\(`)
	var files, pages []string
	walk(t, func(file string) {
		files = append(files, file)
		switch {
		case strings.HasSuffix(file, "_test.go"):
			for _, match := range function.FindAllStringSubmatch(string(readFile(t, file)), -1) {
				tests[match[1]] = true
			}
		case strings.HasSuffix(file, ".md"):
			pages = append(pages, file)
		}
	})
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+)`")
	cases := regexp.MustCompile(`\b((?:r|v|hb)\d{2}[a-z]?(?:-[a-z0-9]+)+\.yaml)\b`)
	links := regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
	var problems []string
	for _, page := range pages {
		text := string(readFile(t, page))
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			if !tests[match[1]] {
				problems = append(problems, fmt.Sprintf("%s names the test %s, which is not there", page, match[1]))
			}
		}
		for _, match := range cases.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(files, "shared/scenario/testdata/cases/"+match[1]) {
				problems = append(problems, fmt.Sprintf("%s names the case %s, which is not there", page, match[1]))
			}
		}
		for _, match := range links.FindAllStringSubmatch(text, -1) {
			if target := match[1]; !strings.Contains(target, ":") && !leadsSomewhere(files, page, target) {
				problems = append(problems, fmt.Sprintf("%s links to %s, which is not there", page, target))
			}
		}
	}
	if len(pages) == 0 || len(tests) == 0 {
		t.Fatal("no page or no test was found")
	}
	report(t, problems)
}

// leadsSomewhere says whether a relative link of a page names a file or a folder.
func leadsSomewhere(files []string, page, target string) bool {
	at := path.Join(pathDir(page), target)
	return slices.ContainsFunc(files, func(file string) bool { return file == at || at == "." || strings.HasPrefix(file, at+"/") })
}
