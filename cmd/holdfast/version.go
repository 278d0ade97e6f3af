package main

import (
	"context"
	"flag"
	"io"
	"runtime/debug"
	"strings"
)

// showVersion tells which build this is.
func showVersion(_ context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("version", flag.ContinueOnError)
	if code, ok := parseBare(fs, args, s); !ok {
		return code
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = nil
	}
	if _, err := io.WriteString(s.out, versionText(info)); err != nil {
		complain(s, "holdfast version: write the version: %v\n", err)
		return exitUsage
	}
	return exitOK
}

// versionText is what the Go toolchain stamped into the binary, and nothing else: what it did not stamp is said to be unknown.
func versionText(info *debug.BuildInfo) string {
	if info == nil {
		return "holdfast, version unknown: built without module information\n"
	}
	settings := map[string]string{}
	for _, one := range info.Settings {
		settings[one.Key] = one.Value
	}
	version := "version unknown"
	if v := info.Main.Version; v != "" && v != "(devel)" {
		version = v
	}
	var b strings.Builder
	b.WriteString("holdfast, " + version + "\n")
	revision := "unknown: not built from a repository, or without -buildvcs"
	if r := settings["vcs.revision"]; r != "" {
		revision = strings.TrimSpace(r + " " + settings["vcs.time"])
		if settings["vcs.modified"] == "true" {
			revision += ", with changes that are in no commit"
		}
	}
	b.WriteString("revision: " + revision + "\n")
	b.WriteString(strings.TrimRight("built with "+info.GoVersion+" for "+settings["GOOS"]+"/"+settings["GOARCH"], "/") + "\n")
	return b.String()
}
