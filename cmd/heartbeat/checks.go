package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
	"github.com/holdfast-aws/holdfast/shared/heartbeat/local"
)

// checkConfig is one entry of checks; which of the keys from Path on are allowed depends on Type.
type checkConfig struct {
	Name       string `yaml:"name"`
	Type       string `yaml:"type"`
	Severity   string `yaml:"severity"`
	Dependency bool   `yaml:"dependency"`
	Every      span   `yaml:"every"`
	Timeout    span   `yaml:"timeout"`
	Failures   *int   `yaml:"failures"`

	Path       string   `yaml:"path"`
	FreeBytes  size     `yaml:"free_bytes"`
	FreeInodes uint64   `yaml:"free_inodes"`
	Writable   bool     `yaml:"writable"`
	Process    string   `yaml:"process"`
	PIDFile    string   `yaml:"pid_file"`
	Unit       string   `yaml:"unit"`
	MaxAge     span     `yaml:"max_age"`
	URL        string   `yaml:"url"`
	Statuses   []int    `yaml:"statuses"`
	HostHeader string   `yaml:"host_header"`
	Address    string   `yaml:"address"`
	Command    []string `yaml:"command"`
}

// kinds are the types of checks, each with the keys that it takes.
func kinds() map[string][]string {
	return map[string][]string{
		"disk":     {"path", "free_bytes", "free_inodes", "writable"},
		"process":  {"process", "pid_file"},
		"systemd":  {"unit"},
		"file-age": {"path", "max_age"},
		"http":     {"url", "statuses", "host_header"},
		"tcp":      {"address"},
		"command":  {"command"},
	}
}

// given lists the keys of a check that were set.
func (c checkConfig) given() []string {
	var out []string
	for _, k := range []struct {
		name string
		set  bool
	}{
		{"path", c.Path != ""}, {"free_bytes", c.FreeBytes != 0}, {"free_inodes", c.FreeInodes != 0}, {"writable", c.Writable},
		{"process", c.Process != ""}, {"pid_file", c.PIDFile != ""}, {"unit", c.Unit != ""}, {"max_age", c.MaxAge != 0}, {"url", c.URL != ""},
		{"statuses", len(c.Statuses) > 0}, {"host_header", c.HostHeader != ""}, {"address", c.Address != ""}, {"command", len(c.Command) > 0},
	} {
		if k.set {
			out = append(out, k.name)
		}
	}
	return out
}

// checks makes the checks of the file. The error joins everything that is wrong with any of them.
func (c config) checks() ([]heartbeat.Check, error) {
	var out []heartbeat.Check
	var errs []error
	seen := map[string]bool{}
	for i, one := range c.Checks {
		check, err := one.make(c.Listen)
		if err == nil {
			err = check.Validate(c.nesting())
		}
		if seen[one.Name] {
			err = errors.Join(err, errors.New("the name stands twice"))
		}
		seen[one.Name] = true
		if err != nil {
			errs = append(errs, fmt.Errorf("checks[%d] %q: %w", i, one.Name, err))
		}
		out = append(out, check)
	}
	return out, errors.Join(errs...)
}

func (c checkConfig) make(listen string) (heartbeat.Check, error) {
	allowed, ok := kinds()[c.Type]
	if !ok {
		return heartbeat.Check{}, fmt.Errorf("type %q, want disk, process, systemd, file-age, http, tcp or command", c.Type)
	}
	for _, key := range c.given() {
		if !slices.Contains(allowed, key) {
			return heartbeat.Check{}, fmt.Errorf("key %s is not for type %s, which takes %s", key, c.Type, strings.Join(allowed, ", "))
		}
	}
	if c.Dependency && !slices.Contains([]string{"http", "tcp", "command"}, c.Type) {
		return heartbeat.Check{}, fmt.Errorf("type %s looks at this host alone and is no dependency", c.Type)
	}
	if c.Dependency && c.Severity == "hard" {
		return heartbeat.Check{}, errors.New("a dependency cannot be hard: it is reported and never gates, because it fails on all instances at once")
	}
	if c.Severity != "" && c.Severity != "hard" && c.Severity != "soft" {
		return heartbeat.Check{}, fmt.Errorf("severity %q, want hard or soft", c.Severity)
	}
	run, err := c.run(listen)
	if err != nil {
		return heartbeat.Check{}, err
	}
	check := heartbeat.Check{
		Name: c.Name, Run: run, Soft: c.Severity == "soft" && !c.Dependency, Dependency: c.Dependency,
		Every: defaultEvery, Timeout: defaultTimeout, Failures: defaultFailures,
	}
	if c.Every != 0 {
		check.Every = time.Duration(c.Every)
	}
	if c.Timeout != 0 {
		check.Timeout = time.Duration(c.Timeout)
	}
	if c.Failures != nil {
		check.Failures = *c.Failures
	}
	return check, nil
}

func (c checkConfig) run(listen string) (func(context.Context) error, error) {
	switch c.Type {
	case "disk":
		return local.Disk(local.DiskOptions{Path: c.Path, FreeBytes: uint64(c.FreeBytes), FreeInodes: c.FreeInodes, Writable: c.Writable})
	case "process":
		if (c.Process == "") == (c.PIDFile == "") {
			return nil, errors.New("want either process or pid_file")
		}
		if c.PIDFile != "" {
			return local.PIDFile(c.PIDFile)
		}
		return local.Process(c.Process)
	case "systemd":
		return local.Systemd(c.Unit)
	case "file-age":
		return local.FileAge(c.Path, time.Duration(c.MaxAge), nil)
	case "http":
		return local.HTTP(local.HTTPOptions{URL: c.URL, Statuses: c.Statuses, HostHeader: c.HostHeader, Own: listen, Dependency: c.Dependency})
	case "tcp":
		return local.TCP(c.Address, c.Dependency)
	}
	return local.Command(c.Command, c.Dependency)
}
