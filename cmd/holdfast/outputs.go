package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// namedFile is a path and the flag that names it; an empty path is no file.
type namedFile struct{ flag, path string }

// outputs are the files that a command writes, proven writable before its work begins. A run that ends early leaves each as it was, and
// makes none.
type outputs struct{ all []*output }

// output is one of them.
type output struct {
	namedFile
	info os.FileInfo
	// file is open until the proof is over; a pipe or a device stays open, since its reader takes the first closing for the end.
	file *os.File
	// fresh says that there was no file before.
	fresh bool
}

// openOutputs proves that each file of outs can be written, and that none is another one of them, one of ins, or where standard output
// goes, whatever path it is named by. What is in the files stays until there is something to write.
func openOutputs(stdout io.Writer, outs, ins []namedFile) (outputs, error) {
	var o outputs
	var errs []error
	for _, n := range outs {
		if n.path == "" {
			continue
		}
		one, err := openOutput(n)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		o.all = append(o.all, one)
	}
	if len(errs) == 0 {
		errs = append(errs, o.alike(stdout, ins)) // while all are there: only then can files be compared
	}
	for _, one := range o.all {
		errs = append(errs, one.release())
	}
	if err := errors.Join(errs...); err != nil {
		o.close()
		return outputs{}, err
	}
	return o, nil
}

func openOutput(n namedFile) (*output, error) {
	_, before := os.Stat(n.path)
	f, err := os.OpenFile(n.path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("write file: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("write file: %w", err)
	}
	return &output{namedFile: n, info: info, file: f, fresh: errors.Is(before, fs.ErrNotExist)}, nil
}

// alike is an error if two names are of one file and one of the two would be written over the other.
func (o outputs) alike(stdout io.Writer, ins []namedFile) error {
	for i, one := range o.all {
		for _, other := range o.all[i+1:] {
			if os.SameFile(one.info, other.info) {
				return fmt.Errorf("%s and %s name the same file %q", one.flag, other.flag, other.path)
			}
		}
		for _, in := range ins {
			if info, err := os.Stat(in.path); err == nil && os.SameFile(one.info, info) {
				return fmt.Errorf("%s and %s name the same file %q, which is read", in.flag, one.flag, one.path)
			}
		}
		if f, ok := stdout.(*os.File); ok && one.info.Mode().IsRegular() {
			if info, err := f.Stat(); err == nil && os.SameFile(one.info, info) {
				return fmt.Errorf("%s names %q, where standard output goes", one.flag, one.path)
			}
		}
	}
	return nil
}

// release ends the proof: a file that was made for it is taken away again.
func (o *output) release() error {
	if !o.info.Mode().IsRegular() {
		return nil
	}
	err := o.file.Close()
	o.file = nil
	if o.fresh {
		err = errors.Join(err, removeFile(o.path))
	}
	if err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

// removeFile removes a file and not the link that may name it.
func removeFile(path string) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	return os.Remove(target)
}

// close gives up what is still open; it may be called at any time.
func (o outputs) close() {
	for _, one := range o.all {
		if one.file != nil {
			_ = one.file.Close() // what was written was closed before; the rest has nothing to lose
		}
	}
}

// write puts the content in the place of what was in the flag's file; without a file it does nothing.
func (o outputs) write(flag string, content func(io.Writer) error) error {
	i := slices.IndexFunc(o.all, func(one *output) bool { return one.flag == flag })
	if i < 0 {
		return nil
	}
	var text bytes.Buffer // a content that fails half way changes no file
	if err := content(&text); err != nil {
		return err
	}
	if err := o.all[i].put(text.Bytes()); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

func (o *output) put(text []byte) error {
	if o.file != nil {
		_, err := o.file.Write(text)
		err = errors.Join(err, o.file.Close())
		o.file = nil
		return err
	}
	err := os.WriteFile(o.path, text, 0o644) //nolint:gosec // results for everybody
	if err != nil && o.fresh {
		_ = removeFile(o.path) // the other error is the reason
	}
	return err
}
