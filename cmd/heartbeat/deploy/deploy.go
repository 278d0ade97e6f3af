package deploy

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"
)

//go:embed user-data.sh
var userData string

//go:embed holdfast-heartbeat.service
var unit string

// UserDataMax is the most that EC2 takes, in bytes, before encoding. Source: EC2 user guide, "Run commands when you launch an EC2
// instance with user data input".
const UserDataMax = 16 << 10

// Instance is what the user data is filled in with. Everything is required but Agent, Region and Application.
type Instance struct {
	// Table is the name or ARN of the heartbeat table.
	Table string
	// Agent is the S3 URI of the binary for the instance's processor, Region the bucket's. Without them, the image brings the binary.
	Agent, Region string
	// Application is a script that installs and starts the application; it runs first. Without it, the image brings the application.
	Application string
	// Unit is the application's systemd unit, such as app.service. URL is a page of the application on this machine that does what a
	// request does.
	Unit, URL string
	// Handler is the timeout of the health handler, Probe the load balancer's, Interval the time between two of its probes: whole
	// milliseconds, each below the next.
	Handler, Probe, Interval time.Duration
}

// unwritable says that a character cannot stand in the script or the agent's file, where values are in single quotes.
func unwritable(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

// UserData renders a bash script of at most UserDataMax bytes. The error joins what is missing or cannot be written into a script.
func (i Instance) UserData() (string, error) {
	var errs []error
	for _, f := range []struct{ name, value string }{{"table", i.Table}, {"agent", i.Agent}, {"region", i.Region}, {"unit", i.Unit}, {"url", i.URL}} {
		if f.value == "" && f.name != "agent" && f.name != "region" {
			errs = append(errs, fmt.Errorf("%s is missing", f.name))
		}
		if strings.ContainsAny(f.value, "'\"\\") || !utf8.ValidString(f.value) || strings.ContainsFunc(f.value, unwritable) {
			errs = append(errs, fmt.Errorf("%s %q has a quote, a backslash, a blank or a control character", f.name, f.value))
		}
	}
	if (i.Agent == "") != (i.Region == "") {
		errs = append(errs, errors.New("agent and region belong together"))
	}
	if i.Handler < time.Millisecond || i.Handler >= i.Probe || i.Probe >= i.Interval {
		errs = append(errs, fmt.Errorf("times do not nest: want handler %s < probe %s < interval %s", i.Handler, i.Probe, i.Interval))
	}
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	t, err := template.New("user data").Parse(userData)
	if err != nil {
		return "", fmt.Errorf("parse user data: %w", err)
	}
	var out strings.Builder
	if err := t.Execute(&out, struct {
		Instance
		Service string
	}{i, unit}); err != nil {
		return "", fmt.Errorf("render user data: %w", err)
	}
	if out.Len() > UserDataMax {
		return "", fmt.Errorf("the user data has %d bytes, want at most %d", out.Len(), UserDataMax)
	}
	return out.String(), nil
}
