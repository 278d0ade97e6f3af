package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// outputMax is how much of a command's output is kept, killWait how long its end may take after it was killed.
const (
	outputMax = 200
	killWait  = 100 * time.Millisecond
)

// Command makes a check that a program exits with 0. The program is named by an absolute path and run without a shell; when its time is up,
// it is killed with all that it started. An argument that is a URL follows the rules for hosts and health endpoints, as far as one can
// see it from outside.
func Command(argv []string, dependency bool) (func(context.Context) error, error) {
	if len(argv) == 0 || !filepath.IsAbs(argv[0]) {
		return nil, errors.New("command wants a list that begins with the absolute path of a program")
	}
	for _, arg := range argv[1:] {
		if err := checkArgument(arg, dependency); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) error {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		out := &limited{}
		cmd.Stdout, cmd.Stderr = out, out
		cmd.WaitDelay = killWait
		killGroup(cmd)
		err := cmd.Run()
		if ctx.Err() != nil {
			return fmt.Errorf("run command: %w", ctx.Err())
		}
		if err != nil {
			return fmt.Errorf("run command: %w: %s", err, strings.TrimSpace(out.kept.String()))
		}
		return nil
	}, nil
}

func checkArgument(arg string, dependency bool) error {
	u, _ := url.Parse(arg) // what cannot be parsed is no URL, and any argument is allowed
	if u == nil || u.Scheme == "" || u.Hostname() == "" {
		return nil
	}
	if err := checkHost(u.Hostname(), dependency); err != nil {
		return fmt.Errorf("argument %q: %w", arg, err)
	}
	if !isLoopback(u.Hostname()) && healthPath(u.Path) {
		return fmt.Errorf("argument %q is another service's health endpoint", arg)
	}
	return nil
}

// limited keeps the beginning of what is written to it. The buffer is no part of its face: copying would write to that directly.
type limited struct{ kept bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := outputMax - l.kept.Len(); room > 0 {
		_, _ = l.kept.Write(p[:min(room, len(p))]) // a Buffer takes everything
	}
	return len(p), nil
}
