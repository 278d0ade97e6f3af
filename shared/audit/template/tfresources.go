package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// read turns the planned resources into an account.
func (p *plan) read() {
	balancers := map[string][]string{}
	for _, r := range p.all {
		switch r.form {
		case "aws_autoscaling_group":
			p.group(r)
		case "aws_lb_target_group":
			p.targetGroup(r)
		case "aws_lb_listener":
			from := p.settings("account", r, "")
			balancers[r.address] = p.identifiers(quiet(from), "load_balancer_arn", "aws_lb")
			p.links.add(listener{"listener " + r.address, balancers[r.address], p.targets(from, "default_action")})
		case "aws_cloudwatch_metric_alarm", "aws_cloudwatch_composite_alarm":
			p.alarm(r)
		}
	}
	for _, r := range p.all {
		from := p.settings("account", r, "")
		switch r.form {
		case "aws_lb_listener_rule":
			var of []string
			for _, l := range p.identifiers(quiet(from), "listener_arn", "aws_lb_listener") {
				of = append(of, balancers[l]...)
			}
			p.links.add(listener{"rule " + r.address, of, p.targets(from, "action")})
		case "aws_autoscaling_attachment":
			p.attach(from, append(p.identifiers(quiet(from), "lb_target_group_arn", "aws_lb_target_group"), p.identifiers(quiet(from), "alb_target_group_arn", "aws_lb_target_group")...))
		case "aws_autoscaling_traffic_source_attachment":
			p.attach(from, p.identifiers(quiet(from), "traffic_source.identifier", "aws_lb_target_group"))
		}
	}
	p.links.fill(p.account)
}

func (p *plan) settings(kind string, r *planned, nameKey string) settings {
	out := settings{kind: kind, name: r.address, prefix: r.address + ".", props: r.props, unread: &p.account.Unread}
	if name := r.props.at(nameKey); nameKey != "" && name.kind == scalar && name.text != "" {
		out.name = name.text
	}
	return out
}

func (p *plan) where(r *planned) string { return p.account.Source + ": " + r.address }

// identifiers are addresses of resources of the wanted type, or ARNs of others. Nothing is found for an unknown value, which is listed.
func (p *plan) identifiers(from settings, path, want string) []string {
	items, _ := from.items(path)
	var out []string
	for i, v := range items {
		switch v.kind {
		case scalar:
			if address := p.byARN[v.text]; address != "" {
				out = append(out, address)
			} else if v.text != "" {
				out = append(out, v.text)
			}
		case reference:
			right := slices.DeleteFunc(slices.Clone(v.refs), func(a string) bool { return p.byAddress[a].form != want })
			if len(right) == 0 {
				from.miss(fmt.Sprintf("%s.%d", path, i), fmt.Sprintf("it comes from %s, which is no %s of the plan", strings.Join(v.refs, ", "), want))
			}
			out = append(out, right...)
		case unknown:
			from.miss(fmt.Sprintf("%s.%d", path, i), v.why)
		case absent, list, mapping:
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// targets are the target groups that a listener's or rule's actions send requests to.
func (p *plan) targets(from settings, path string) []string {
	from = quiet(from)
	actions, _ := from.items(path)
	var out []string
	for _, action := range actions {
		one := from
		one.props = action
		out = append(out, p.identifiers(one, "target_group_arn", "aws_lb_target_group")...)
		groups, _ := one.items("forward.target_group")
		for _, g := range groups {
			one.props = g
			out = append(out, p.identifiers(one, "arn", "aws_lb_target_group")...)
		}
	}
	return out
}

// attach adds target groups to a group by the name or address that an attachment states.
func (p *plan) attach(from settings, ids []string) {
	if len(ids) == 0 {
		return
	}
	v := from.props.at("autoscaling_group_name")
	for i := range p.account.Groups {
		g := &p.account.Groups[i]
		address := strings.TrimPrefix(g.Where, p.account.Source+": ")
		if (v.kind == scalar && v.text == g.Name) || (v.kind == reference && slices.Contains(v.refs, address)) {
			g.TargetGroups = slices.Compact(slices.Sorted(slices.Values(append(g.TargetGroups, ids...))))
			return
		}
	}
}

func (p *plan) group(r *planned) {
	s := p.settings(audit.KindGroup, r, "name")
	g := audit.Group{Name: s.name, Where: p.where(r), Tags: s.tags("tag", "key", "value")}
	maps.Copy(g.Tags, s.tags("tags", "key", "value")) // before version 4 of the provider
	s.capacity(&g, "min_size", "max_size", "desired_capacity")
	g.HealthCheckTypes = s.healthTypes("health_check_type")
	// Source of the defaults: Terraform AWS provider, resource aws_autoscaling_group.
	g.GraceSeconds = s.number("health_check_grace_period", 300)
	g.WarmupSeconds = s.number("default_instance_warmup", audit.NotSet)
	g.MinHealthyPercent = s.number("instance_maintenance_policy.min_healthy_percentage", audit.NotSet)
	g.MaxHealthyPercent = s.number("instance_maintenance_policy.max_healthy_percentage", audit.NotSet)
	g.CapacityRebalance = s.truth("capacity_rebalance", false)
	g.ProtectedFromScale = s.truth("protect_from_scale_in", false)
	for _, process := range s.words("suspended_processes") {
		g.Suspended = append(g.Suspended, audit.Suspension{Process: process, Reason: "stated in the plan"})
	}
	none := audit.NotSet
	g.BootSeconds, g.RefreshMinHealthy = &none, &none
	if s.props.at("instance_refresh").kind == mapping || len(s.props.at("instance_refresh").items) > 0 {
		g.RefreshMinHealthy = s.refresh(&g, "instance_refresh.preferences.min_healthy_percentage")
	}
	p.zones(&g, s)
	p.attached(&g, s)
	if v := s.props.at("load_balancers"); v.kind == unknown || len(v.items) > 0 {
		s.miss("load_balancers", "a Classic Load Balancer's health check is not judged")
	}
	p.account.Groups = append(p.account.Groups, g)
}

// attached lists the target groups of the group's own settings. Those of attachments come later.
func (p *plan) attached(g *audit.Group, s settings) {
	g.TargetGroups = append([]string{}, p.identifiers(s, "target_group_arns", "aws_lb_target_group")...)
	sources, _ := s.items("traffic_source")
	for i, source := range sources {
		one := s
		one.props, one.prefix = source, fmt.Sprintf("%straffic_source.%d.", s.prefix, i)
		if one.word("type", "elbv2") == "vpc-lattice" {
			g.LatticeGroups = append(g.LatticeGroups, p.identifiers(one, "identifier", "aws_vpclattice_target_group")...)
			continue
		}
		g.TargetGroups = append(g.TargetGroups, p.identifiers(one, "identifier", "aws_lb_target_group")...)
	}
	if len(g.TargetGroups) == 0 && s.props.at("target_group_arns").kind != absent && len(s.props.at("target_group_arns").items) == 0 && s.props.at("target_group_arns").kind != list {
		g.TargetGroups = nil
	}
}

// zones counts zones, or subnets. Two subnets may lie in one zone, which a plan tells for subnets of its own only.
func (p *plan) zones(g *audit.Group, s settings) {
	count := func(n int) { g.ZoneCount = &n }
	if v := s.props.at("availability_zones"); v.kind == list && len(v.items) > 0 {
		g.Zones = quiet(s).words("availability_zones")
		count(len(v.items))
		return
	}
	items, known := s.items("vpc_zone_identifier")
	if !known {
		return
	}
	zones := map[string]bool{}
	for _, v := range items {
		switch v.kind {
		case scalar:
			zones["subnet "+v.text] = true
		case reference:
			for _, a := range v.refs {
				if p.byAddress[a].form == "aws_subnet" {
					zones[p.zoneOf(a)] = true
				}
			}
		case absent, list, mapping, unknown:
		}
	}
	if len(zones) == 0 {
		s.miss("vpc_zone_identifier", "the plan does not tell which subnets")
		return
	}
	count(len(zones))
}

// zoneOf names the zone of a planned subnet, or the subnet itself when its zone is not known.
func (p *plan) zoneOf(address string) string {
	if zone := p.unknown["values of "+address].get("availability_zone").scalarText(); zone != "" {
		return "zone " + zone
	}
	return "subnet " + address
}

func (p *plan) targetGroup(r *planned) {
	s := p.settings(audit.KindTargetGroup, r, "name")
	t := audit.TargetGroup{ID: r.address, Where: p.where(r)}
	if s.name != r.address {
		t.Name = s.name
	}
	stated := s.props.at("tags")
	if stated.kind == unknown {
		s.miss("tags", stated.why)
	}
	t.Tags = s.tagsOf("tags", stated.pairs)
	t.TargetType, t.Protocol = s.word("target_type", "instance"), s.word("protocol", "")
	if h := s.props.at("health_check"); h.kind == absent || (h.kind == list && len(h.items) == 0) {
		s.props = s.props.without("health_check") // no block at all: AWS's defaults
	} else if h.kind != unknown {
		s.props = s.props.with("health_check", terraformCheck(h))
	}
	s.check(&t, s.word("protocol_version", ""), checkKeys{
		protocol: "health_check.protocol", path: "health_check.path", port: "health_check.port", matcher: "health_check.matcher", grpc: "health_check.matcher",
		interval: "health_check.interval", timeout: "health_check.timeout", healthy: "health_check.healthy_threshold",
		unhealthy: "health_check.unhealthy_threshold", traffic: "protocol", target: "target_type",
	})
	const health = "target_group_health."
	s.attributes(&t, attributeKeys{
		drain: "deregistration_delay", slowStart: "slow_start",
		failOpenCount:   health + "unhealthy_state_routing.minimum_healthy_targets_count",
		failOpenPercent: health + "unhealthy_state_routing.minimum_healthy_targets_percentage",
		dnsCount:        health + "dns_failover.minimum_healthy_targets_count",
		dnsPercent:      health + "dns_failover.minimum_healthy_targets_percentage",
	})
	p.account.TargetGroups = append(p.account.TargetGroups, t)
}

// terraformCheck adds the defaults of Terraform's health_check block, which differ from AWS's. Source: Terraform AWS provider, resource
// aws_lb_target_group, block health_check.
func terraformCheck(h value) value {
	if h.kind == list {
		h = h.items[0]
	}
	for key, def := range map[string]string{"healthy_threshold": "3", "unhealthy_threshold": "3", "interval": "30", "protocol": "HTTP"} {
		if h.get(key).kind == absent {
			h = h.with(key, textOf(def))
		}
	}
	return h
}

func (p *plan) alarm(r *planned) {
	s := p.settings(audit.KindAlarm, r, "alarm_name")
	a := audit.Alarm{Name: s.name, Where: p.where(r), ActionsEnabled: s.truth("actions_enabled", true), Actions: []string{}}
	if r.form == "aws_cloudwatch_composite_alarm" {
		a.Composite = true
	} else {
		a.TreatMissing = s.word("treat_missing_data", "missing")
	}
	items, known := s.items("alarm_actions")
	if !known {
		items = []value{s.props.at("alarm_actions")}
	}
	a.Actions = actionsOf(items)
	p.account.Alarms = append(p.account.Alarms, a)
}
