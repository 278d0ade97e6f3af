package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
	"github.com/holdfast-aws/holdfast/shared/timing"
)

// Preset values of the file, as they would be written.
const (
	defaultFresh    = 60 * time.Second
	defaultEvery    = 10 * time.Second
	defaultTimeout  = time.Second
	defaultFailures = 3
	defaultListen   = "127.0.0.1:9180"
	// sweepEvery is how often Holdfast looks; only the arithmetic of lost beats needs it.
	sweepEvery = time.Minute
)

// config is the file. Durations are written with a unit, such as 10s.
type config struct {
	Table      string        `yaml:"table"`
	Interval   span          `yaml:"interval"`
	Fresh      span          `yaml:"fresh"`
	Listen     string        `yaml:"listen"`
	TokenFile  string        `yaml:"status_token_file"`
	StartUp    *span         `yaml:"start_within"`
	Handler    span          `yaml:"handler_timeout"`
	Probe      span          `yaml:"probe_timeout"`
	ProbeEvery span          `yaml:"probe_interval"`
	Checks     []checkConfig `yaml:"checks"`
}

// span is a duration that must have a unit: a bare number would be read as nanoseconds.
type span time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *span) UnmarshalYAML(node *yaml.Node) error {
	d, err := time.ParseDuration(node.Value)
	if err != nil || node.Value == "0" {
		return fmt.Errorf("line %d: %q, want a duration with its unit, such as 10s", node.Line, node.Value)
	}
	*s = span(d)
	return nil
}

// size is a number of bytes: 500MiB, 2GiB, or a bare number.
type size uint64

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *size) UnmarshalYAML(node *yaml.Node) error {
	text, shift := node.Value, 0
	for _, unit := range []struct {
		name  string
		shift int
	}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}} {
		if number, ok := strings.CutSuffix(text, unit.name); ok {
			text, shift = number, unit.shift
		}
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > math.MaxUint64>>shift {
		return fmt.Errorf("line %d: %q, want a number of bytes, such as 500MiB", node.Line, node.Value)
	}
	*s = size(n << shift)
	return nil
}

// read decodes the file strictly and returns what the agent is made of.
func read(r io.Reader) (config, []heartbeat.Check, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return config{}, nil, fmt.Errorf("read: %w", err)
	}
	c := config{
		Listen: defaultListen, Interval: span(heartbeat.DefaultEvery), Fresh: span(defaultFresh),
		Handler: span(heartbeat.DefaultNesting().Handler), Probe: span(heartbeat.DefaultNesting().Probe), ProbeEvery: span(heartbeat.DefaultNesting().Interval),
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil {
		return config{}, nil, fmt.Errorf("decode: %w", err)
	}
	if err := dec.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return config{}, nil, errors.New("decode: want one document")
	}
	checks, err := c.checks()
	if err := errors.Join(c.validate(), err); err != nil {
		return config{}, nil, err
	}
	return c, checks, nil
}

func (c config) nesting() heartbeat.Nesting {
	return heartbeat.Nesting{Handler: time.Duration(c.Handler), Probe: time.Duration(c.Probe), Interval: time.Duration(c.ProbeEvery)}
}

func (c config) startWithin() time.Duration {
	if c.StartUp == nil {
		return heartbeat.DefaultStartWithin
	}
	return time.Duration(*c.StartUp)
}

func (c config) validate() error {
	errs := []error{c.nesting().Validate()}
	if c.Table == "" {
		errs = append(errs, errors.New("table is missing"))
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if n, numErr := strconv.Atoi(port); err != nil || numErr != nil || n < 0 || n > 65535 {
		errs = append(errs, fmt.Errorf("listen %q, want host:port, or :port for all addresses", c.Listen))
	}
	if host != "" && net.ParseIP(host) == nil {
		errs = append(errs, fmt.Errorf("listen %q, want an IP address: a name may move to another host", c.Listen))
	}
	b := timing.Beats{Instances: 1, Every: time.Duration(c.Interval), Sweep: sweepEvery, Fresh: time.Duration(c.Fresh), Stale: 3 * time.Duration(c.Fresh)}
	for _, p := range b.Problems() {
		errs = append(errs, fmt.Errorf("interval: %s", p.Text))
	}
	if (c.StartUp != nil && *c.StartUp < 0) || c.startWithin() > heartbeat.StartWithinMax {
		errs = append(errs, fmt.Errorf("start_within %s, want 0s to %s", c.startWithin(), heartbeat.StartWithinMax))
	}
	return errors.Join(errs...)
}

// token reads the secret of the debug status; without a file there is no debug status.
func (c config) token() (string, error) {
	if c.TokenFile == "" {
		return "", nil
	}
	raw, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", fmt.Errorf("read status_token_file: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if len(token) < tokenMin {
		return "", fmt.Errorf("status_token_file holds %d bytes, want at least %d", len(token), tokenMin)
	}
	return token, nil
}

// tokenMin is the least length of the token, in bytes.
const tokenMin = 16
