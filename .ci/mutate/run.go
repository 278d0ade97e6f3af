package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// suite is the tests of one package, built.
type suite struct {
	folder string
	binary string
	args   []string
}

// judge runs suites against mutants.
type judge struct {
	work    string
	folder  string // the package that is mutated
	tests   []string
	limit   time.Duration
	workers int
	sources []source
	mutants []mutant
	suites  []suite
}

// outcome is what became of a mutant.
type outcome struct {
	mutant mutant
	killed bool
	how    string
}

// build builds the test binary of every suite from an overlay.
func (j *judge) build(work, overlay string) ([]suite, error) {
	var out []suite
	for i, test := range j.tests {
		folder, pattern, _ := strings.Cut(test, ":")
		s := suite{folder: folder, binary: filepath.Join(work, "suite"+strconv.Itoa(i)+".test")}
		command := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary, folder)
		if text, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build tests of %s: %w\n%s", folder, err, text)
		}
		s.args = []string{"-test.failfast", "-test.short", "-test.timeout=0"}
		if pattern != "" {
			s.args = append(s.args, "-test.run="+pattern)
		}
		if seeded(s.folder) {
			s.args = append(s.args, "-rapid.seed=1", "-rapid.nofailfile")
		}
		out = append(out, s)
	}
	return out, nil
}

// seeded says whether a package's tests draw from rapid, whose seed is then fixed, so that the score is the same every time.
func seeded(folder string) bool {
	names, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return false
	}
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), `"pgregory.net/rapid"`) {
			return true
		}
	}
	return false
}

// prepare builds the binary that carries all woven mutants, and makes sure that the tests pass while all sleep.
func (j *judge) prepare() error {
	list, err := overlay(j.work, j.sources, j.mutants, nil)
	if err != nil {
		return err
	}
	if j.suites, err = j.build(j.work, list); err != nil {
		return err
	}
	if killed, how := j.run(j.suites, 0); killed {
		return fmt.Errorf("the tests fail without any mutant: %s", how)
	}
	return nil
}

// run runs the suites in their order until one fails, with one mutant awake.
func (j *judge) run(suites []suite, id int) (bool, string) {
	for _, s := range suites {
		// A test that hangs is known by the processor's time, which does not depend on what else the machine does; the context ends what waits.
		ctx, cancel := context.WithTimeout(context.Background(), 20*j.limit)
		limited := append([]string{"-c", `ulimit -t "$0"; exec "$@"`, strconv.Itoa(int(j.limit.Seconds())), s.binary}, s.args...)
		command := exec.CommandContext(ctx, "sh", limited...)
		command.Dir = s.folder
		command.Env = append(os.Environ(), awakeVariable+"="+strconv.Itoa(id), "GOMAXPROCS=1")
		text, err := command.CombinedOutput()
		cancel()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
			return true, "could not be run: " + err.Error()
		}
		if err != nil {
			return true, firstFailure(filepath.Base(s.folder), string(text))
		}
	}
	return false, ""
}

// firstFailure names the test that failed.
func firstFailure(suite, text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			return suite + " " + strings.Fields(rest)[0]
		}
		if strings.HasPrefix(line, "panic:") {
			return suite + " " + squeeze(line)
		}
	}
	return suite + " ended without a word: it took too long"
}

// one judges one mutant.
func (j *judge) one(m mutant) (outcome, error) {
	if m.woven() {
		killed, how := j.run(j.suites, m.id)
		return outcome{m, killed, how}, nil
	}
	work, err := os.MkdirTemp(j.work, "constant")
	if err != nil {
		return outcome{}, fmt.Errorf("make work folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	list, err := overlay(work, j.sources, nil, &m)
	if err != nil {
		return outcome{}, err
	}
	suites, err := j.build(work, list)
	switch {
	case err != nil && strings.Contains(err.Error(), m.file):
		return outcome{m, true, "does not build"}, nil // a constant that the compiler refuses has been noticed
	case err != nil:
		return outcome{}, err
	}
	killed, how := j.run(suites, 0)
	return outcome{m, killed, how}, nil
}

// all judges mutants, several at once, and tells of each.
func (j *judge) all(mutants []mutant, tell func(outcome)) error {
	var wait sync.WaitGroup
	work := make(chan mutant)
	outcomes := make(chan outcome)
	failed := make(chan error, len(mutants))
	for range j.workers {
		wait.Go(func() {
			for m := range work {
				o, err := j.one(m)
				if err != nil {
					failed <- fmt.Errorf("judge %s: %w", m.key, err)
					continue
				}
				outcomes <- o
			}
		})
	}
	go func() {
		for _, m := range mutants {
			work <- m
		}
		close(work)
		wait.Wait()
		close(outcomes)
	}()
	for o := range outcomes {
		tell(o)
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}
