package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// FileAge makes a check that a file was changed within a time. A file whose time is in the future passes: the clock stepped back, which
// says nothing about the file. now is the clock; nil is the machine's.
func FileAge(path string, ageMax time.Duration, now func() time.Time) (func(context.Context) error, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("path %q, want an absolute path", path)
	}
	if ageMax < time.Second {
		return nil, fmt.Errorf("max_age %s, want at least 1s", ageMax)
	}
	if now == nil {
		now = time.Now
	}
	return func(context.Context) error {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("read file's time: %w", err)
		}
		if age := now().Sub(info.ModTime()); age > ageMax {
			return fmt.Errorf("changed %s ago, want at most %s", age.Round(time.Second), ageMax)
		}
		return nil
	}, nil
}
