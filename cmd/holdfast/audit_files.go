package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/report"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// inputs are the files that an audit reads.
func (a *auditing) inputs() []namedFile {
	in := []namedFile{{"--from", a.from}, {"--thresholds", a.thresholds}, {"--acknowledged", a.acknowledged}}
	for _, path := range a.templates {
		in = append(in, namedFile{"--template", path})
	}
	return in
}

// open proves that the files can be written before anything is read.
func (a *auditing) open(s streams) (outputs, error) {
	return openOutputs(s.out, []namedFile{{"--html", a.html}, {"--sarif", a.sarif}, {"--dump", a.dump}}, a.inputs())
}

func writeDump(files outputs, a audit.Account) error {
	return files.write("--dump", func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		if err := enc.Encode(a); err != nil {
			return fmt.Errorf("write dump: %w", err)
		}
		return nil
	})
}

// write tells people, or programs, and the files.
func (a *auditing) write(r audit.Report, files outputs, s streams) error {
	var err error
	if a.json {
		err = report.JSON(s.out, r)
	} else {
		err = report.Text(s.out, r, report.TextOptions{Width: width(s.out)})
	}
	return errors.Join(
		err,
		files.write("--html", func(w io.Writer) error { return report.HTML(w, r) }),
		files.write("--sarif", func(w io.Writer) error { return report.SARIF(w, r, telemetry.Version()) }),
	)
}

// isTerminal says whether a stream is one; a test's buffer and a pipe are none.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// width is where text is broken: nowhere, unless a terminal reads it.
func width(w io.Writer) int {
	const preset = 100
	if !isTerminal(w) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return preset
}
