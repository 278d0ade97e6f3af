package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const sample = "testdata/sample"

func settings(t *testing.T) options {
	t.Helper()
	return options{folder: sample, tests: "./" + sample, record: filepath.Join(t.TempDir(), "record.txt"), workers: 2, limit: 20 * time.Second}
}

func TestTheMutantsOfASampleAreFound(t *testing.T) {
	folder, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	_, mutants, err := find(folder)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, m := range mutants {
		keys = append(keys, m.key)
	}
	for _, want := range []string{
		"sample.go | const | constant | 10 -> 10 + 1",
		"sample.go | Judge | condition | n >= limit && age < 2*time.Minute -> true",
		"sample.go | Judge | operator | n >= limit -> >",
		"sample.go | Judge | operator | n >= limit && age < 2*time.Minute -> ||",
		"sample.go | Judge | operand | n >= limit && age < 2*time.Minute -> without the second",
		"sample.go | Judge | constant | 2 -> 2 - 1",
		"sample.go | Judge | constant | true -> false",
		"sample.go | Judge | field | Of: n -> left out",
		"sample.go | Judge | result | return Level{High: true, Of: n} -> zero (1)",
		"sample.go | Judge | statement | out.Of = max(n, 1) -> left out",
		"sample.go | Judge | operator | max(n, 1) -> min",
	} {
		if !slices.Contains(keys, want) {
			t.Errorf("%s is not among\n%s", want, strings.Join(keys, "\n"))
		}
	}
	if slices.Sort(keys); len(slices.Compact(keys)) != len(mutants) {
		t.Error("two mutants have one key")
	}
}

// judged judges the sample and returns what was said and the record.
func judged(t *testing.T, o options) (string, string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(o, &out)
	record, readErr := os.ReadFile(o.record)
	if readErr != nil {
		t.Fatalf("%v, %v\n%s", err, readErr, out.String())
	}
	return out.String(), string(record), err
}

func TestASurvivorHasToBeListedWithItsReason(t *testing.T) {
	if testing.Short() {
		t.Skip("builds several test binaries")
	}
	o := settings(t)
	said, record, err := judged(t, o)
	if err == nil || !strings.Contains(said, "survived: sample.go") {
		t.Errorf("%v\n%s", err, said)
	}
	for line, status := range map[string]string{
		"Judge | operator | n >= limit -> >\t": "killed", "const | constant | 10 -> 10 - 1\t": "killed", "Judge | constant | 2 -> 2 + 1\t": "survived",
		"Judge | operator | age < 2*time.Minute -> <=\t": "survived", "Judge | result | return out -> zero (1)\t": "killed",
	} {
		if !strings.Contains(record, status+"\tsample.go | "+line) {
			t.Errorf("%s is not %s in\n%s", line, status, record)
		}
	}

	var list strings.Builder
	for l := range strings.Lines(record) {
		if fields := strings.Split(l, "\t"); fields[0] == "survived" {
			list.WriteString(fields[1] + " --- the sample has few tests\n")
		}
	}
	o.survivors = filepath.Join(t.TempDir(), "survivors.txt")
	if err := os.WriteFile(o.survivors, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, _, err = judged(t, o); err != nil || !strings.Contains(said, "0 survived and not listed") {
		t.Errorf("%v\n%s", err, said)
	}

	list.WriteString("sample.go | Judge | operator | n >= limit -> > --- this is killed\nsample.go | Gone | constant | 1 -> 2 --- this is not there\n")
	if err := os.WriteFile(o.survivors, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	said, _, err = judged(t, o)
	if err == nil || strings.Count(said, "not true any more: ") != 2 {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestALineOfTheListNeedsAReasonAndStandsOnce(t *testing.T) {
	for name, text := range map[string]string{
		"no reason": "a | b | c | d\n", "an empty reason": "a | b --- \n", "twice": "a --- x\na --- y\n",
	} {
		file := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if have, err := listed(file); err == nil {
			t.Errorf("%s: have %v and no error", name, have)
		}
	}
}

func TestASampleOfTheSameSeedIsTheSame(t *testing.T) {
	folder, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	_, mutants, err := find(folder)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	draw := func(seed uint64) string {
		var keys []string
		for _, m := range choose(options{sample: 5, seed: seed}, mutants, &out) {
			keys = append(keys, m.key)
		}
		return strings.Join(keys, "\n")
	}
	first, again, other := draw(7), draw(7), draw(8)
	if first != again || first == other || !strings.Contains(out.String(), "seed 7") {
		t.Errorf("have\n%s\nthen\n%s\nand\n%s", first, again, other)
	}
}
