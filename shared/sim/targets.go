package sim

import (
	"fmt"
	"slices"
	"time"
)

type targetGroup struct {
	spec  TargetGroupSpec
	arn   string
	lbARN string
	regs  []*registration
	shift map[string]bool // zones under a zonal shift
	fault bool            // the load balancer cannot tell
}

// registration is one instance on one port of a target group.
type registration struct {
	tg     *targetGroup
	inst   *instance
	port   int
	state  TargetState
	reason string
	passes int
	fails  int
	serial uint64
	probes *ticker
	gone   bool
}

// CreateTargetGroup creates a target group behind an Application Load Balancer and returns its ARN. It refuses a timeout that is
// not smaller than the interval, and thresholds outside 2 to 10. Source: target group health check page.
func (c *Cloud) CreateTargetGroup(spec TargetGroupSpec) (string, error) {
	if c.findTargetGroup(spec.Name) != nil {
		return "", fmt.Errorf("create target group %q: %w", spec.Name, ErrExists)
	}
	orDuration(&spec.Interval, 30*time.Second)
	orDuration(&spec.Timeout, 5*time.Second)
	orInt(&spec.HealthyCount, 5)
	orInt(&spec.UnhealthyCount, 2)
	orInt(&spec.MinHealthyTargets, 1)
	switch {
	case spec.DeregistrationDelay == 0:
		spec.DeregistrationDelay = 300 * time.Second
	case spec.DeregistrationDelay < 0:
		spec.DeregistrationDelay = 0
	}
	if spec.Path == "" {
		spec.Path = PathLocal
	}
	if spec.HTTPPath == "" {
		spec.HTTPPath = "/health"
	}
	if len(spec.Ports) == 0 {
		spec.Ports = []int{80}
	}
	inRange := func(count int) bool { return 2 <= count && count <= 10 }
	if spec.Name == "" || spec.Timeout >= spec.Interval || !inRange(spec.HealthyCount) || !inRange(spec.UnhealthyCount) {
		return "", fmt.Errorf("create target group %q: %w", spec.Name, ErrInvalid)
	}
	for _, name := range spec.Dependencies {
		c.dependency(name)
	}
	t := &targetGroup{spec: spec, shift: map[string]bool{}}
	c.names++
	hash := c.draw("target group", c.names)
	prefix := fmt.Sprintf("arn:aws:elasticloadbalancing:%s:%s:", c.cfg.Region, c.cfg.Account)
	t.arn = fmt.Sprintf("%stargetgroup/%s/%016x", prefix, spec.Name, hash)
	if !spec.NotInUse {
		t.lbARN = fmt.Sprintf("%sloadbalancer/app/%s-alb/%016x", prefix, spec.Name, mix(hash))
	}
	c.targetGroups = append(c.targetGroups, t)
	c.told++
	return t.arn, nil
}

func (c *Cloud) findTargetGroup(nameOrARN string) *targetGroup {
	for _, t := range c.targetGroups {
		if t.spec.Name == nameOrARN || t.arn == nameOrARN {
			return t
		}
	}
	return nil
}

// TargetGroups returns copies of all target groups in the order of their creation.
func (c *Cloud) TargetGroups() []TargetGroup {
	out := make([]TargetGroup, 0, len(c.targetGroups))
	for _, t := range c.targetGroups {
		out = append(out, t.snapshot())
	}
	return out
}

// TargetGroup returns a copy of one target group, found by name or ARN, and false if it does not exist.
func (c *Cloud) TargetGroup(nameOrARN string) (TargetGroup, bool) {
	t := c.findTargetGroup(nameOrARN)
	if t == nil {
		return TargetGroup{}, false
	}
	return t.snapshot(), true
}

func (t *targetGroup) snapshot() TargetGroup {
	spec := t.spec
	spec.Ports, spec.Dependencies = slices.Clone(spec.Ports), slices.Clone(spec.Dependencies)
	return TargetGroup{TargetGroupSpec: spec, ARN: t.arn, LoadBalancerARN: t.lbARN}
}

// TargetHealth returns the registrations of a target group, found by name or ARN, in the order of registration.
func (c *Cloud) TargetHealth(nameOrARN string) ([]Target, error) {
	t := c.findTargetGroup(nameOrARN)
	if t == nil {
		return nil, &NotFoundError{Kind: "target group", Name: nameOrARN}
	}
	out := make([]Target, 0, len(t.regs))
	odd := c.oddOnesOut(t)
	for _, r := range t.regs {
		state, reason := r.state, r.reason
		if t.fault && state != TargetDraining && state != TargetUnused {
			state, reason = TargetUnhealthy, ReasonInternalError
		}
		out = append(out, Target{
			ID: r.inst.id, Port: r.port, Zone: r.inst.zone, State: state, Reason: reason, Description: describe(reason),
			Anomalous: odd(r), Shifted: t.shift[r.inst.zone],
		})
	}
	return out, nil
}

func describe(reason string) string {
	switch reason {
	case ReasonTimeout:
		return "Request timed out"
	case ReasonMismatch:
		return "Health checks failed with these codes: [503]"
	case ReasonFailed:
		return "Health checks failed"
	case ReasonInitialChecking:
		return "Initial health checks in progress"
	case ReasonInternalError:
		return "Health checks failed due to an internal error"
	case ReasonInvalidState:
		return "Target is in the stopped state"
	case ReasonNotInUse:
		return "Target group is not configured to receive traffic from the load balancer"
	case ReasonDeregisterProgress:
		return "Target deregistration is in progress"
	default:
		return ""
	}
}

// oddOnesOut compares the requests of each target with those of its peers: needs three healthy targets, most of them serving.
func (c *Cloud) oddOnesOut(t *targetGroup) func(*registration) bool {
	healthy, serving := 0, 0
	for _, r := range t.regs {
		if r.state == TargetHealthy {
			healthy++
			if c.serves(r.inst) {
				serving++
			}
		}
	}
	telling := healthy >= 3 && 2*serving > healthy
	return func(r *registration) bool { return telling && r.state == TargetHealthy && !c.serves(r.inst) }
}

// SetZonalShift puts a zone of a target group under a zonal shift, or ends it: its targets get no requests.
func (c *Cloud) SetZonalShift(nameOrARN, zone string, on bool) error {
	t := c.findTargetGroup(nameOrARN)
	if t == nil {
		return &NotFoundError{Kind: "target group", Name: nameOrARN}
	}
	t.shift[zone] = on
	c.allChanged()
	return nil
}

// SetLoadBalancerFault makes a load balancer unable to tell the health of its targets, or ends that: [Cloud.TargetHealth] shows
// them unhealthy with Elb.InternalError. Requests still flow, and Auto Scaling marks nobody for it: AWS documents neither.
func (c *Cloud) SetLoadBalancerFault(nameOrARN string, on bool) error {
	t := c.findTargetGroup(nameOrARN)
	if t == nil {
		return &NotFoundError{Kind: "target group", Name: nameOrARN}
	}
	t.fault = on
	c.allChanged()
	return nil
}

// FailOpen says whether a target group sends requests to all its targets because fewer than its threshold are healthy. An empty
// target group is not open: there is nobody to send to. Source: target group health page.
func (c *Cloud) FailOpen(nameOrARN string) (bool, error) {
	t := c.findTargetGroup(nameOrARN)
	if t == nil {
		return false, &NotFoundError{Kind: "target group", Name: nameOrARN}
	}
	return t.open(), nil
}

// mayRoute says whether requests can go to a registration at all.
func (t *targetGroup) mayRoute(r *registration) bool {
	return r.state != TargetDraining && r.state != TargetUnused && (len(t.shift) == 0 || !t.shift[r.inst.zone])
}

// open says whether requests go to every registration because too few are healthy.
func (t *targetGroup) open() bool {
	all, healthy := 0, 0
	for _, r := range t.regs {
		if t.mayRoute(r) {
			all++
			if r.state == TargetHealthy {
				healthy++
			}
		}
	}
	return all > 0 && healthy < t.spec.MinHealthyTargets
}

// routes says whether a registration gets requests.
func (t *targetGroup) routes(r *registration, open bool) bool {
	return t.mayRoute(r) && (open || r.state == TargetHealthy)
}
