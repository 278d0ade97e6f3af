package runner

import (
	"slices"
	"strings"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// missing reports groups that were asked for by name and are not guarded.
func (s *sweep) missing(all []guard.Group) {
	for _, name := range s.req.Groups {
		if !slices.ContainsFunc(all, func(g guard.Group) bool { return g.Name == name }) {
			s.extra = append(s.extra, GroupResult{Group: name, Failure: "no such guarded group: it does not exist or does not carry holdfast:guard=true"})
		}
	}
}

// vanished pages groups that were guarded before and are not any more: deleted, or without their tag.
func (s *sweep) vanished(all []guard.Group) {
	if len(s.req.Groups) > 0 || len(s.req.Alarms) > 0 {
		return
	}
	for arn := range s.region.known() {
		if Shard(arn, s.req.Shards) != s.req.Shard || slices.ContainsFunc(all, func(g guard.Group) bool { return g.ARN == arn }) {
			continue
		}
		name := nameOf(arn)
		text := name + " was guarded and is not any more: it was deleted or lost the tag holdfast:guard=true"
		rec, err := s.p.Ledger.Load(s.work, arn)
		if err != nil {
			s.extra = append(s.extra, GroupResult{Group: name, Failure: text + "; whether it is held cannot be read: " + err.Error()})
			continue // it stays known, so the next sweep tells it, with its hold
		}
		if rec.State.Hold != nil && !rec.State.Hold.Observed {
			text += "; a hold of Holdfast was in force since " + rec.State.Hold.Since.Time().Format(time.RFC3339) + ": if the group exists, resume its processes by hand"
		}
		if p := rec.State.Paced; p != nil && p.Process != nil && p.Process.Reason != "" {
			text += "; a paced exit of Holdfast was under way since " + p.Since.Time().Format(time.RFC3339) + ": if the group exists, resume " + p.Process.Process + " by hand"
		}
		n := Notice{GroupARN: arn, Group: name, At: s.start, Page: guard.Page{Key: guard.PageConfig, Subject: "group", Text: text, Since: guard.At(s.start)}}
		if err := s.p.Reporter.Page(s.work, n); err != nil {
			s.extra = append(s.extra, GroupResult{Group: name, Failure: "page that the group vanished: " + err.Error()})
			continue // it stays known, so the next sweep tells it again
		}
		s.extra = append(s.extra, GroupResult{Group: name, Failure: text})
		s.deltas = append(s.deltas, guard.RegionDelta{Group: arn, Forget: true})
	}
}

// nameOf is the name in a group's ARN, which may have slashes of its own; an ARN of another form names itself.
func nameOf(arn string) string {
	if _, name, ok := strings.Cut(arn, ":autoScalingGroupName/"); ok {
		return name
	}
	return arn
}

func (s *sweep) summary() Summary {
	out := Summary{Run: s.req.Run, Groups: make([]GroupResult, 0, len(s.jobs)+len(s.extra))}
	for _, j := range s.jobs {
		out.Looked++
		if j.lostRace || j.overtaken {
			out.LostRaces++
		} else if j.report.Failure != "" {
			out.Failed++
		}
		out.Groups = append(out.Groups, GroupResult{Group: j.base.Name, Mode: j.report.Verdict.Mode, Failure: j.report.Failure})
	}
	out.Failed += len(s.extra)
	out.Groups = append(out.Groups, s.extra...)
	slices.SortStableFunc(out.Groups, func(a, b GroupResult) int { return strings.Compare(a.Group, b.Group) })
	return out
}
