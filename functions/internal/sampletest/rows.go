package sampletest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// The functions that take events of AWS. Function notify takes Holdfast's own notices only, so no sample is for it.
const (
	Sweep = "sweep"
	Probe = "probe"
	Alarm = "alarm"
	Audit = "audit"
)

// How an event comes to its function.
const (
	ByRule     = "rule"     // a pattern on the bus
	BySchedule = "schedule" // a rule's or the Scheduler's clock
	ByAction   = "action"   // an alarm's own action on the function
)

// Row is one sample event.
type Row struct {
	File string
	// Owners take the event; none means that it is not for us, and Why says what is read instead.
	Owners []string
	// By is how it comes, "" when nothing sends it to us.
	By string
	// Groups are the groups that function alarm looks at in its tests, in the order of their names.
	Groups []string
	// Why says why an event asks for no look.
	Why string
}

// What is read instead of an event that is not for us.
const (
	becauseActivities = "every sweep reads the group's members and its scaling activities, so a launch or a termination is seen without the event"
	becauseRefresh    = "every sweep reads the group's instance refreshes"
	becauseShift      = "every sweep reads the zonal shifts' effect where it counts: in the zones of the members and the health of the targets"
	becauseState      = "a state of an instance says nothing of its service; every sweep reads the members' lifecycle states"
	becauseTrail      = "every sweep reads which processes are suspended and which health the members have, whoever changed it"
	becauseParameter  = "every sweep reads all parameters, so that a change counts at the next one"
	becauseCalendar   = "no policy names a change calendar"
	becauseHealth     = "AWS's notices about itself ask a person; what fails is seen in the members, targets and alarms"
	becauseFailure    = "what failed for good lies in the queue of the function and raises its alarm; the next sweep looks anew"
	becauseFinding    = "a finding of the daily audit is for other people's rules; ours take its digest"
	becauseSettings   = "configuration"
)

// Rows is the table.
func Rows() []Row {
	alarm := func(file string, groups ...string) Row {
		return Row{File: "alarm-" + file + ".json", Owners: []string{Alarm}, By: ByRule, Groups: groups}
	}
	tick := func(file string) Row {
		return Row{File: "scheduled-event-" + file + ".json", Owners: []string{Sweep, Probe, Audit}, By: BySchedule}
	}
	rows := []Row{
		alarm("state-change-single-metric", "orders-web-asg"),
		alarm("state-change-recovered", "orders-web-asg"),
		alarm("state-change-metric-math", "upstream-web-asg"),
		alarm("state-change-insufficient-data", "orders-web-asg"),
		alarm("state-change-initial-no-reasondata", "orders-web-asg"),
		alarm("state-change-composite-suppressed", "orders-web-asg"),
		alarm("state-change-muted-and-tagged", "orders-web-asg"),
		{File: "alarm-direct-lambda-action.json", Owners: []string{Alarm}, By: ByAction, Groups: []string{"orders-web-asg"}},
		// The rule does not send these. Somebody's own rule may, and then they are known for what they are.
		{File: "alarm-config-change-update.json", Owners: []string{Alarm}, Why: becauseSettings},
		{File: "alarm-config-change-delete.json", Owners: []string{Alarm}, Why: becauseSettings},
		tick("rule"), tick("scheduler-default-input"), tick("scheduler-custom-input"),
	}
	for why, files := range notForUs() {
		for _, file := range files {
			rows = append(rows, Row{File: file + ".json", Why: why})
		}
	}
	return rows
}

func notForUs() map[string][]string {
	return map[string][]string{
		becauseActivities: {
			"asg-launch-successful", "asg-launch-unsuccessful", "asg-launch-lifecycle-action", "asg-terminate-successful-user-healthcheck",
			"asg-terminate-successful-elb-healthcheck", "asg-terminate-to-warm-pool", "asg-terminate-lifecycle-action",
		},
		becauseRefresh: {
			"asg-instance-refresh-started", "asg-instance-refresh-checkpoint", "asg-instance-refresh-failed", "asg-instance-refresh-rollback-started",
		},
		becauseShift: {
			"arc-autoshift-in-progress", "arc-autoshift-completed", "arc-autoshift-observer-no-resources", "arc-manual-shift-started",
			"arc-practice-run-started", "arc-practice-run-interrupted",
		},
		becauseState: {"ec2-instance-state-change-running", "ec2-instance-state-change-shutting-down"},
		becauseTrail: {
			"cloudtrail-suspend-processes-human", "cloudtrail-suspend-processes-human-all", "cloudtrail-suspend-processes-guardian",
			"cloudtrail-suspend-processes-cloudformation", "cloudtrail-resume-processes-human", "cloudtrail-set-instance-health-guardian",
			"cloudtrail-set-instance-health-human-failed",
		},
		becauseParameter: {"parameter-store-change-update", "parameter-store-change-delete", "parameter-store-change-label"},
		becauseCalendar:  {"change-calendar-state-change"},
		becauseHealth:    {"health-event-ec2-operational-issue", "health-event-ec2-retirement"},
		becauseFailure:   {"lambda-on-failure-destination"},
		becauseFinding:   {"holdfast-finding-new"},
	}
}

// Folder is where the sample events are, found from the place of this source.
func Folder() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "..", "events")
}

// Read returns the text of a row's file.
func (r Row) Read() ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(Folder(), r.File))
	if err != nil {
		return nil, fmt.Errorf("read sample event: %w", err)
	}
	return raw, nil
}
