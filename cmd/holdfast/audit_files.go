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

// auditFiles are the files that an audit writes.
type auditFiles struct{ html, sarif, dump outFile }

// open opens them before anything is read, so that a path that cannot be written is told at once.
func (a *auditing) open() (auditFiles, error) {
	var f auditFiles
	var errs []error
	for _, one := range []struct {
		file *outFile
		path string
	}{{&f.html, a.html}, {&f.sarif, a.sarif}, {&f.dump, a.dump}} {
		opened, err := openOut(one.path)
		*one.file = opened
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		f.close()
		return f, err
	}
	return f, nil
}

func (f auditFiles) close() {
	for _, one := range []outFile{f.html, f.sarif, f.dump} {
		if one.file != nil {
			_ = one.file.Close() // what was written was closed before; the rest has nothing to lose
		}
	}
}

// outFile is a file whose content stays until there is something to write; no file writes nothing.
type outFile struct{ file *os.File }

func openOut(path string) (outFile, error) {
	if path == "" {
		return outFile{}, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return outFile{}, fmt.Errorf("write file: %w", err)
	}
	return outFile{f}, nil
}

func (o outFile) write(content func(io.Writer) error) error {
	if o.file == nil {
		return nil
	}
	if info, err := o.file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := o.file.Truncate(0); err != nil {
			return fmt.Errorf("write file: %w", err)
		}
	}
	if err := content(o.file); err != nil {
		return err
	}
	if err := o.file.Close(); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

func (o outFile) writePage(r audit.Report) error {
	return o.write(func(w io.Writer) error { return report.HTML(w, r) })
}

func (o outFile) writeSARIF(r audit.Report) error {
	return o.write(func(w io.Writer) error { return report.SARIF(w, r, telemetry.Version()) })
}

func (o outFile) writeJSON(a audit.Account) error {
	return o.write(func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		if err := enc.Encode(a); err != nil {
			return fmt.Errorf("write dump: %w", err)
		}
		return nil
	})
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
