package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// done is what the sweeps of one step did to one group, put together.
type done struct {
	marks, restores    []string
	suspends, resumes  []string
	suspended, resumed bool
	pages              []string
	mode               string
	deferred           map[string]guard.Reason
}

// judge compares a step's sweeps of group i, which begin at index first, with what is expected; failures go to the last of them.
func (p *player) judge(i int, e *Expect, first int) {
	name := p.s.Groups[i].Name
	last := -1
	var sweeps []Sweep
	for at := first; at < len(p.result.Sweeps); at++ {
		if p.result.Sweeps[at].Group == name {
			last = at
			sweeps = append(sweeps, p.result.Sweeps[at])
		}
	}
	if last < 0 {
		p.unlooked(name, e)
		return
	}
	failures := forbidden(p.s.Never, sweeps)
	if e != nil {
		failures = append(failures, e.unmet(sweeps)...)
	}
	p.result.Sweeps[last].Failures = append(p.result.Sweeps[last].Failures, failures...)
}

// unlooked reports expectations about a group that no run looked at, on the last sweep there is.
func (p *player) unlooked(name string, e *Expect) {
	if e == nil || len(p.result.Sweeps) == 0 {
		return
	}
	last := &p.result.Sweeps[len(p.result.Sweeps)-1]
	for _, failure := range e.unmet(nil) {
		last.Failures = append(last.Failures, fmt.Sprintf("group %s was not looked at: %s", name, failure))
	}
}

// lone says whether a call resumes HealthCheck alone, which every release does as a stage of its own.
func lone(c Call) bool {
	return c.Kind == guard.ActResume && len(c.Processes) == 1 && c.Processes[0] == guard.ProcessHealthCheck
}

// forbidden lists the calls that never forbids.
func forbidden(never []string, sweeps []Sweep) []string {
	var out []string
	for _, s := range sweeps {
		for _, c := range s.Actions {
			if slices.Contains(never, c.Kind) && !lone(c) {
				out = append(out, fmt.Sprintf("never %s: %s at %s", c.Kind, c.object(), s.At))
			}
		}
		for _, page := range s.Pages {
			if slices.Contains(never, "page") {
				out = append(out, fmt.Sprintf("never page: %s at %s", page.Key, s.At))
			}
		}
	}
	return out
}

func (c Call) object() string {
	if c.Member != "" {
		return c.Member
	}
	return strings.Join(c.Processes, ", ")
}

// gather puts a step's sweeps together: calls and pages are the union, deferrals and the mode those of the last sweep.
func gather(sweeps []Sweep) done {
	d := done{deferred: map[string]guard.Reason{}}
	for _, s := range sweeps {
		for _, c := range s.Actions {
			switch c.Kind {
			case guard.ActMark:
				d.marks = append(d.marks, c.Member)
			case guard.ActRestore:
				d.restores = append(d.restores, c.Member)
			case guard.ActSuspend:
				d.suspends, d.suspended = append(d.suspends, c.Processes...), true
			case guard.ActResume:
				d.resumes, d.resumed = append(d.resumes, c.Processes...), d.resumed || !lone(c)
			}
		}
		for _, page := range s.Pages {
			d.pages = append(d.pages, page.Key)
		}
	}
	if len(sweeps) > 0 {
		last := sweeps[len(sweeps)-1]
		d.mode = last.Mode
		for _, m := range last.Deferred {
			d.deferred[m.Member] = m.Reason
		}
	}
	return d
}

// unmet lists what of an expectation the sweeps did not meet.
func (e *Expect) unmet(sweeps []Sweep) []string {
	d := gather(sweeps)
	out := sameSet("mark", e.Mark, d.marks)
	out = append(out, sameSet("restore", e.Restore, d.restores)...)
	out = append(out, e.Suspend.unmet("suspend", d.suspends, d.suspended)...)
	out = append(out, e.Resume.unmet("resume", d.resumes, d.resumed)...)
	for _, want := range e.Defer {
		have, deferred := d.deferred[want.Member]
		switch {
		case !deferred:
			out = append(out, fmt.Sprintf("defer: want %s %s, have it not deferred", want.Member, want.Reason))
		case want.Reason != anyReason && want.Reason != string(have):
			out = append(out, fmt.Sprintf("defer: want %s %s, have %s", want.Member, want.Reason, have))
		}
	}
	for _, key := range e.Page {
		if !slices.Contains(d.pages, key) {
			out = append(out, fmt.Sprintf("page: want %s, have %s", key, listed(d.pages)))
		}
	}
	for _, s := range sweeps {
		for _, page := range s.Pages {
			if slices.Contains(e.NoPage, page.Key) {
				out = append(out, fmt.Sprintf("no_page: want no %s, have it at %s", page.Key, s.At))
			}
		}
	}
	if e.Mode != "" && e.Mode != d.mode {
		out = append(out, fmt.Sprintf("mode: want %s, have %s", e.Mode, orNothing(d.mode)))
	}
	return out
}

// unmet judges suspend or resume: made says that there was a call that counts.
func (want Processes) unmet(kind string, have []string, made bool) []string {
	switch {
	case len(want.List) > 0:
		return sameSet(kind, want.List, have)
	case want.Some && !made:
		return []string{kind + ": want a call, have none"}
	case !want.Some && made:
		return []string{fmt.Sprintf("%s: want no call, have %s", kind, listed(have))}
	}
	return nil
}

// sameSet compares regardless of order and repeats.
func sameSet(kind string, want, have []string) []string {
	w, h := set(want), set(have)
	if slices.Equal(w, h) {
		return nil
	}
	return []string{fmt.Sprintf("%s: want %s, have %s", kind, listed(w), listed(h))}
}

func set(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

func listed(list []string) string { return orNothing(strings.Join(set(list), ", ")) }

func orNothing(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
