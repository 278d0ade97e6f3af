package shared_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEverySampleEventIsJSONAndExplained(t *testing.T) {
	const folder, readme = "events/", "events/README.md"
	explained := regexp.MustCompile("`([a-z0-9-]+\\.json)`").FindAllStringSubmatch(string(readFile(t, readme)), -1)
	var rows, problems []string
	for _, match := range explained {
		rows = append(rows, match[1])
	}
	var files []string
	walk(t, func(path string) {
		name, isEvent := strings.CutPrefix(path, folder)
		if !isEvent || path == readme {
			return
		}
		files = append(files, name)
		if !json.Valid(readFile(t, path)) {
			problems = append(problems, path+" is not valid JSON")
		}
		if !slices.Contains(rows, name) {
			problems = append(problems, fmt.Sprintf("%s has no row in %s", path, readme))
		}
	})
	for _, row := range rows {
		if !slices.Contains(files, row) {
			problems = append(problems, fmt.Sprintf("%s explains %s, which is not there", readme, row))
		}
	}
	if len(files) == 0 {
		t.Fatal("no sample event was found")
	}
	report(t, problems)
}

func TestNoFileTellsWhereItWasWritten(t *testing.T) {
	trace := traces()
	var problems []string
	files := 0
	walk(t, func(path string) {
		text := readFile(t, path)
		if bytes.IndexByte(text, 0) >= 0 {
			return // not a text
		}
		files++
		for number, line := range bytes.Split(text, []byte("\n")) {
			if found := trace.Find(line); found != nil {
				problems = append(problems, fmt.Sprintf("%s:%d names %q", path, number+1, found))
			}
		}
	})
	if files == 0 {
		t.Fatal("no text file was found")
	}
	report(t, problems)
}

// traces matches folders of one person's machine and the hosts of package registries, which a reader may reach under other names or
// not at all. The patterns are written in pieces, so that this file does not match itself.
func traces() *regexp.Regexp {
	folders := []string{"wo" + "rk", "ro" + "ot", "ho" + `me/[a-z][\w-]*`, "op" + "t/wheels", "Us" + `ers/[A-Za-z][\w-]*`, "var/fo" + "lders"}
	hosts := []string{
		"pro" + `xy\.golang\.org`, "su" + `m\.golang\.org`, "vu" + `ln\.go\.dev`, "regi" + `stry\.npmjs\.org`, "regi" + `stry\.yarnpkg\.com`,
		"py" + `pi\.org`, "pythonho" + `sted\.org`, "crat" + `es\.io`, "maven" + `\.org`, "maven" + `\.apache\.org`, "deb" + `\.debian\.org`,
		"gopro" + `xy\.`,
	}
	// A folder counts at the start of a path only: "docs/work" is somebody's folder, not a machine's.
	return regexp.MustCompile(`(?:^|[\s"'` + "`" + `=:(\[,])/(?:` + strings.Join(folders, "|") + `)(?:/|\b)|(?:` + strings.Join(hosts, "|") + `)`)
}
