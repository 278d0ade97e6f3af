package template

import (
	"fmt"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

func (s *stack) group(id string, resource *node) {
	p := s.settings(audit.KindGroup, id, resource, "AutoScalingGroupName")
	g := audit.Group{Name: p.name, Where: s.where(id, resource), Tags: p.tags("Tags", "Key", "Value")}
	p.capacity(&g, "MinSize", "MaxSize", "DesiredCapacity")
	g.HealthCheckTypes = p.healthTypes("HealthCheckType")
	// CloudFormation makes a group without grace if none is stated. Source: CloudFormation reference, HealthCheckGracePeriod.
	g.GraceSeconds = p.number("HealthCheckGracePeriod", 0)
	g.WarmupSeconds = p.number("DefaultInstanceWarmup", audit.NotSet)
	g.MinHealthyPercent = p.number("InstanceMaintenancePolicy.MinHealthyPercentage", audit.NotSet)
	g.MaxHealthyPercent = p.number("InstanceMaintenancePolicy.MaxHealthyPercentage", audit.NotSet)
	g.CapacityRebalance = p.truth("CapacityRebalance", false)
	g.ProtectedFromScale = p.truth("NewInstancesProtectedFromScaleIn", false)
	g.BootSeconds = new(int)
	*g.BootSeconds = audit.NotSet
	s.zones(&g, p)
	s.attached(&g, p)
	if p.props.at("LoadBalancerNames").kind != absent {
		p.miss("LoadBalancerNames", "a Classic Load Balancer's health check is not judged")
	}
	p.prefix = id + ".UpdatePolicy."
	p.props, p.chosen = s.properties(resource.get("UpdatePolicy"))
	s.update(&g, p)
	s.account.Groups = append(s.account.Groups, g)
}

// attached lists target groups and VPC Lattice's. A type that is not stated is found out by AWS from the identifier.
func (s *stack) attached(g *audit.Group, p settings) {
	ids, known := s.identifiers(p, "TargetGroupARNs", typeTargetGroup)
	if known {
		g.TargetGroups = append([]string{}, ids...)
	}
	sources, known := p.items("TrafficSources")
	for i, source := range sources {
		one := p
		one.props, one.prefix = source, fmt.Sprintf("%sTrafficSources.%d.", p.prefix, i)
		want, lattice := typeTargetGroup, one.word("Type", "elbv2") == "vpc-lattice"
		if lattice {
			want = "AWS::VpcLattice::TargetGroup"
		}
		ids, _ := s.identifiers(one, "Identifier", want)
		if lattice {
			g.LatticeGroups = append(g.LatticeGroups, ids...)
		} else if g.TargetGroups != nil {
			g.TargetGroups = append(g.TargetGroups, ids...)
		}
	}
	if !known {
		g.TargetGroups = nil
	}
}

// zones counts the zones, or the subnets, of which two made in the same zone count once.
func (s *stack) zones(g *audit.Group, p settings) {
	count := func(n int) *int { return &n }
	if items, known := quiet(p).items("AvailabilityZones"); known && len(items) > 0 {
		p.told("AvailabilityZones")
		for _, v := range items {
			if v.kind == scalar {
				g.Zones = append(g.Zones, v.text)
			}
		}
		g.ZoneCount = count(len(items))
		return
	}
	stated := p.props.at("VPCZoneIdentifier")
	if stated.kind == absent || (stated.kind == list && len(stated.items) == 0) {
		for _, path := range []string{"AvailabilityZones", "AvailabilityZoneIds"} {
			if v := p.props.at(path); v.kind == unknown {
				p.miss(path, v.why)
				return
			}
		}
		p.miss("VPCZoneIdentifier", "the template states neither subnets nor zones")
		return
	}
	items, known := p.items("VPCZoneIdentifier")
	if !known {
		return
	}
	zones := map[string]bool{}
	for i, v := range items {
		switch {
		case v.kind != unknown:
			zones[s.zoneOf(v)] = true
		case v.conditional:
			p.miss(fmt.Sprintf("VPCZoneIdentifier.%d", i), v.why) // it may be no subnet at all
			return
		default:
			zones[fmt.Sprintf("one subnet, whichever it is, %d", i)] = true
		}
	}
	g.ZoneCount = count(len(zones))
}

// zoneOf names the zone of a subnet as far as the template tells: two subnets with the same words for their zone are in the same one.
func (s *stack) zoneOf(subnet value) string {
	if subnet.kind != reference {
		return "subnet " + subnet.text
	}
	n := s.resources.get(subnet.refs[0])
	if zone := n.get("Properties").get("AvailabilityZone"); typeOf(n) == typeSubnet && zone != nil {
		return "zone " + s.words(zone, 0)
	}
	return "subnet " + subnet.refs[0] + " " + subnet.attribute
}

// wordsMax bounds the words for a zone.
const wordsMax = 1000

// words is a node as text, the same for the same words.
func (s *stack) words(n *node, depth int) string {
	if s.work++; s.work > workMax || depth > depthMax || n == nil {
		return "?"
	}
	out := n.text
	for _, item := range n.items {
		out += " [" + s.words(item, depth+1) + "]"
	}
	for _, p := range n.pairs {
		out += " " + p.key + "=" + s.words(p.value, depth+1)
	}
	s.charge(out)
	if len(out) > wordsMax {
		return out[:wordsMax] // no zone has so long a name
	}
	return out
}

// update reads what an update leaves in service: an instance refresh by its percentage, a rolling update by its numbers. CloudFormation keeps at least MinInstancesInService (0 if not stated) and
// takes at most MaxBatchSize (1) at a time. Source: CloudFormation reference, UpdatePolicy attribute.
func (s *stack) update(g *audit.Group, p settings) {
	none := audit.NotSet
	if p.props.at("AutoScalingInstanceRefresh").kind != absent {
		g.RefreshMinHealthy = p.refresh(g, "AutoScalingInstanceRefresh.Preferences.MinHealthyPercentage")
		return
	}
	p.told("AutoScalingRollingUpdate")
	rolling := p.props.at("AutoScalingRollingUpdate")
	if rolling.kind == absent || p.props.at("AutoScalingReplacingUpdate.WillReplace").isText("true") {
		g.RefreshMinHealthy = &none
		return
	}
	least, batch := p.number("AutoScalingRollingUpdate.MinInstancesInService", 0), p.number("AutoScalingRollingUpdate.MaxBatchSize", 1)
	if least == nil || batch == nil || g.Desired == nil {
		return
	}
	if *g.Desired < 0 {
		return // no size of a group
	}
	if *g.Desired == 0 {
		g.RefreshMinHealthy = &none
		return
	}
	percent := max(*least, *g.Desired-*batch, 0) * 100 / *g.Desired
	percent = min(percent, 100)
	g.RefreshMinHealthy = &percent
}

func (s *stack) targetGroup(id string, resource *node) {
	p := s.settings(audit.KindTargetGroup, id, resource, "Name")
	t := audit.TargetGroup{ID: id, Where: s.where(id, resource), Tags: p.tags("Tags", "Key", "Value")}
	if p.name != id {
		t.Name = p.name
	}
	t.TargetType, t.Protocol = p.word("TargetType", "instance"), p.word("Protocol", "")
	p.check(&t, p.word("ProtocolVersion", ""), checkKeys{
		protocol: "HealthCheckProtocol", path: "HealthCheckPath", port: "HealthCheckPort", matcher: "Matcher.HttpCode", grpc: "Matcher.GrpcCode",
		interval: "HealthCheckIntervalSeconds", timeout: "HealthCheckTimeoutSeconds",
		healthy: "HealthyThresholdCount", unhealthy: "UnhealthyThresholdCount", traffic: "Protocol", target: "TargetType",
	})
	s.targetAttributes(&t, p)
	s.account.TargetGroups = append(s.account.TargetGroups, t)
}

// targetAttributes reads the list of attributes. An unknown list leaves every attribute unknown.
func (s *stack) targetAttributes(t *audit.TargetGroup, p settings) {
	stated, known := p.pairs("TargetGroupAttributes", "Key", "Value")
	if !known {
		return // what is unknown may be any of them
	}
	p.props, p.prefix, p.chosen = nested(stated), p.prefix+"TargetGroupAttributes.", nil
	const health = "target_group_health."
	p.attributes(t, attributeKeys{
		drain: "deregistration_delay.timeout_seconds", slowStart: "slow_start.duration_seconds",
		failOpenCount:   health + "unhealthy_state_routing.minimum_healthy_targets.count",
		failOpenPercent: health + "unhealthy_state_routing.minimum_healthy_targets.percentage",
		dnsCount:        health + "dns_failover.minimum_healthy_targets.count",
		dnsPercent:      health + "dns_failover.minimum_healthy_targets.percentage",
	})
}

func (s *stack) alarm(id string, resource *node) {
	p := s.settings(audit.KindAlarm, id, resource, "AlarmName")
	a := audit.Alarm{
		Name: p.name, Where: s.where(id, resource), Composite: typeOf(resource) == typeComposite,
		ActionsEnabled: p.truth("ActionsEnabled", true), Actions: []string{},
	}
	if !a.Composite {
		a.TreatMissing = p.word("TreatMissingData", "missing") // Source: CloudFormation reference, TreatMissingData
	}
	items, known := p.items("AlarmActions")
	if !known {
		items = []value{p.props.at("AlarmActions")}
	}
	a.Actions = actionsOf(items)
	s.account.Alarms = append(s.account.Alarms, a)
}

// actionsOf names what an alarm calls. An action that is stated and unknown is an action all the same.
func actionsOf(items []value) []string {
	out := []string{}
	for _, v := range items {
		switch v.kind {
		case scalar:
			out = append(out, v.text)
		case reference:
			out = append(out, v.refs...)
		case unknown:
			out = append(out, "unknown: "+v.why)
		case absent, list, mapping:
		}
	}
	return out
}
