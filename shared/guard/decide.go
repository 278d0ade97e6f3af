package guard

import "strings"

// Decide judges one group. It is the only function that decides: the same input gives the same verdict, byte for byte.
//
// Modes act and observe give the same verdict; Withhold turns it into what observe records. In mode off nothing is to be called.
// A group that has not opted in, or that an AWS service manages, is not touched at all.
func Decide(in Input) Verdict {
	k := newLook(&in)
	if !in.Group.OptedIn && in.Reads.Group == "" || in.Group.Operator != "" {
		return k.leaveAlone()
	}
	k.observe()
	k.account()
	k.correlate()
	k.converge()
	k.noticeMarked()
	k.watch()
	k.measure()
	k.hold()
	k.tendPaced()
	k.choose()
	k.notices()
	k.tell()
	return k.verdict()
}

// leaveAlone is the verdict on a group that is not ours to guard.
func (k *look) leaveAlone() Verdict {
	k.v.Mode = Watching
	if k.p.Mode == ModeOff {
		k.v.Mode = Off
	}
	switch {
	case k.in.Group.Operator != "":
		k.note("managed by %s: not touched", k.in.Group.Operator)
	default:
		k.note("does not carry holdfast:guard=true: not touched")
	}
	k.v.Region = RegionDelta{Group: k.in.Group.ARN, Forget: true}
	k.v.State = k.in.State
	return k.v
}

func (k *look) verdict() Verdict {
	v := &k.v
	v.Members, v.Limits, v.Triggers, v.Unknown = k.counts, k.limits, k.triggers, k.unknownDependencies()
	h := k.next.Hold
	switch {
	case k.p.Mode == ModeOff:
		v.Mode = Off
	case h != nil && h.Stage > StageQuiet:
		v.Mode = Releasing
	case h != nil:
		v.Mode = Held
	case k.blind():
		v.Mode = Blind
	default:
		v.Mode = Watching
	}
	if h != nil {
		v.Cause = h.Cause
	}
	for _, f := range k.in.Group.ForeignTargets {
		k.note("target %s in %s is no member: %s", f.Target, f.Group, strings.TrimSpace(f.State+" "+f.Reason))
	}
	if k.p.Action == ActionAlertOnly && (observed(k.prev.Hold) || observed(h)) {
		for i := range v.Actions {
			v.Actions[i].Withheld = ActionAlertOnly
		}
	}
	v.State = k.next
	return *v
}

func observed(h *Hold) bool { return h != nil && h.Observed }
