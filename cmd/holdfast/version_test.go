package main

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestTheVersionIsWhatTheToolchainStampedAndNothingElse(t *testing.T) {
	set := func(pairs ...string) (out []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	machine := []string{"GOOS", "linux", "GOARCH", "arm64"}
	unknown := "revision: unknown: not built from a repository, or without -buildvcs\n"
	for name, c := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"a build of a released module": {
			&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "v1.2.3"}, Settings: set(machine...)},
			"holdfast, v1.2.3\n" + unknown + "built with go1.26.0 for linux/arm64\n",
		},
		"a build in a repository with changes": {
			&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "(devel)"}, Settings: set(append(machine, "vcs.revision", "26dcb90", "vcs.time", "2026-11-30T21:18:00Z", "vcs.modified", "true")...)},
			"holdfast, version unknown\nrevision: 26dcb90 2026-11-30T21:18:00Z, with changes that are in no commit\nbuilt with go1.26.0 for linux/arm64\n",
		},
		"a build in a clean repository": {
			&debug.BuildInfo{GoVersion: "go1.26.0", Settings: set(append(machine, "vcs.revision", "26dcb90", "vcs.modified", "false")...)},
			"holdfast, version unknown\nrevision: 26dcb90\nbuilt with go1.26.0 for linux/arm64\n",
		},
		"a build that nothing is known of": {nil, "holdfast, version unknown: built without module information\n"},
	} {
		if have := versionText(c.info); have != c.want {
			t.Errorf("%s: have\n%s\nwant\n%s", name, have, c.want)
		}
	}
}

func TestTheVersionIsToldInEverySpelling(t *testing.T) {
	for _, word := range []string{"version", "--version", "-version"} {
		code, out, errOut := holdfast(t, word)
		if code != exitOK || errOut != "" || !strings.HasPrefix(out, "holdfast, ") || !strings.Contains(out, runtime.Version()) {
			t.Errorf("%s: exit %d, %q, %q", word, code, out, errOut)
		}
	}
	var e bytes.Buffer
	if code := run(t.Context(), []string{"version"}, streams{brokenWriter{}, &e}); code != exitUsage || !strings.Contains(e.String(), "no space left") {
		t.Errorf("exit %d, %q", code, e.String())
	}
}
