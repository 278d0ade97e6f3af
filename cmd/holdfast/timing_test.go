package main

import (
	"strings"
	"testing"
)

func TestTimingShowsItsSums(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string
	}{
		{"the preset numbers fit together", nil, exitOK, []string{"unhealthy x interval + timeout = 3 x 10s + 5s = 35s", "healthy x interval = 2 x 10s = 20s", "state --targets and --nodes", "no rule is broken"}},
		{"bare numbers are seconds", []string{"--interval", "30", "--timeout", "6", "--unhealthy", "2"}, exitOK, []string{"2 x 30s + 6s = 1m6s"}},
		{"probe load", []string{"--targets", "100", "--nodes", "6"}, exitOK, []string{"100 x 6 / 10s = 60.0 probes a second, 0.60 on each target"}},
		{"timeouts that do not nest", []string{"--handler", "5s", "--dependency", "1s"}, exitNo, []string{"want dependency 1s < handler 5s < probe 5s < interval 10s", "PROBLEM  nested-timeouts: handler timeout 5s is not below probe timeout 5s"}},
		{"a restart that is called a failure", []string{"--restart", "40s"}, exitNo, []string{"PROBLEM  restart-budget: "}},
		{"an objective that is missed", []string{"--objective", "30s"}, exitNo, []string{"PROBLEM  recovery-objective: detection window 3 x 10s + 5s = 35s is above the recovery objective 30s"}},
		{"one lost probe", []string{"--unhealthy", "1"}, exitNo, []string{"PROBLEM  unhealthy-count: "}},
		{"heartbeats", []string{"--heartbeats", "1000", "--every", "10"}, exitOK, []string{"heartbeats of 1000 instances", "10s           100.0     162.00    5.40     167.40       143/24            69.17          4                      16  <\n", "30s           33.3", "< is the interval that was asked for"}},
		{"prices of another Region", []string{"--heartbeats", "1000", "--write-price", "1.25", "--read-price", "0.25"}, exitOK, []string{"10s           100.0     324.00    10.80"}},
		{"prices of provisioned units", []string{"--heartbeats", "1000", "--write-unit-price", "0.0013", "--read-unit-price", "0"}, exitOK, []string{"provisioned $0.0013 and $0 per unit and hour, 70 % used", "143/24            133.85"}},
		{"a slow heartbeat", []string{"--heartbeats", "10", "--every", "45s"}, exitNo, []string{"PROBLEM  heartbeat-interval: ", "45s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errOut := holdfast(t, append([]string{"timing"}, c.args...)...)
			if code != c.code || errOut != "" {
				t.Errorf("exit %d, want %d; standard error %q", code, c.code, errOut)
			}
			for _, text := range c.says {
				if !strings.Contains(out, text) {
					t.Errorf("%q is not in\n%s", text, out)
				}
			}
		})
	}
}

func TestTimingRefusesWhatItDoesNotUnderstand(t *testing.T) {
	const span = "seconds of 0 or more, or a duration such as 10s or 1m30s\n"
	for _, c := range []struct{ args, says string }{
		{"--interval soon", `--interval: "soon", want ` + span},
		{"--interval -5s", `--interval: "-5s", want ` + span},
		{"--interval", "--interval has no value, want " + span},
		{"ten", `unexpected argument "ten"` + "\n"},
		{"--unhealthy 2.5", `--unhealthy: "2.5", want a whole number` + "\n"},
		{"--targets -1", "--targets: -1, want 0 or more\n"},
		{"--write-price cheap", `--write-price: "cheap", want a number` + "\n"},
		{"--write-price NaN", "--write-price: NaN, want 0 or more\n"},
		{"--heartbeats 10 --every 0", "--every: 0s, want more than 0s\n"},
		{"--heartbeats -1", "--heartbeats: -1, want 0 or more\n"},
	} {
		code, out, errOut := holdfast(t, append([]string{"timing"}, strings.Fields(c.args)...)...)
		if code != exitUsage || out != "" || !strings.HasPrefix(errOut, "holdfast timing: "+c.says+"usage: holdfast timing ") {
			t.Errorf("%v: exit %d, %q, %q", c.args, code, out, errOut)
		}
	}
}
