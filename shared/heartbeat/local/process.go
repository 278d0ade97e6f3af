package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Where Linux tells about processes, and systemd about its units.
const (
	procFolder   = "/proc"
	cgroupFolder = "/sys/fs/cgroup/system.slice"
)

// commMax is how many bytes of a program's name the kernel keeps. Source: proc(5), /proc/pid/comm.
const commMax = 15

// Process makes a check that a process of a name runs and is neither a zombie nor dead. The name is the one that the kernel keeps, which
// is the program's, without folder.
func Process(name string) (func(context.Context) error, error) {
	return processIn(procFolder, name)
}

func processIn(proc, name string) (func(context.Context) error, error) {
	if name == "" || strings.ContainsAny(name, "/\n") {
		return nil, fmt.Errorf("process %q, want the name of a program, without folder", name)
	}
	if len(name) > commMax {
		name = name[:commMax]
	}
	return func(ctx context.Context) error {
		entries, err := os.ReadDir(proc)
		if err != nil {
			return fmt.Errorf("list processes: %w", err)
		}
		dead := false
		for _, entry := range entries {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if _, err := strconv.Atoi(entry.Name()); err != nil {
				continue
			}
			comm, err := os.ReadFile(filepath.Join(proc, entry.Name(), "comm"))
			if err != nil || string(bytes.TrimSuffix(comm, []byte("\n"))) != name {
				continue // one that ended between listing and reading is not ours either
			}
			if runs(filepath.Join(proc, entry.Name(), "stat")) {
				return nil
			}
			dead = true
		}
		if dead {
			return fmt.Errorf("process %s is a zombie", name)
		}
		return fmt.Errorf("no process %s", name)
	}, nil
}

// PIDFile makes a check that the process whose number is in a file runs and is neither a zombie nor dead.
func PIDFile(path string) (func(context.Context) error, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("pid_file %q, want an absolute path", path)
	}
	return func(context.Context) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read number of the process: %w", err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || pid < 1 {
			return fmt.Errorf("%s holds %.40q, want the number of a process", path, text)
		}
		if !runs(filepath.Join(procFolder, strconv.Itoa(pid), "stat")) {
			return fmt.Errorf("process %d does not run", pid)
		}
		return nil
	}, nil
}

// runs reads the state of a process. The name before it stands in parentheses and may hold anything, so the last one counts.
func runs(stat string) bool {
	text, err := os.ReadFile(stat)
	if err != nil {
		return false
	}
	i := bytes.LastIndexByte(text, ')')
	if i < 0 || i+2 >= len(text) {
		return false
	}
	state := text[i+2]
	return state != 'Z' && state != 'X' && state != 'x'
}

// Systemd makes a check that a service unit of the system has a process, read from its control group: no call to systemd is made, so that
// the check is cheap and works while systemd is busy. It wants control groups of version 2.
func Systemd(unit string) (func(context.Context) error, error) {
	return systemdIn(cgroupFolder, unit)
}

func systemdIn(cgroups, unit string) (func(context.Context) error, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9:_.\\@-]+\.service$`).MatchString(unit) {
		return nil, fmt.Errorf("unit %q, want the name of a service, such as app.service", unit)
	}
	folder := filepath.Join(cgroups, unit)
	if template, _, isInstance := strings.Cut(unit, "@"); isInstance {
		// systemd puts the instances of a template into a slice of their own, with '-' escaped.
		folder = filepath.Join(cgroups, "system-"+strings.ReplaceAll(template, "-", `\x2d`)+".slice", unit)
	}
	return func(context.Context) error {
		events, err := os.ReadFile(filepath.Join(folder, "cgroup.events"))
		switch {
		case errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("unit %s does not run", unit)
		case err != nil:
			return fmt.Errorf("read control group: %w", err)
		}
		if !strings.Contains(string(events), "populated 1") {
			return fmt.Errorf("unit %s has no process", unit)
		}
		return nil
	}, nil
}
