package shared_test

import (
	"strings"
	"testing"
)

// The rules themselves are tried on planted faults: a rule that never says no guards nothing.

func TestImportRules(t *testing.T) {
	tests := map[string]struct {
		dir, path string
		refused   bool
	}{
		"the core may sort":                                {"shared/guard", "slices", false},
		"the core may know what a time is":                 {"shared/guard", "time", false},
		"the core reads no file":                           {"shared/guard", "os", true},
		"the core runs no program":                         {"shared/guard", "os/exec", true},
		"the core talks to nobody":                         {"shared/guard", "net/http", true},
		"the core draws no random number":                  {"shared/guard", "math/rand/v2", true},
		"the core may calculate":                           {"shared/guard", "math", false},
		"the core writes no log":                           {"shared/guard", "log/slog", true},
		"the core takes no context":                        {"shared/guard", "context", true},
		"a folder below the core is the core":              {"shared/guard/guardtest", "os", true},
		"the core knows no AWS package":                    {"shared/guard", "github.com/aws/aws-sdk-go-v2/aws", true},
		"the core knows no other package of ours":          {"shared/guard", module + "/shared/fault", true},
		"the runner knows the core":                        {"shared/runner", module + "/shared/guard", false},
		"the runner knows the fault kinds":                 {"shared/runner", module + "/shared/fault", false},
		"the runner knows no AWS package":                  {"shared/runner", "github.com/aws/smithy-go", true},
		"the runner knows no adapter":                      {"shared/runner", module + "/shared/ledger", true},
		"fault kinds know nothing":                         {"shared/fault", module + "/shared/guard", true},
		"the simulator stands alone":                       {"shared/sim", module + "/shared/guard", true},
		"a driver of the simulator runs the runner":        {"shared/sim/drive", module + "/shared/runner", false},
		"a driver of the simulator knows no adapter":       {"shared/sim/drive", module + "/shared/awsfleet", true},
		"a driver of the simulator knows no AWS package":   {"shared/sim/drive", "github.com/aws/smithy-go", true},
		"an adapter knows the ports":                       {"shared/awsfleet", module + "/shared/runner", false},
		"an adapter knows AWS":                             {"shared/awsfleet", "github.com/aws/aws-sdk-go-v2/aws", false},
		"an adapter may read AWS error codes through one":  {"shared/awsfleet", module + "/shared/awserr", false},
		"an adapter never imports another":                 {"shared/awsfleet", module + "/shared/beats", true},
		"an adapter may have folders of its own":           {"shared/ledger", module + "/shared/ledger/ledgertest", false},
		"a shared package knows no function":               {"shared/config", module + "/functions/sweep", true},
		"a shared package knows no program":                {"shared/config", module + "/cmd/holdfast", true},
		"a shared package knows no infrastructure":         {"shared/telemetry", module + "/infra", true},
		"a shared package knows no emulator":               {"shared/beats", module + "/localstack/world", true},
		"a function may import an adapter":                 {"functions/sweep", module + "/shared/awsfleet", false},
		"functions may share their wiring":                 {"functions/sweep", module + "/functions/internal/assemble", false},
		"the emulator may import the simulator":            {"localstack/world", module + "/shared/sim", false},
		"a name that only begins alike is another package": {"shared/guardian", "os", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			why := importRefused(test.dir, test.path)
			if (why != "") != test.refused {
				t.Errorf("import of %s in %s: refused %q, want refused %v", test.path, test.dir, why, test.refused)
			}
		})
	}
}

func TestClockRule(t *testing.T) {
	tests := map[string]struct {
		code string
		uses int
	}{
		"a duration is no clock":                {`import "time"; const d = time.Minute`, 0},
		"now is a clock":                        {`import "time"; var x = time.Now()`, 1},
		"a clock handed on is a clock":          {`import "time"; var x = time.Since`, 1},
		"a clock under another name":            {`import clock "time"; var x = clock.Now()`, 1},
		"a clock without a name":                {`import . "time"; var x = Now()`, 1},
		"a timer is a clock":                    {`import "time"; var x = time.NewTimer(1); var y = time.After(1)`, 2},
		"a method that is called Now is not":    {`var x = fake.Now()`, 0},
		"comparing two given times is no clock": {`import "time"; func f(a, b time.Time) bool { return a.After(b) }`, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			src := parse(t, "planted.go", []byte("package planted; "+test.code))
			if uses := clockUses(src); len(uses) != test.uses {
				t.Errorf("clock uses: %v, want %d", uses, test.uses)
			}
		})
	}
	for dir, want := range map[string]bool{"shared/guard": true, "shared/runner": true, "shared/sim/drive": true, "shared/ledger": false} {
		if isTimeless(dir) != want {
			t.Errorf("%s timeless: %v, want %v", dir, !want, want)
		}
	}
}

func TestFunctionLengthRule(t *testing.T) {
	function := func(lines int) string { return "func f() {\n" + strings.Repeat("\tg()\n", lines) + "}\n" }
	tests := map[string]struct {
		code string
		long int
	}{
		"a function at the limit":   {function(functionLinesMax), 0},
		"a function above it":       {function(functionLinesMax + 1), 1},
		"a long literal in a value": {"var x = " + strings.Replace(function(functionLinesMax+1), "func f", "func ", 1), 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			src := parse(t, "planted.go", []byte("package planted\n\n"+test.code))
			if found := longFunctions(src); len(found) != test.long {
				t.Errorf("long functions: %v, want %d", found, test.long)
			}
		})
	}
}

func TestCodeLinesLeaveOutCommentsAndBlanks(t *testing.T) {
	src := parse(t, "planted.go", []byte("// Package planted.\npackage planted\n\n/* not\n code */\nvar x = `one\ntwo` // said\n"))
	if lines := codeLines(src); lines != 3 {
		t.Errorf("lines of code: %d, want 3 (the clause, and a string over two lines)", lines)
	}
}

func TestTraceRule(t *testing.T) {
	tests := map[string]bool{
		"cd /wo" + "rk/main":                      true,
		`dir := "/ro` + `ot/go"`:                  true,
		"/ho" + "me/someone/src":                  true,
		"GOPROXY=https://pro" + "xy.golang.org":   true,
		`"https://regi` + `stry.npmjs.org/x"`:     true,
		"docs/wo" + "rk/notes.md":                 false,
		"the ro" + "ot of the repository":         false,
		"https://docs.aws.amazon.com/autoscaling": false,
		"/tmp is the only folder a Lambda writes": false,
		"net" + "wo" + "rk/interface":             false,
	}
	trace := traces()
	for line, want := range tests {
		if got := trace.MatchString(line); got != want {
			t.Errorf("%q: found %v, want %v", line, got, want)
		}
	}
}
