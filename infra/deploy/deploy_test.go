// Package deploy_test deploys the Guardian with CDK's own command line into ministack, an emulator of AWS, and watches the deployed
// functions do their work. It runs in real time, because nobody can move that emulator's clock. Auto Scaling, load balancing, EC2 and
// alarms come from the embedded AWS, because ministack has no SetInstanceHealth; everything else is ministack's. Events of
// alarms, which ministack neither sends nor takes, go by the deployed rule over the world's bus to the deployed function.
package deploy_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/infra/app"
	"github.com/holdfast-aws/holdfast/localstack/world/stage"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// peerVariable has the address of a ministack that is started anew; .ci/run starts one.
const peerVariable = "HOLDFAST_DEPLOY_MINISTACK"

// TestTheDeployedGuardian is one story, because a deploy takes time: each part begins where the last one ended.
func TestTheDeployedGuardian(t *testing.T) {
	b := newBench(t, peerVariable, "start `ministack` from PyPI and give its address, such as http://127.0.0.1:4566")
	if _, err := os.Stat(filepath.Join(root, "node_modules", "aws-cdk")); err != nil {
		t.Skipf("CDK's command line is not installed: run `npm ci --ignore-scripts` first")
	}
	b.build()
	b.newWorld(stage.Listen)
	for _, part := range []struct {
		name string
		do   func(*bench)
	}{
		{"a second deploy keeps what the operator set", (*bench).deployTwice},
		{"one broken member of eight is marked by the scheduled sweeps", (*bench).markOne},
		{"half of them broken at once are held", (*bench).holdMany},
		{"a Guardian that was destroyed comes back with its memory", (*bench).destroyAndAdopt},
		{"an alarm on a dependency holds the group that needs it, without any sweep", (*bench).holdByAlarm},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			whole := b.t
			b.t = t
			defer func() { b.t = whole }()
			part.do(b)
		}) {
			return
		}
	}
}

const approved = "--require-approval=never"

func (b *bench) deployTwice() {
	const tuning = `{"confirm_sweeps":1,"boot_grace_seconds":0}`
	first := b.synth(app.Guardian{})
	b.cdk(first, "bootstrap", "aws://000000000000/us-east-1")
	b.cdk(first, "deploy", app.GuardianStack, approved)
	if _, err := b.params.GetParameter(b.t.Context(), &ssm.GetParameterInput{Name: aws.String(guard.ModeParameter)}); err == nil {
		b.t.Fatalf("the stack has created %s, and would write it again", guard.ModeParameter)
	}
	// Another tag, another memory size and other declared values.
	b.set(guard.ModeParameter, guard.ModeAct)
	b.set(guard.LayerGroups+web, tuning)
	b.last = b.synth(app.Guardian{MemoryMB: 512, Defaults: json.RawMessage(`{"marks_per_hour":2}`)})
	b.cdk(b.last, "deploy", app.GuardianStack, approved, "--tags", "team=orders")
	if defaults := b.value(guard.LayerDefaults); defaults != `{"marks_per_hour":2}` {
		b.t.Errorf("the second deploy did not reach the declared defaults: %s", defaults)
	}
	if mode, own := b.value(guard.ModeParameter), b.value(guard.LayerGroups+web); mode != guard.ModeAct || own != tuning {
		b.t.Errorf("after the second deploy the switch is %q and the operator's layer %s", mode, own)
	}
}

func (b *bench) markOne() {
	b.follow()
	b.beat()
	var broken string
	b.world.Do(func(c *sim.Cloud) { broken = members(c)[0] })
	b.until("the mark", func() bool { return b.calls("autoscaling:SetInstanceHealth") > 0 })
	b.world.Do(func(c *sim.Cloud) {
		if m, ok := c.Instance(broken); ok && m.Lifecycle == sim.InService && m.Health != sim.Unhealthy {
			b.t.Errorf("%s was broken and is %s and %s", broken, m.Lifecycle, m.Health)
		}
	})
	if marks, holds := b.calls("autoscaling:SetInstanceHealth"), b.calls("autoscaling:SuspendProcesses"); marks != 1 || holds != 0 {
		b.t.Errorf("%d marks and %d holds for one broken member", marks, holds)
	}
}

func (b *bench) holdMany() {
	b.world.Do(func(c *sim.Cloud) {
		for _, id := range members(c)[:size/2] {
			must(b.t, c.Break(id, sim.Hang))
		}
	})
	b.until("the hold", func() bool { return b.held(web) })
	if n := b.calls("autoscaling:SetInstanceHealth"); n != 1 {
		b.t.Errorf("%d marks in all, want the one from before", n)
	}
	if n := len(b.rows()); n == 0 {
		b.t.Error("the deployed state table is empty")
	}
	if b.held(orders) {
		b.t.Errorf("%s is held, and nothing is wrong with it", orders)
	}
}

// destroyAndAdopt takes the stack away, which must be meant, and deploys it again over the tables that it left behind.
func (b *bench) destroyAndAdopt() {
	if said, err := b.tryCDK(b.last, "destroy", app.GuardianStack, "--force"); err == nil {
		b.t.Fatalf("a protected stack was destroyed:\n%s", said)
	}
	before := b.rows()
	b.unprotect()
	b.cdk(b.last, "destroy", app.GuardianStack, "--force")
	after := b.rows()
	for _, row := range slices.Sorted(maps.Keys(before)) {
		if !after[row] {
			b.t.Errorf("the row %q went with the stack", row)
		}
	}
	b.cdk(b.synth(app.Guardian{Adopt: true}), "deploy", app.GuardianStack, approved)
	if mode := b.value(guard.ModeParameter); mode != guard.ModeAct {
		b.t.Errorf("the switch is %q after all this", mode)
	}
}

// unprotect does what `aws cloudformation update-termination-protection --no-enable-termination-protection` does.
func (b *bench) unprotect() {
	b.t.Helper()
	form := url.Values{"Action": {"UpdateTerminationProtection"}, "Version": {"2010-05-15"}, "StackName": {"Holdfast" + app.GuardianStack}, "EnableTerminationProtection": {"false"}}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.peer, strings.NewReader(form.Encode()))
	must(b.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", emulated("cloudformation"))
	res, err := http.DefaultClient.Do(req)
	must(b.t, err)
	defer func() { _ = res.Body.Close() }() // only the status is asked
	if res.StatusCode != http.StatusOK {
		b.t.Fatalf("the stack's protection could not be taken off: %s", res.Status)
	}
}

func (b *bench) holdByAlarm() {
	b.takeOver()
	// Without their schedules, nothing but the alarm's event makes a function look.
	rules, err := b.events.ListRules(b.t.Context(), &eventbridge.ListRulesInput{})
	must(b.t, err)
	silenced := 0
	for _, r := range rules.Rules {
		if r.ScheduleExpression != nil {
			_, err := b.events.DisableRule(b.t.Context(), &eventbridge.DisableRuleInput{Name: r.Name})
			must(b.t, err)
			silenced++
		}
	}
	if silenced == 0 {
		b.t.Fatal("no schedule is deployed")
	}
	b.set(guard.LayerDeclared+orders, `{"dependencies":[{"alarm":"`+database+`","kind":"hard","missing":"unknown"}]}`)
	b.follow()
	b.beat()
	if b.held(orders) {
		b.t.Fatalf("%s is held before the alarm", orders)
	}
	b.world.Do(func(c *sim.Cloud) { must(b.t, c.SetAlarmState(database, sim.AlarmRed, "connections refused")) })
	b.until("the hold by alarm", func() bool { return b.held(orders) })
	for _, i := range b.world.Invocations() {
		if i.Error != "" {
			b.t.Errorf("%s: %s", i.Function, i.Error)
		}
	}
	if n := b.calls("autoscaling:SetInstanceHealth"); n != 1 {
		b.t.Errorf("%d marks in all, want the one from before", n)
	}
}
