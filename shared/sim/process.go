package sim

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Names of the scaling processes. Source: the user guide page on suspending processes.
const (
	ProcessLaunch            = "Launch"
	ProcessTerminate         = "Terminate"
	ProcessAddToLoadBalancer = "AddToLoadBalancer"
	ProcessAlarmNotification = "AlarmNotification"
	ProcessAZRebalance       = "AZRebalance"
	ProcessHealthCheck       = "HealthCheck"
	ProcessInstanceRefresh   = "InstanceRefresh"
	ProcessReplaceUnhealthy  = "ReplaceUnhealthy"
	ProcessScheduledActions  = "ScheduledActions"
)

// Processes returns the names of all scaling processes, sorted.
func Processes() []string {
	return []string{
		ProcessAZRebalance, ProcessAddToLoadBalancer, ProcessAlarmNotification, ProcessHealthCheck,
		ProcessInstanceRefresh, ProcessLaunch, ProcessReplaceUnhealthy, ProcessScheduledActions, ProcessTerminate,
	}
}

// processNames checks names; none at all means every process, as in the API.
func processNames(names []string) ([]string, error) {
	known := Processes()
	if len(names) == 0 {
		return known, nil
	}
	out := slices.Compact(slices.Sorted(slices.Values(names)))
	for _, name := range out {
		if !slices.Contains(known, name) {
			return nil, &UnknownProcessError{Name: name}
		}
	}
	return out, nil
}

// SuspendProcesses suspends the named processes, or all of them when there is no name. A process that is suspended
// already keeps its first reason text; AWS does not document that. It returns UnknownProcessError or NotFoundError and
// then has changed nothing.
func (c *Cloud) SuspendProcesses(groupName string, names []string) error {
	c.calls++
	g, err := c.withGroup(groupName)
	if err != nil {
		return err
	}
	names, err = processNames(names)
	if err != nil {
		return err
	}
	var fresh []string
	for _, name := range names {
		if _, already := g.suspended[name]; !already {
			g.suspended[name] = "User suspended at " + c.now.Truncate(time.Second).Format(time.RFC3339)
			fresh = append(fresh, name)
		}
	}
	if len(fresh) > 0 {
		c.told++
		c.record(Event{Group: groupName, Kind: EventSuspend, Text: strings.Join(fresh, " ")})
	}
	return nil
}

// ResumeProcesses resumes the named processes, or all of them when there is no name. A resume of ReplaceUnhealthy or
// Terminate sets off the backlog of Unhealthy members: see [Config.ResumeBurst].
func (c *Cloud) ResumeProcesses(groupName string, names []string) error {
	c.calls++
	g, err := c.withGroup(groupName)
	if err != nil {
		return err
	}
	names, err = processNames(names)
	if err != nil {
		return err
	}
	before := maps.Clone(g.suspended)
	var resumed []string
	for _, name := range names {
		if _, was := g.suspended[name]; was {
			delete(g.suspended, name)
			resumed = append(resumed, name)
		}
	}
	if len(resumed) == 0 {
		return nil
	}
	c.told++
	c.record(Event{Group: groupName, Kind: EventResume, Text: strings.Join(resumed, " ")})
	if replacementBlocked(before) && !replacementBlocked(g.suspended) && c.cfg.ResumeBurst == BurstAll {
		for _, i := range g.members {
			i.atOnce = i.atOnce || i.health == Unhealthy
		}
	}
	c.react(g)
	return nil
}

// replacementBlocked says whether no member is terminated for its health.
func replacementBlocked(suspended map[string]string) bool {
	_, replace := suspended[ProcessReplaceUnhealthy]
	_, terminate := suspended[ProcessTerminate]
	return replace || terminate
}

func (g *group) isSuspended(process string) bool {
	_, ok := g.suspended[process]
	return ok
}
