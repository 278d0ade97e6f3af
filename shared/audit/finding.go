package audit

import (
	"regexp"
	"strings"
	"time"
)

// Severity says how bad a finding is.
type Severity string

// The severities, worst first. Critical: one slow dependency can terminate the whole group. High: it can cost capacity or hide a failure.
// Medium: it makes an outage longer. Low: worth knowing.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
)

// Rule is one thing that an audit looks for.
type Rule struct {
	// ID is HF001 and so on; it never changes and is never used again.
	ID string `json:"id"`
	// Name is a kebab-case name.
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
	// Why says what happens to a group that breaks it; Source names where the rule comes from.
	Why    string `json:"why"`
	Source string `json:"source"`
	Fix    Fix    `json:"fix"`

	// state says that the rule looks at states and ages, of which a template has none.
	state bool
	check func(*view) []Finding
}

// Fix says how to mend a finding, in five ways; a way that does not exist says so.
type Fix struct {
	Console string `json:"console"`
	CLI     string `json:"cli"`
	// CloudFormation names the type and its properties. Source: CloudFormation template reference, the pages of those types.
	CloudFormation string `json:"cloudformation"`
	CDK            string `json:"cdk"`
	Terraform      string `json:"terraform"`
}

// Finding is one place where a rule is broken.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Kind is group, target-group, alarm, status-check or guardian; Name and Where say which.
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	ARN   string `json:"arn,omitempty"`
	Where string `json:"where,omitempty"`
	// Part says which of several findings of one rule about one resource it is, such as the target group whose check is deep or the tag
	// of a status check's association. It stays the same as long as the fault does; empty where a rule finds at most one.
	Part string `json:"part,omitempty"`
	// Saw has the numbers that were seen, Sum the arithmetic that decides; one line each.
	Saw string `json:"saw"`
	Sum string `json:"sum,omitempty"`
	// Fix is the rule's, with this resource's names filled in.
	Fix Fix `json:"fix"`
	// Acknowledged is set when a person accepted it and the time is not over.
	Acknowledged *Acknowledgement `json:"acknowledged,omitempty"`

	// detail is what the fix's commands need beside the name.
	detail []string
}

// resource is the key without the part.
func (f Finding) resource() string {
	where := regexp.MustCompile(`(?s)^(.+?):\d{1,9}: `).ReplaceAllString(f.Where, "$1: ")
	return strings.Join([]string{f.Rule, f.Kind, f.Name, f.ARN, where}, "\x00")
}

// Key tells the finding from all others of an audit and is the same in the next audit: rule, resource, place and part, without numbers
// that were seen, severity and line, which come and go with lines above.
func (f Finding) Key() string { return f.resource() + "\x00" + f.Part }

// Acknowledgement is a person's word that a finding is known and accepted for a time.
type Acknowledgement struct {
	Rule string `json:"rule"`
	// Name is the resource's name; "*" is every resource of the rule.
	Name string `json:"name"`
	// Part is that of one finding. Without it an acknowledgement of a resource holds only while the rule has a single finding there, so
	// that it never covers a fault that came later; one for every resource covers all of them.
	Part   string `json:"part,omitempty"`
	Reason string `json:"reason"`
	By     string `json:"by"`
	// Until is the first day, as YYYY-MM-DD, on which it no longer holds. At most one year from the audit.
	Until string `json:"until"`
}

// Report is the result of one audit.
type Report struct {
	Source    string    `json:"source"`
	Account   string    `json:"account,omitempty"`
	Partition string    `json:"partition,omitempty"`
	Region    string    `json:"region,omitempty"`
	At        time.Time `json:"at"`
	// Groups and TargetGroups count what was judged.
	Groups       int `json:"groups"`
	TargetGroups int `json:"target_groups"`
	// WhatIf is the headline: what a dependency's bad minutes would do to each group.
	WhatIf   []WhatIf  `json:"what_if"`
	Findings []Finding `json:"findings"`
	// Expired are acknowledgements whose time is over, Unused those that no finding needs, NeedsPart those that accept nothing because
	// their rule has several findings about the resource and they do not say which.
	Expired   []Acknowledgement `json:"expired,omitempty"`
	Unused    []Acknowledgement `json:"unused,omitempty"`
	NeedsPart []Acknowledgement `json:"needs_part,omitempty"`
	Unread    []Unread          `json:"unread,omitempty"`
}

// WhatIf is one group in one bad time of a shared dependency: what would be lost, simulated with the group's own settings.
type WhatIf struct {
	Group string `json:"group"`
	Where string `json:"where,omitempty"`
	// Seconds is how long every target is unhealthy.
	Seconds int `json:"seconds"`
	Members int `json:"members"`
	// Alone is AWS by itself with the group's settings, Held the same with Holdfast.
	Alone Loss `json:"alone"`
	Held  Loss `json:"held"`
	// Assumed lists what the settings do not tell and the simulation took for granted; Why says why nothing was simulated, when it was not.
	Assumed []string `json:"assumed,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// Loss is what one simulated bad time costs.
type Loss struct {
	// Lost counts healthy members that were terminated.
	Lost int `json:"lost"`
	// CapacityMinutes are minutes of missing members, summed; EmptyMinutes those in which fewer than half of the members served.
	CapacityMinutes float64 `json:"capacity_minutes"`
	EmptyMinutes    float64 `json:"empty_minutes"`
}
