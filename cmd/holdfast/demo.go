package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/picture"
	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// Where the functions are, and the tags with which they are built here: as for Lambda, and with the embedded AWS's clock in place of
// the machine's.
const (
	functionsPackage = "github.com/holdfast-aws/holdfast/functions/"
	functionsTags    = "lambda.norpc,holdfast_world"
)

// demo builds the functions and plays every incident through them on the embedded AWS: exit 0 when the promise was kept, 1 when it
// was not.
func demo(ctx context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	seed := fs.Uint64("seed", 1, "seed of every random draw")
	html := fs.String("html", "", "write a page with pictures to this file")
	if code, ok := parseBare(fs, args, s); !ok {
		return code
	}
	if err := refuseEmpty(fs); err != nil {
		return misused(fs, s, err.Error())
	}
	page, err := openPage(*html, s)
	if err == nil {
		defer page.close()
		err = insideRepository(ctx)
	}
	if err != nil {
		complain(s, "holdfast demo: %v\n", err)
		return exitUsage
	}
	dir, err := os.MkdirTemp("", "holdfast-demo-")
	if err != nil {
		complain(s, "holdfast demo: make a folder for the functions: %v\n", err)
		return exitUsage
	}
	defer func() { _ = os.RemoveAll(dir) }() // in the system's folder for such things; what stays is cleared there
	for _, function := range []string{"sweep", "alarm"} {
		if err := buildFunction(ctx, dir, function, s.out); err != nil {
			complain(s, "holdfast demo: %v\n", err)
			return exitUsage
		}
	}
	cases, err := playDemo(ctx, demoOptions{dir: dir, seed: *seed}, s)
	if err == nil {
		how := fmt.Sprintf("Run by holdfast demo: the built functions over the Lambda Runtime API and the real AWS SDK, against the embedded AWS, seed %d.", *seed)
		err = writePage(page, picture.Input{How: how, Cases: cases})
	}
	if err != nil {
		complain(s, "holdfast demo: %v\n", err)
		return exitUsage
	}
	if *html != "" {
		say(s.out, "the pictures are in %s\n", *html)
	}
	return judgeDemo(cases, s)
}

// judgeDemo says at the end whether the promise was kept, and what it is.
func judgeDemo(cases []picture.Case, s streams) int {
	code := exitOK
	for _, c := range cases {
		code = max(code, judge(c, "demo", s), judgeContrast(c, s))
	}
	if code != exitOK {
		return code
	}
	if text := picture.Contrast(cases); text != "" {
		say(s.out, "%s\n", text)
	}
	say(s.out, "the promise was kept in %s: Holdfast lost no healthy member, replaced the one that broke alone, and held still while many failed together\n", guard.Counted(len(cases), "incident"))
	return exitOK
}

type demoOptions struct {
	dir  string // has the built functions
	seed uint64
}

// playDemo plays all incidents and tells each as soon as it is over.
func playDemo(ctx context.Context, o demoOptions, s streams) ([]picture.Case, error) {
	var cases []picture.Case
	for _, in := range slices.Backward(sim.Incidents()) { // the single broken instance first: it is the easier one
		began := time.Now()
		calls := map[string]int{}
		c, err := playAll(ctx, in, promised(), func(ctx context.Context, in sim.Incident, w way) (drive.Story, error) {
			options := stage.Options{Seed: o.seed, HealthChecks: w.checks}
			if w.guarded {
				options.Sweep = stage.Built(world.SweepFunction, filepath.Join(o.dir, "sweep"))
				options.Alarm = stage.Built(world.AlarmFunction, filepath.Join(o.dir, "alarm"))
			}
			played, err := stage.Play(ctx, in, options)
			for name, n := range played.Calls {
				service, _, _ := strings.Cut(name, ":")
				calls[service] += n
			}
			return played.Story, err
		})
		if err != nil {
			return nil, err
		}
		if err := writeCase(s.out, c); err != nil {
			return nil, err
		}
		say(s.out, "\n  %s of incident in %.1f s; calls of the AWS API: %s\n\n", in.Duration, time.Since(began).Seconds(), counted(calls))
		cases = append(cases, c)
	}
	return cases, nil
}

func counted(calls map[string]int) string {
	var parts []string
	for _, service := range slices.Sorted(maps.Keys(calls)) {
		parts = append(parts, fmt.Sprintf("%s %d", service, calls[service]))
	}
	return strings.Join(parts, ", ")
}

// judgeContrast complains when AWS alone did as well as Holdfast: then the incident shows nothing.
func judgeContrast(c picture.Case, s streams) int {
	for _, r := range c.Runs {
		if r.Story.Guarded || r.Aside {
			continue
		}
		if st := r.Story.Stats; st.HealthyTerminated > 0 || st.BrokenTerminated < len(r.Story.Broken()) {
			return exitOK
		}
	}
	complain(s, "holdfast demo: %s: AWS alone lost nobody and repaired everybody, so it shows nothing\n", c.Name)
	return exitNo
}

// insideRepository says what is missing where the functions cannot be built.
func insideRepository(ctx context.Context) error {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("build the functions: %w", err)
	}
	path, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}}").Output()
	if module, _, _ := strings.Cut(functionsPackage, "/functions/"); err != nil || strings.TrimSpace(string(path)) != module {
		return errors.New("not inside Holdfast's repository: the functions are built from its sources, run it there")
	}
	return nil
}

// buildFunction builds one function for this machine.
func buildFunction(ctx context.Context, dir, function string, out io.Writer) error {
	began, path := time.Now(), filepath.Join(dir, function)
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", functionsTags, "-trimpath", "-ldflags", "-s -w", "-o", path, functionsPackage+function)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build function %s: %w\n%s", function, err, text)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("build function %s: %w", function, err)
	}
	say(out, "built function %s for %s/%s in %.1f s: %.1f MB\n", function, runtime.GOOS, runtime.GOARCH, time.Since(began).Seconds(), float64(info.Size())/1e6)
	return nil
}

// say writes to standard output; a story that nobody can read ends at the next line that checks.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
