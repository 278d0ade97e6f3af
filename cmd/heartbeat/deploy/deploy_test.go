package deploy_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/holdfast-aws/holdfast/cmd/heartbeat/deploy"
)

func instance() deploy.Instance {
	return deploy.Instance{
		Table: "holdfast-heartbeats", Agent: "s3://bucket/key", Region: "eu-central-1", Unit: "app.service", URL: "http://127.0.0.1:80/orders/probe",
		Handler: 2 * time.Second, Probe: 5 * time.Second, Interval: 10 * time.Second,
	}
}

func TestUserDataHasWhatItIsFilledInWith(t *testing.T) {
	i := instance()
	i.Application = "install-the-application"
	script, err := i.UserData()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"#!/bin/bash\n", "table: 'holdfast-heartbeats'\n", "unit: 'app.service'\n", "url: 'http://127.0.0.1:80/orders/probe'\n", "handler_timeout: 2000ms\n",
		"aws s3 cp --only-show-errors --region 'eu-central-1' 's3://bucket/key'", "\ninstall-the-application\n", "DynamicUser=yes\n",
	} {
		if !strings.Contains(script, want) {
			t.Errorf("no %q in\n%s", want, script)
		}
	}
	i.Agent, i.Region, i.Application = "", "", ""
	bare, err := i.UserData()
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"aws s3", "install-the-application", "{{", "no value"} {
		if strings.Contains(bare, other) {
			t.Errorf("%q is in\n%s", other, bare)
		}
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		for _, text := range []string{script, bare} {
			cmd := exec.CommandContext(t.Context(), bash, "-n")
			cmd.Stdin = strings.NewReader(text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		}
	}
}

// Whatever is accepted comes out of the agent's file as it went in: the script's text and YAML's signs mean nothing in a value.
func TestAValueIsWrittenAsItIsOrRefused(t *testing.T) {
	for _, value := range []string{
		"${Token[TOKEN.12]}", "`id`", "$(id)", "x;id", "[a", "{a:b}", "&a", "*a", "!!int", "a#b", "#x", "-", "null", "123", "yes", "@x", "|", ">", "%x", "~",
		"YAML", "--help", "x\rlisten:0", "x\u0085y", "x\u2028y", "x\ty", "x\x00y", "x\x1by", "x\u202ey", "\ufeffx", "x\xffy", "a'b", "a\\b", "a b",
	} {
		i := instance()
		i.Table, i.Unit, i.URL = value, value, value
		script, err := i.UserData()
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(script, "<<'YAML'\n")
		text, _, _ := strings.Cut(rest, "\nYAML\n")
		var file struct {
			Table, Listen string
			Checks        []struct{ Unit, URL string }
		}
		if err := yaml.Unmarshal([]byte(text), &file); err != nil {
			t.Errorf("%q: %v", value, err)
			continue
		}
		if file.Listen != "127.0.0.1:9180" || file.Table != value || file.Checks[1].Unit != value || file.Checks[2].URL != value {
			t.Errorf("%q came out as %+v", value, file)
		}
	}
}

func TestUserDataThatCannotBeWrittenIsRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*deploy.Instance)
		says  string
	}{
		{"no table", func(i *deploy.Instance) { i.Table = "" }, "table is missing"},
		{"no unit", func(i *deploy.Instance) { i.Unit = "" }, "unit is missing"},
		{"no page", func(i *deploy.Instance) { i.URL = "" }, "url is missing"},
		{"a quote in the table's name", func(i *deploy.Instance) { i.Table = "a'b" }, `table "a'b" has a quote`},
		{"a character of control", func(i *deploy.Instance) { i.URL = "http://127.0.0.1/\x00" }, "control character"},
		{"another end of a line", func(i *deploy.Instance) { i.Unit = "a\u2028b" }, "control character"},
		{"a second line in the unit", func(i *deploy.Instance) { i.Unit = "a.service\nb" }, "unit"},
		{"a binary without its Region", func(i *deploy.Instance) { i.Region = "" }, "belong together"},
		{"a Region without a binary", func(i *deploy.Instance) { i.Agent = "" }, "belong together"},
		{"a handler as slow as the probe", func(i *deploy.Instance) { i.Handler = 5 * time.Second }, "handler 5s < probe 5s < interval 10s"},
		{"a probe as slow as its interval", func(i *deploy.Instance) { i.Probe = 10 * time.Second }, "probe 10s < interval 10s"},
		{"no handler", func(i *deploy.Instance) { i.Handler = 0 }, "handler 0s"},
		{"an application that does not fit", func(i *deploy.Instance) { i.Application = strings.Repeat("#", deploy.UserDataMax) }, "want at most 16384"},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := instance()
			c.spoil(&i)
			if _, err := i.UserData(); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("have %v, want %q", err, c.says)
			}
		})
	}
}

func TestTheUnitIsHardened(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not there")
	}
	// The exposure is 1.7 of 10; the threshold is in tenths.
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--threshold=20", "holdfast-heartbeat.service").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "exposure level") {
		t.Errorf("nobody has judged the unit: %s", out)
	}
}
