package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	folder, tests, survivors, record, only, again string
	sample, workers                               int
	seed                                          uint64
	least                                         float64
	limit                                         time.Duration
	list                                          bool
}

func main() {
	var o options
	flag.StringVar(&o.folder, "package", "shared/guard", "folder of the package to change")
	flag.StringVar(&o.tests, "tests", "shared/guard,shared/scenario:TestEveryCaseOfTheDesignIsMet", "folders whose tests judge, in this order, separated by commas; a pattern after a colon chooses tests")
	flag.StringVar(&o.survivors, "survivors", "", "file of the survivors that are known, with their reasons")
	flag.StringVar(&o.record, "record", "", "file to write every outcome to: status, key, test; separated by tabs")
	flag.StringVar(&o.only, "only", "", "judge only mutants whose key contains this text")
	flag.StringVar(&o.again, "again", "", "judge only the survivors that an earlier record names")
	flag.IntVar(&o.sample, "sample", 0, "judge only so many mutants, drawn by the seed; 0 is all")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of the sample; 0 draws one")
	flag.IntVar(&o.workers, "workers", 2, "mutants judged at once")
	flag.DurationVar(&o.limit, "limit", 20*time.Second, "time of the processor after which tests that do not end count as failed")
	flag.Float64Var(&o.least, "least", 0, "percent that must be killed; with it, survivors that are not listed are told of and do not fail the run")
	flag.BoolVar(&o.list, "list", false, "only list the mutants")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(o options, out io.Writer) error {
	began := time.Now()
	folder, err := filepath.Abs(o.folder)
	if err != nil {
		return fmt.Errorf("find package: %w", err)
	}
	sources, mutants, err := find(folder)
	if err != nil {
		return err
	}
	survivors, err := survived(o.again)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(choose(o, mutants, out), func(m mutant) bool { return survivors != nil && !survivors[m.key] })
	if o.list {
		for _, m := range chosen {
			fmt.Fprintf(out, "%s:%d\t%s\n", m.file, m.line, m.key)
		}
		return nil
	}
	t := &tally{}
	if t.reasons, err = listed(o.survivors); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return fmt.Errorf("make work folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	j := &judge{work: work, folder: folder, limit: o.limit, workers: o.workers, sources: sources, mutants: mutants}
	for _, name := range strings.Split(o.tests, ",") {
		place, err := filepath.Abs(name)
		if err != nil {
			return fmt.Errorf("find tests: %w", err)
		}
		j.tests = append(j.tests, place)
	}
	if err := j.prepare(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d of %d mutants of %s; built after %s\n", len(chosen), len(mutants), o.folder, time.Since(began).Round(time.Second))
	record, err := recorder(o.record)
	if err != nil {
		return err
	}
	if err := j.all(chosen, func(r outcome) {
		t.add(r)
		record(r)
		if n := t.judged(); n%200 == 0 {
			fmt.Fprintf(out, "%d judged, %d killed, %s\n", n, t.killed, time.Since(began).Round(time.Second))
		}
	}); err != nil {
		return err
	}
	if o.sample == 0 && o.only == "" && o.again == "" {
		t.gone(mutants)
	}
	return tell(t, o.least, out, time.Since(began))
}

// choose draws the sample, whose seed is told so that it can be drawn again.
func choose(o options, mutants []mutant, out io.Writer) []mutant {
	chosen := slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool { return !strings.Contains(m.key, o.only) })
	if o.sample == 0 || o.sample >= len(chosen) {
		return chosen
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	fmt.Fprintf(out, "seed %d\n", o.seed)
	// Mutants of constants cost a build each, and a sample is to be quick.
	chosen = slices.DeleteFunc(chosen, func(m mutant) bool { return !m.woven() })
	r := rand.New(rand.NewPCG(o.seed, 0))
	r.Shuffle(len(chosen), func(a, b int) { chosen[a], chosen[b] = chosen[b], chosen[a] })
	return chosen[:min(o.sample, len(chosen))]
}

// survived reads the keys of the survivors of a record; nil without one.
func survived(name string) (map[string]bool, error) {
	if name == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	out := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) > 1 && fields[0] == "survived" {
			out[fields[1]] = true
		}
	}
	return out, nil
}

// recorder writes outcomes into a file for programs.
func recorder(name string) (func(outcome), error) {
	if name == "" {
		return func(outcome) {}, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("create record: %w", err)
	}
	return func(o outcome) {
		status := "survived"
		if o.killed {
			status = "killed"
		}
		// A record that cannot be written is missed by its reader; the verdict is the exit status.
		_, _ = fmt.Fprintf(file, "%s\t%s\t%s:%d\t%s\n", status, o.mutant.key, o.mutant.file, o.mutant.line, o.how)
	}, nil
}

// tell prints the score and fails when the list of survivors and the truth differ.
func tell(t *tally, least float64, out io.Writer, took time.Duration) error {
	for _, m := range t.unlisted {
		fmt.Fprintf(out, "survived: %s:%d\t%s\n", m.file, m.line, m.key)
	}
	slices.Sort(t.stale)
	for _, line := range t.stale {
		fmt.Fprintln(out, "not true any more:", line)
	}
	fmt.Fprintf(out, "%d judged: %d killed, %d survived and listed with a reason, %d survived and not listed; %.1f %% killed; %s\n",
		t.judged(), t.killed, t.listed, len(t.unlisted), t.score(), took.Round(time.Second))
	if least > 0 {
		if t.score() < least {
			return fmt.Errorf("%.1f %% killed, want at least %g", t.score(), least)
		}
		return nil
	}
	if n := len(t.unlisted) + len(t.stale); n > 0 {
		return fmt.Errorf("%d lines to settle: write the test, or list the survivor with its reason", n)
	}
	return nil
}
