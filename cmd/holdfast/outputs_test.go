package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const emptyDump = `{"format":1,"source":"account","at":"2026-11-30T12:00:00Z","groups":[],"target_groups":[],"alarms":[],"guardian":{"installed":false}}`

// folder is a new folder in which the test stands, with files of the given names and texts.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// holds says what is in the folder in which the test stands: each file, link and text.
func holds(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		text, err := os.ReadFile(e.Name())
		fmt.Fprintf(&b, "%s %s %q %v\n", e.Type(), e.Name(), text, err)
	}
	return b.String()
}

func TestAFileIsWrittenForOneFlagAndNeverOverWhatIsRead(t *testing.T) {
	folder(t, map[string]string{
		"dump.json": emptyDump, "old": "old", "promises.json": "{}", "accepted.json": `{"acknowledgements":[]}`,
		"web.yaml": "Resources: {Topic: {Type: AWS::SNS::Topic}}\n",
	})
	for link, to := range map[string]string{"link": "old", "loose": "new", "dump-link": "dump.json"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link("old", "hard"); err != nil {
		t.Fatal(err)
	}
	whole, err := filepath.Abs("new")
	if err != nil {
		t.Fatal(err)
	}
	before := holds(t)
	season := []string{"gameday", "--seeds", "1", "--days", "static-200", "--guardians", "oracle"}
	from := []string{"audit", "--from", "dump.json"}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"one new file by one path":      {append(from, "--html", "new", "--sarif", "new"), `--html and --sarif name the same file "new"`},
		"one new file by two paths":     {append(from, "--html", "new", "--dump", "./new"), `--html and --dump name the same file "./new"`},
		"one new file by a whole path":  {append(from, "--sarif", whole, "--dump", "new"), `--sarif and --dump name the same file "new"`},
		"one new file by a link":        {append(from, "--html", "loose", "--sarif", "new"), `--html and --sarif name the same file "new"`},
		"one old file by a link":        {append(from, "--html", "link", "--sarif", "old"), `--html and --sarif name the same file "old"`},
		"one old file of two names":     {append(from, "--html", "hard", "--sarif", "old"), `--html and --sarif name the same file "old"`},
		"over the dump":                 {append(from, "--html", "./dump.json"), `--from and --html name the same file "./dump.json", which is read`},
		"over the dump by a link":       {append(from, "--dump", "dump-link"), `--from and --dump name the same file "dump-link", which is read`},
		"over a template":               {[]string{"audit", "--template", "old", "--template", "web.yaml", "--sarif", "web.yaml"}, `--template and --sarif name the same file "web.yaml", which is read`},
		"over accepted findings":        {append(from, "--acknowledged", "accepted.json", "--html", "accepted.json"), `--acknowledged and --html name the same file "accepted.json", which is read`},
		"over thresholds":               {append(from, "--thresholds", "promises.json", "--html", "promises.json"), `--thresholds and --html name the same file "promises.json", which is read`},
		"tables and figures in one":     {append(season, "--json", "new", "--markdown", "new"), `--markdown and --json name the same file "new"`},
		"figures and a page in one":     {append(season, "--json", "./new", "--html", "loose"), `--json and --html name the same file "loose"`},
		"a page where nothing can be":   {append(from, "--sarif", "new", "--html", "none/page.html"), "write file: open none/page.html"},
		"a dump that is not there":      {[]string{"audit", "--from", "gone.json", "--html", "new", "--sarif", "link", "--dump", "other"}, "read dump: open gone.json"},
		"thresholds that are not there": {append(from, "--thresholds", "gone.json", "--html", "loose"), "read thresholds: open gone.json"},
	} {
		code, out, errOut := holdfast(t, c.args...)
		if first, _, _ := strings.Cut(errOut, "\n"); code != exitUsage || out != "" || !strings.Contains(first, c.want) {
			t.Errorf("%s: exit %d, %q, want %q", name, code, errOut, c.want)
		}
		if after := holds(t); after != before {
			t.Fatalf("%s: the folder has\n%s\nand had\n%s", name, after, before)
		}
	}
}

func TestARunThatFailsAfterItsWorkMakesNoFile(t *testing.T) {
	folder(t, map[string]string{"old": "old"})
	before := holds(t)
	var e strings.Builder
	args := []string{"gameday", "--seeds", "1", "--days", "static-200", "--guardians", "oracle", "--json", "new", "--html", "old"}
	if code := run(t.Context(), args, streams{brokenWriter{}, &e}); code != exitUsage || !strings.Contains(e.String(), "no space left") {
		t.Errorf("exit %d, %q", code, e.String())
	}
	if after := holds(t); after != before {
		t.Errorf("the folder has\n%s", after)
	}
}

func TestNoFileIsWrittenWhereStandardOutputGoes(t *testing.T) {
	folder(t, nil)
	f, err := os.Create("out")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var e strings.Builder
	code := run(t.Context(), []string{"simulate", "single-broken", "--json", "--html", "out"}, streams{f, &e})
	if want := "holdfast simulate: --html names \"out\", where standard output goes\n"; code != exitUsage || e.String() != want {
		t.Errorf("exit %d, %q", code, e.String())
	}
}

func TestAPageIsWrittenThroughALinkAndIntoAPipe(t *testing.T) {
	folder(t, nil)
	if err := os.Symlink("page", "loose"); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := holdfast(t, "simulate", "single-broken", "--html", "loose"); code != exitOK {
		t.Fatal(errOut)
	}
	page, err := os.ReadFile("page")
	if info, lost := os.Lstat("loose"); err != nil || lost != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is %v, %v; the page %v", info, lost, err)
	}
	if text, err := exec.CommandContext(t.Context(), "mkfifo", "pipe").CombinedOutput(); err != nil {
		t.Skipf("no pipe: %v %s", err, text)
	}
	read := make(chan []byte, 1)
	go func() {
		text, _ := os.ReadFile("pipe") // up to the first closing; what is missing is seen below
		read <- text
	}()
	if code, _, errOut := holdfast(t, "simulate", "single-broken", "--html", "pipe"); code != exitOK {
		t.Error(errOut)
	}
	if through := <-read; len(page) < 1000 || string(through) != string(page) {
		t.Errorf("%d bytes through the pipe, %d in the file", len(through), len(page))
	}
}

func TestDefaultsSeesAtOnceThatItCannotWrite(t *testing.T) {
	code, out, errOut := holdfast(t, "defaults", "--seeds", "1000000", "--markdown", filepath.Join(t.TempDir(), "none", "x.md"))
	if code != exitUsage || out != "" || !strings.HasPrefix(errOut, "holdfast defaults: write file: open ") {
		t.Errorf("exit %d, %q, %q", code, out, errOut)
	}
}
