package scenario

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// pageKeys are the keys of all notices.
func pageKeys() []string {
	return []string{guard.PageHeld, guard.PageReleased, guard.PageHoldTooLong, guard.PageResumeBlocked, guard.PageSuspensionRemoved,
		guard.PageSuspensionConflict, guard.PageForeignSuspension, guard.PageBlind, guard.PageHeartbeatPath, guard.PageHeartbeatCoverage,
		guard.PageHeartbeatLag, guard.PageClockSkew, guard.PageSignalsDisagree, guard.PageReplacementStuck, guard.PageCannotReplace,
		guard.PageNotConverging, guard.PageDailyLimit, guard.PageStuckAlarm, guard.PageConfig, guard.PageNotRegistered,
		guard.PageWorkerStalled, guard.PageDeferredTooLong, guard.PagePausedWhileHeld, guard.PageLastInstance}
}

// anyReason is met by a deferral with whatever reason.
const anyReason = "any"

// deferReasons are the reasons that an expectation can name.
func deferReasons() []string {
	out := []string{anyReason}
	for _, r := range []guard.Reason{guard.ReasonBlind, guard.ReasonWarmUp, guard.ReasonGrace, guard.ReasonOptedOut, guard.ReasonProtected,
		guard.ReasonAlertOnly, guard.ReasonHoldOnly, guard.ReasonHeld, guard.ReasonDependency, guard.ReasonRefreshing,
		guard.ReasonCannotReplace, guard.ReasonNotConverging, guard.ReasonWaiting, guard.ReasonSignalsDisagree, guard.ReasonConfirming,
		guard.ReasonLastInstance, guard.ReasonInFlight, guard.ReasonBudget, guard.ReasonRegionBudget, guard.ReasonCapacity,
		guard.ReasonMinHealthy, guard.ReasonRecovered, guard.ReasonMode, guard.ReasonLostRace} {
		out = append(out, string(r))
	}
	return out
}

func (p *parser) expect(n *yaml.Node) *Expect {
	e := &Expect{Line: n.Line}
	m := p.object(n, "expect", "mark", "restore", "suspend", "resume", "defer", "page", "no_page", "mode")
	if v := m["mark"]; v != nil {
		e.Mark = p.memberList(v, "expect.mark")
	}
	if v := m["restore"]; v != nil {
		e.Restore = p.memberList(v, "expect.restore")
	}
	if v := m["suspend"]; v != nil {
		e.Suspend = p.processes(v, "expect.suspend")
	}
	if v := m["resume"]; v != nil {
		e.Resume = p.processes(v, "expect.resume")
	}
	if v := m["defer"]; v != nil {
		e.Defer = p.deferrals(v)
	}
	if v := m["page"]; v != nil {
		e.Page = p.words(v, "expect.page", pageKeys())
	}
	if v := m["no_page"]; v != nil {
		e.NoPage = p.words(v, "expect.no_page", pageKeys())
		for _, key := range e.NoPage {
			if slices.Contains(e.Page, key) {
				p.fail(v, "expect.no_page", fmt.Sprintf("%q is expected by page too", key))
			}
		}
	}
	if v := m["mode"]; v != nil {
		e.Mode = p.word(v, "expect.mode", []string{guard.Watching, guard.Held, guard.Releasing, guard.Blind, guard.Off})
	}
	return e
}

// memberList reads a list of members that rows have named.
func (p *parser) memberList(n *yaml.Node, thing string) []string {
	var out []string
	for _, item := range p.list(n, thing) {
		text, ok := p.text(item, thing)
		if !ok {
			continue
		}
		for _, id := range p.ids(item, thing, text) {
			p.known(item, thing, id)
			if slices.Contains(out, id) {
				p.fail(item, thing, fmt.Sprintf("member %q stands twice", id))
			}
			out = append(out, id)
		}
	}
	return out
}

func (p *parser) known(n *yaml.Node, thing, id string) {
	if p.owner[id] != p.group || p.group == "" {
		p.fail(n, thing, fmt.Sprintf("unknown member %q", id))
	}
}

// processes reads true, false or a list of processes; false and an empty list say that there is no call.
func (p *parser) processes(n *yaml.Node, thing string) Processes {
	switch {
	case n.Kind == yaml.SequenceNode:
		return Processes{List: p.words(n, thing, processNames())}
	case n.Kind == yaml.ScalarNode && n.Tag == "!!bool":
		return Processes{Some: strings.EqualFold(n.Value, "true")}
	default:
		p.fail(n, thing, "want true, false or a list of processes, have "+kindOf(n))
		return Processes{}
	}
}

func (p *parser) deferrals(n *yaml.Node) []ExpectDefer {
	const thing = "expect.defer"
	var out []ExpectDefer
	for _, f := range p.fields(n, thing) {
		reason := p.word(f.value, under(thing, f.key), deferReasons())
		for _, id := range p.ids(f.at, thing, f.key) {
			p.known(f.at, thing, id)
			if slices.ContainsFunc(out, func(o ExpectDefer) bool { return o.Member == id }) {
				p.fail(f.at, thing, fmt.Sprintf("member %q stands twice", id))
			}
			out = append(out, ExpectDefer{Member: id, Reason: reason})
		}
	}
	return out
}
