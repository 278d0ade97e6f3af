package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// membersMax bounds the members of one row, so that a slip in a range does not fill the memory.
const membersMax = 10000

// lifecycleStates are AWS's lifecycle states. Source: Auto Scaling API reference, Instance.LifecycleState.
func lifecycleStates() []string {
	out := []string{"InService", "EnteringStandby", "Standby", "Detaching", "Detached", "Quarantined"}
	for _, base := range []string{"Pending", "Terminating"} {
		out = append(out, base, base+":Wait", base+":Proceed")
	}
	for _, end := range []string{":Pending", ":Pending:Wait", ":Pending:Proceed", ":Pending:Retained", ":Terminating", ":Terminating:Wait",
		":Terminating:Proceed", ":Terminated", ":Stopped", ":Running", ":Hibernated"} {
		out = append(out, "Warmed"+end)
	}
	return append(out, "Terminated", "Terminating:Retained", "ReplacingRootVolume", "ReplacingRootVolume:Wait",
		"ReplacingRootVolume:Proceed", "RootVolumeReplaced")
}

// fleet reads rows; fresh says that members which no row has named before may be gone by mistake only.
func (p *parser) fleet(n *yaml.Node, fresh bool) []Row {
	var out []Row
	seen := map[string]bool{}
	for _, f := range p.fields(n, "fleet") {
		ids := p.ids(f.at, "fleet."+f.key, f.key)
		for _, id := range ids {
			if seen[id] {
				p.fail(f.at, "fleet."+f.key, fmt.Sprintf("member %q stands twice", id))
			}
			seen[id] = true
		}
		text, ok := p.text(f.value, "fleet."+f.key)
		if !ok {
			continue
		}
		row := p.row(f.value, "fleet."+f.key, text)
		row.Members = ids
		p.own(f.at, row, fresh)
		out = append(out, row)
	}
	return out
}

// own notes whose members these are.
func (p *parser) own(at *yaml.Node, row Row, fresh bool) {
	for _, id := range row.Members {
		group, known := p.owner[id]
		switch {
		case known && group != p.group:
			p.fail(at, "fleet."+at.Value, fmt.Sprintf("member %q belongs to group %q", id, group))
		case row.Gone && fresh:
			p.fail(at, "fleet."+at.Value, "gone, but the head of a file states who is there")
		case row.Gone && !known:
			p.fail(at, "fleet."+at.Value, fmt.Sprintf("unknown member %q", id))
		case !row.Gone:
			p.owner[id] = p.group
		}
	}
}

// ids expands i1-i8 and i1,i4.
func (p *parser) ids(n *yaml.Node, thing, text string) []string {
	var out []string
	for _, part := range strings.Split(text, ",") {
		list, problem := expand(strings.TrimSpace(part))
		if problem != "" {
			p.fail(n, thing, problem)
			return nil
		}
		out = append(out, list...)
	}
	if len(out) > membersMax {
		p.fail(n, thing, fmt.Sprintf("%d members, want at most %d", len(out), membersMax))
		return nil
	}
	return out
}

// expand gives one member, or those of a range; an instance id such as i-0a1b is one member.
func expand(part string) (ids []string, problem string) {
	from, to, isRange := strings.Cut(part, "-")
	if !isRange || instanceID(part) {
		if instanceID(part) || shortID(part) {
			return []string{part}, ""
		}
		return nil, fmt.Sprintf("%q is no member, want one such as i1, i1-i8 or i1,i4", part)
	}
	prefix, first, ok1 := splitNumber(from)
	other, last, ok2 := splitNumber(to)
	lo, _ := strconv.Atoi(first)
	hi, _ := strconv.Atoi(last)
	switch {
	case !ok1 || !ok2 || prefix != other:
		return nil, fmt.Sprintf("%q is no range, want one such as i1-i8", part)
	case lo > hi:
		return nil, fmt.Sprintf("range %q goes down", part)
	case hi-lo >= membersMax:
		return nil, fmt.Sprintf("%d members, want at most %d", hi-lo+1, membersMax)
	}
	width := 1
	if strings.HasPrefix(first, "0") {
		width = len(first)
	}
	for i := lo; i <= hi; i++ {
		ids = append(ids, fmt.Sprintf("%s%0*d", prefix, width, i))
	}
	return ids, ""
}

func shortID(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9')
	})
}

func instanceID(s string) bool {
	hex, ok := strings.CutPrefix(s, "i-")
	return ok && len(hex) >= 8 && len(hex) <= 17 && strings.Trim(hex, "0123456789abcdef") == ""
}

// splitNumber cuts i12 into i and 12; the letters must be there.
func splitNumber(s string) (prefix, digits string, ok bool) {
	prefix = strings.TrimRight(s, "0123456789")
	digits = s[len(prefix):]
	return prefix, digits, shortID(prefix) && digits != "" && len(digits) <= 9
}

// row reads the tokens of one row.
func (p *parser) row(n *yaml.Node, thing, text string) Row {
	if strings.TrimSpace(text) == "gone" {
		return Row{Gone: true}
	}
	var row Row
	seen := map[string]bool{}
	for _, word := range strings.Fields(text) {
		if word == "gone" {
			p.fail(n, thing, "gone stands beside other tokens")
			continue
		}
		about, problem := row.Tokens.token(word)
		switch {
		case problem != "":
			p.fail(n, thing, problem)
		case seen[about]:
			p.fail(n, thing, fmt.Sprintf("%q says %s a second time", word, about))
		}
		seen[about] = true
	}
	for _, t := range row.Tokens.Targets {
		if t.Group != "" && !slices.Contains(p.ports[p.group], t.Group) {
			p.fail(n, thing, fmt.Sprintf("unknown target group %q", t.Group))
		}
	}
	return row
}

// token takes one word; it returns what the word speaks about, and the rule that it breaks or "".
func (t *Tokens) token(word string) (about, problem string) {
	if slices.Contains(lifecycleStates(), word) {
		t.Lifecycle = word
		return "the lifecycle state", ""
	}
	yes, no := true, false
	switch word {
	case "Healthy", "Unhealthy":
		t.Mark = word
		return "the group's mark", ""
	case "protected":
		t.Protected = &yes
		return "protection", ""
	case "-protected":
		t.Protected = &no
		return "protection", ""
	case "opt-out":
		t.OptedOut = &yes
		return "the opt-out", ""
	case "-opt-out":
		t.OptedOut = &no
		return "the opt-out", ""
	case "shifted":
		t.Shifted = &yes
		return "the zonal shift", ""
	case "-shifted":
		t.Shifted = &no
		return "the zonal shift", ""
	case "anomalous":
		t.Abnormal = &yes
		return "the anomaly result", ""
	case "-anomalous":
		t.Abnormal = &no
		return "the anomaly result", ""
	}
	if key, value, ok := strings.Cut(word, "="); ok && key != "" {
		return t.assign(word, key, value)
	}
	return t.target(word, "", word)
}

// target takes a target state, of everything or of one target group or port.
func (t *Tokens) target(word, key, value string) (about, problem string) {
	state, reason, problem := targetState(value)
	if problem != "" {
		if key == "" {
			return word, fmt.Sprintf("unknown token %q", word)
		}
		return word, fmt.Sprintf("token %q: %s", word, problem)
	}
	group, portText, hasPort := strings.Cut(key, ":")
	port := 0
	if hasPort {
		n, err := strconv.Atoi(portText)
		if err != nil || n < 1 || n > 65535 {
			return word, fmt.Sprintf("token %q: %q is no port", word, portText)
		}
		port = n
	}
	if group == "" && key != "" {
		return word, fmt.Sprintf("unknown token %q", word)
	}
	t.Targets = append(t.Targets, TargetToken{Group: group, Port: port, State: state, Reason: reason})
	if key == "" {
		return "the target state", ""
	}
	return "the target state of " + key, ""
}

// targetState reads healthy, unhealthy[Target.Timeout] and so on. Source: Application Load Balancers user guide, target health
// status and reason codes.
func targetState(s string) (state, reason, problem string) {
	state, rest, bracket := strings.Cut(s, "[")
	defaults := map[string]string{"healthy": "", "unhealthy": "Target.FailedHealthChecks", "initial": "Elb.RegistrationInProgress",
		"draining": "Target.DeregistrationInProgress", "unused": "Target.NotRegistered", "unavailable": "Target.HealthCheckDisabled",
		"unhealthy.draining": "Target.DeregistrationInProgress"}
	reason, known := defaults[state]
	if !known {
		return "", "", fmt.Sprintf("%q is no target state", s)
	}
	if !bracket {
		return state, reason, ""
	}
	reason, tail, closed := strings.Cut(rest, "]")
	source, code, dotted := strings.Cut(reason, ".")
	if !closed || tail != "" || !dotted || (source != "Target" && source != "Elb") || !shortID(code) || state == "healthy" {
		return "", "", fmt.Sprintf("%q has no reason code such as [Target.Timeout]", s)
	}
	return state, reason, ""
}
