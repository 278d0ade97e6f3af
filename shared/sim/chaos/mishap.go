package chaos

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// The names of the calls that are not the ledger's own.
const (
	opGuarded  = "guarded"
	opGroup    = "group"
	opDetails  = "details"
	opBeats    = "beats"
	opAlarms   = "alarms"
	opPolicies = "policies"
	opMark     = "mark"
	opRestore  = "restore"
	opSuspend  = "suspend"
	opResume   = "resume"
	opPage     = "page"
)

// errCrashed is what calls of a process answer that has ended.
var errCrashed = errors.New("the process has crashed")

// mishap is what goes wrong at one call; the zero value lets it pass.
type mishap struct {
	// before fails the call without effect; after lets it take effect and loses the answer.
	before, after error
	// crashBefore and crashAfter end the process there.
	crashBefore, crashAfter bool
	// twice repeats the effect, stale answers from an older picture, partial leaves out a part of the answer and says so.
	twice, stale, partial bool
}

func (m mishap) String() string {
	switch {
	case m.crashBefore:
		return "crash before"
	case m.crashAfter:
		return "crash after"
	case m.before != nil:
		return "fails: " + m.before.Error()
	case m.after != nil:
		return "answer lost: " + m.after.Error()
	case m.twice:
		return "twice"
	case m.stale:
		return "stale"
	case m.partial:
		return "partial"
	}
	return "ok"
}

func isRead(op string) bool {
	switch op {
	case opGuarded, opGroup, opDetails, opBeats, opAlarms, opPolicies:
		return true
	}
	return false
}

func isLedger(op string) bool {
	switch op {
	case memledger.OpLoad, memledger.OpSave, memledger.OpLoadRegion, memledger.OpSaveRegion, memledger.OpReserve, memledger.OpPutAction:
		return true
	}
	return false
}

func failed(kind error) error { return fmt.Errorf("as the dice say: %w", kind) }

// hotCalls is how many calls of a process are hot after one that reserves, holds or releases: the second look, the call and its record.
const hotCalls = 9

// heat makes the next calls of a process more likely to go wrong and slow, and may send a rival after it that finds an operator's
// request, because what it does now matters.
func (p *process) heat(group string) {
	if !p.chaotic || p.o.Calm || p.hot > 0 {
		return
	}
	p.hot = hotCalls
	if !p.order.chance(p.climate.hot) {
		return
	}
	if p.order.chance(0.4) {
		p.ask(group, pick(p.order, guard.RequestHold, guard.RequestHold, guard.RequestRelease))
	}
	req := runner.Request{Run: p.nextRun(), Trigger: runner.TriggerManual, Groups: p.fleet.names()}
	if p.order.chance(0.7) {
		req.Groups = []string{group}
	}
	p.plan(p.cloud.Now().Add(p.order.span(0, time.Second)), req)
}

// mishap draws what goes wrong at one call.
func (p *process) mishap(op string) mishap {
	if p.o.Calm || !p.chaotic {
		return mishap{}
	}
	d := p.faults
	if isLedger(op) && p.fleet.tableDown {
		return mishap{before: failed(pick(d, fault.Throttled, fault.Unknown, fault.Refused))}
	}
	level := p.level
	if p.hot > 0 {
		p.hot--
		level = max(level, p.climate.hot)
	}
	if !d.chance(level) {
		return mishap{}
	}
	p.counts.Faults++
	switch {
	case d.chance(0.04):
		return mishap{crashBefore: true}
	case d.chance(0.04):
		return mishap{crashAfter: true}
	case isRead(op):
		return readMishap(d)
	}
	return writeMishap(d, op)
}

func readMishap(d dice) mishap {
	switch d.IntN(6) {
	case 0, 1:
		return mishap{stale: true}
	case 2, 3:
		return mishap{partial: true}
	}
	return mishap{before: failed(pick(d, fault.Throttled, fault.Unknown, fault.Refused, fault.Partial))}
}

func writeMishap(d dice, op string) mishap {
	switch op {
	case memledger.OpLoad, memledger.OpLoadRegion:
		return mishap{before: failed(pick(d, fault.Throttled, fault.Unknown, fault.Refused))}
	case opMark:
		if d.chance(0.2) {
			return mishap{before: failed(pick(d, fault.TooYoung, fault.Gone))}
		}
	}
	switch d.IntN(8) {
	case 0, 1, 2:
		return mishap{after: failed(fault.Unknown)}
	case 3:
		return mishap{twice: !isLedger(op)}
	case 4:
		return mishap{before: failed(fault.Conflict)}
	}
	return mishap{before: failed(pick(d, fault.Throttled, fault.Refused, fault.Unknown))}
}
