package audit

import (
	"strings"
	"time"
)

// Format is the number of the dump's format; a dump of another number is refused.
const Format = 1

// NotSet is the value of an optional setting that is known to be not set, as Auto Scaling itself writes it. A nil pointer says that
// the value is unknown: it could not be read, or a template computes it. Unknown breaks no rule and is listed as unread.
const NotSet = -1

// Account is what was read of one account and Region, or of a template. It is the dump's format: whatever a rule needs is in it.
type Account struct {
	Format int `json:"format"`
	// Source says where it comes from: "account" for live reads, else the file's name.
	Source string `json:"source"`
	// ID, Partition and Region are empty for a template that does not name them.
	ID        string `json:"id,omitempty"`
	Partition string `json:"partition,omitempty"`
	Region    string `json:"region,omitempty"`
	// At is when it was read; every age is counted from it.
	At           time.Time     `json:"at"`
	Groups       []Group       `json:"groups"`
	TargetGroups []TargetGroup `json:"target_groups"`
	Alarms       []Alarm       `json:"alarms"`
	StatusChecks []StatusCheck `json:"status_checks,omitempty"`
	Guardian     Guardian      `json:"guardian"`
	// Static says that no state was there to read, only settings, as in a template: rules about members, states and ages then say nothing.
	Static bool `json:"static,omitempty"`
	// Unread lists what could not be read, with the reason.
	Unread []Unread `json:"unread,omitempty"`
}

// Unread is something that could not be read and so was not judged.
type Unread struct {
	// Kind is group, target-group, alarm, status-check, guardian or account; Name its name, or "" for all of the kind.
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	// What names the property or the operation, Why the reason.
	What string `json:"what"`
	Why  string `json:"why"`
	// Property is PropertyTags where it is the tags that stay unknown in part or as a whole; What is then the place in a template.
	Property string `json:"property,omitempty"`
}

// WhyDefault begins the reason of an Unread whose value was judged, at what a template's parameters say where whoever deploys states
// nothing else.
const WhyDefault = "judged at the default of parameter "

// Judged says that the value was judged all the same, as one of several that it may have.
func (u Unread) Judged() bool { return strings.HasPrefix(u.Why, WhyDefault) }

// PropertyTags are a resource's tags, in an Unread.
const PropertyTags = "tags"

// Group is one Auto Scaling group.
type Group struct {
	Name string `json:"name"`
	ARN  string `json:"arn,omitempty"`
	// Where is the place in a template, such as "web.template.json: WebGroup"; empty for a live group.
	Where string            `json:"where,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
	Min   *int              `json:"min,omitempty"`
	Max   *int              `json:"max,omitempty"`
	// Desired is Min in a template that states none.
	Desired *int `json:"desired,omitempty"`
	// HealthCheckTypes are EC2, EBS, ELB and VPC_LATTICE, sorted; nil when unknown. EC2 is always among known ones.
	HealthCheckTypes []string `json:"health_check_types,omitzero"`
	GraceSeconds     *int     `json:"grace_seconds,omitempty"`
	// WarmupSeconds is the default instance warm-up, or NotSet.
	WarmupSeconds *int `json:"warmup_seconds,omitempty"`
	// MinHealthyPercent and MaxHealthyPercent are the instance maintenance policy, or NotSet.
	MinHealthyPercent *int     `json:"min_healthy_percent,omitempty"`
	MaxHealthyPercent *int     `json:"max_healthy_percent,omitempty"`
	Zones             []string `json:"zones,omitempty"`
	// ZoneCount is the number of zones; a template that names subnets only counts those.
	ZoneCount          *int  `json:"zone_count,omitempty"`
	CapacityRebalance  *bool `json:"capacity_rebalance,omitempty"`
	ProtectedFromScale *bool `json:"new_instances_protected_from_scale_in,omitempty"`
	// Operator is the service principal of a group that AWS manages.
	Operator string `json:"operator,omitempty"`
	// TargetGroups are ARNs, or logical ids in a template; LatticeGroups those of VPC Lattice. nil when unknown.
	TargetGroups  []string     `json:"target_groups,omitzero"`
	LatticeGroups []string     `json:"lattice_groups,omitzero"`
	Suspended     []Suspension `json:"suspended,omitempty"`
	Members       []Member     `json:"members,omitempty"`
	// Launches are the newest launch activities, newest first, at most 20.
	Launches []Launch `json:"launches,omitempty"`
	// RefreshMinHealthy is the lowest minimum healthy percentage of an instance refresh or rolling update that is running, ran last, or is
	// what the template says; NotSet when there is none.
	RefreshMinHealthy *int `json:"refresh_min_healthy_percent,omitempty"`
	// BootSeconds is the longest time from InService to a healthy target or a first heartbeat that was seen; NotSet when none was.
	BootSeconds *int `json:"boot_seconds,omitempty"`
	// Policy is what Holdfast would obey for this group; nil when it is not opted in or could not be read.
	Policy *Policy `json:"policy,omitempty"`
}

// Suspension is one suspended process.
type Suspension struct {
	Process string `json:"process"`
	Reason  string `json:"reason"`
	// Since is the time in the reason; zero when it says none.
	Since time.Time `json:"since,omitzero"`
	// Held says that Holdfast's ledger knows it as its own.
	Held bool `json:"held,omitempty"`
}

// Member is one instance of a group.
type Member struct {
	ID        string `json:"id"`
	Zone      string `json:"zone,omitempty"`
	Lifecycle string `json:"lifecycle"`
	Unhealthy bool   `json:"unhealthy,omitempty"`
	Protected bool   `json:"protected,omitempty"`
	// Targets are the states of its registrations by target group, with the reason code after a space, such as "unused Target.NotInUse".
	Targets map[string]string `json:"targets,omitempty"`
	// BeatAgeSeconds is the age of its heartbeat row; nil when rows were not read, NotSet when it has none.
	BeatAgeSeconds *int   `json:"beat_age_seconds,omitempty"`
	Agent          string `json:"agent,omitempty"`
}

// Launch is one launch activity.
type Launch struct {
	At     time.Time `json:"at"`
	Failed bool      `json:"failed,omitempty"`
	// Message is AWS's status message of a failed one.
	Message string `json:"message,omitempty"`
}

// Policy is the part of a group's effective policy that rules look at.
type Policy struct {
	Mode         string       `json:"mode"`
	Action       string       `json:"action"`
	Kind         string       `json:"kind"`
	Dependencies []Dependency `json:"dependencies,omitempty"`
	// MaxAlarmAgeSeconds is alarm_max_age_seconds.
	MaxAlarmAgeSeconds int `json:"alarm_max_age_seconds"`
	// Problems are the texts of invalid layers.
	Problems []string `json:"problems,omitempty"`
}

// Dependency is one alarm that a group depends on, hard or soft.
type Dependency struct {
	Alarm string `json:"alarm"`
	Kind  string `json:"kind"`
}

// TargetGroup is one target group of Elastic Load Balancing.
type TargetGroup struct {
	// ID is the ARN, or the logical id in a template: what Group.TargetGroups names.
	ID         string            `json:"id"`
	Name       string            `json:"name,omitempty"`
	Where      string            `json:"where,omitempty"`
	Tags       map[string]string `json:"tags,omitempty"`
	TargetType string            `json:"target_type,omitempty"`
	// Protocol is the traffic's, CheckProtocol the health check's.
	Protocol         string  `json:"protocol,omitempty"`
	CheckProtocol    string  `json:"check_protocol,omitempty"`
	Path             *string `json:"path,omitempty"`
	Port             *string `json:"port,omitempty"`
	Matcher          *string `json:"matcher,omitempty"`
	IntervalSeconds  *int    `json:"interval_seconds,omitempty"`
	TimeoutSeconds   *int    `json:"timeout_seconds,omitempty"`
	HealthyCount     *int    `json:"healthy_count,omitempty"`
	UnhealthyCount   *int    `json:"unhealthy_count,omitempty"`
	DrainSeconds     *int    `json:"deregistration_delay_seconds,omitempty"`
	SlowStartSeconds *int    `json:"slow_start_seconds,omitempty"`
	// Fail-open (routing) and DNS thresholds; NotSet is off. A count of 1 is AWS's default for both.
	FailOpenCount   *int `json:"fail_open_count,omitempty"`
	FailOpenPercent *int `json:"fail_open_percent,omitempty"`
	DNSCount        *int `json:"dns_count,omitempty"`
	DNSPercent      *int `json:"dns_percent,omitempty"`
	// LoadBalancers are the ARNs (or logical ids) of those that use it; nil when unknown, empty when none does.
	LoadBalancers []string `json:"load_balancers"`
	// States counts its registered targets by state, with the reason code after a space.
	States map[string]int `json:"states,omitempty"`
	// LongestRequestSeconds is the longest answer that the load balancer measured in the last day; nil when not read.
	LongestRequestSeconds *float64 `json:"longest_request_seconds,omitempty"`
}

// Alarm is one CloudWatch alarm that a policy names, or one of Holdfast's own.
type Alarm struct {
	Name  string `json:"name"`
	ARN   string `json:"arn,omitempty"`
	Where string `json:"where,omitempty"`
	// State is OK, ALARM or INSUFFICIENT_DATA; Since is when it changed, Updated when it was last written. Created is unknown to AWS's
	// answer, so an alarm that was never evaluated is one whose reason is the initial one.
	State          string    `json:"state,omitempty"`
	Since          time.Time `json:"since,omitzero"`
	Updated        time.Time `json:"updated,omitzero"`
	NeverEvaluated bool      `json:"never_evaluated,omitempty"`
	ActionsEnabled *bool     `json:"actions_enabled,omitempty"`
	Actions        []string  `json:"actions,omitempty"`
	TreatMissing   string    `json:"treat_missing_data,omitempty"`
	Composite      bool      `json:"composite,omitempty"`
	// Missing says that a policy names it and AWS does not know it.
	Missing bool `json:"missing,omitempty"`
	// Own says that it is one of Holdfast's own alarms.
	Own bool `json:"own,omitempty"`
}

// StatusCheck is one EC2 application status check with one association.
type StatusCheck struct {
	ID   string `json:"id"`
	Path string `json:"path,omitempty"`
	// TagKey and TagValue select instances; Instances names them instead.
	TagKey     string   `json:"tag_key,omitempty"`
	TagValue   string   `json:"tag_value,omitempty"`
	Instances  []string `json:"instances,omitempty"`
	Failures   *int     `json:"failures,omitempty"`
	Seconds    *int     `json:"interval_seconds,omitempty"`
	Suppressed bool     `json:"suppressed,omitempty"`
}

// Guardian is Holdfast itself in this account and Region.
type Guardian struct {
	// Installed says that its switch or its alarms are there; Mode is the big switch, "" when unread.
	Installed bool   `json:"installed"`
	Mode      string `json:"mode,omitempty"`
	// Topics are those that its alarms and pages go to.
	Topics []Topic `json:"topics,omitempty"`
}

// Topic is an SNS topic.
type Topic struct {
	ARN string `json:"arn"`
	// Subscriptions counts confirmed ones; nil when unread.
	Subscriptions *int `json:"subscriptions,omitempty"`
}
