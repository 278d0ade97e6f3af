package template

import (
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// traffic are settings of a target group by which AWS's defaults differ.
type traffic struct{ target, protocol, version, check string }

// checkDefaults are the health check's settings where nothing is stated.
type checkDefaults struct {
	path, port, matcher                   string
	interval, timeout, healthy, unhealthy int
}

// layer4 says whether the traffic's protocol is one of Network Load Balancers.
func (t traffic) layer4() bool {
	return slices.Contains([]string{"TCP", "TLS", "UDP", "TCP_UDP", "QUIC", "TCP_QUIC"}, t.protocol)
}

// checkProtocol is HTTP for Application Load Balancers and TCP for the others. Source: Elastic Load Balancing API reference, CreateTargetGroup.
func (t traffic) checkProtocol() string {
	if t.layer4() || t.protocol == "GENEVE" {
		return "TCP"
	}
	return "HTTP"
}

// defaults follow the Elastic Load Balancing user guides, pages "Health checks for target groups" of Application, Network and Gateway Load
// Balancers. Where the guide and the API reference differ on the timeout (5 s and 6 s), the guide's number is taken.
func (t traffic) defaults() checkDefaults {
	d := checkDefaults{port: "traffic-port", interval: 30, timeout: 5, healthy: 5, unhealthy: 2}
	web := t.check == "HTTP" || t.check == "HTTPS"
	if web {
		d.path, d.matcher = "/", "200"
	}
	switch {
	case t.target == "lambda":
		d.interval, d.timeout, d.unhealthy = 35, 30, 5
	case t.protocol == "GENEVE":
		d.interval, d.port = 10, "80"
	case t.layer4():
		d.timeout = 10
		if web {
			d.matcher = "200-399"
		}
		if t.check == "HTTP" {
			d.timeout = 6
		}
	case t.version == "GRPC":
		d.path, d.matcher = "/AWS.ALB/healthcheck", "12"
	}
	return d
}

// checkKeys are the paths of the health check's settings, and of those on which its defaults hang.
type checkKeys struct {
	protocol, path, port, matcher, grpc, interval, timeout, healthy, unhealthy string
	traffic, target                                                            string
}

// check fills the health check. Defaults that hang on a setting which is unknown are unknown too.
func (s settings) check(t *audit.TargetGroup, version string, keys checkKeys) {
	kind := traffic{target: t.TargetType, protocol: t.Protocol, version: version}
	vague := s.props.at(keys.target).kind == unknown || s.props.at(keys.traffic).kind == unknown
	if !vague || s.props.at(keys.protocol).kind != absent {
		t.CheckProtocol = s.word(keys.protocol, kind.checkProtocol())
	}
	vague = vague || t.CheckProtocol == ""
	kind.check = t.CheckProtocol
	d := kind.defaults()
	open := func(path string) bool {
		unstated := vague && s.props.at(path).kind == absent
		if unstated {
			s.miss(path, "it is not stated, and its default hangs on a setting that is unknown")
		}
		return unstated
	}
	text := func(path, def string) *string {
		if open(path) {
			return nil
		}
		return s.text(path, def)
	}
	number := func(path string, def int) *int {
		if open(path) {
			return nil
		}
		return s.number(path, def)
	}
	if kind.version == "GRPC" {
		keys.matcher = keys.grpc
	}
	t.Path, t.Port, t.Matcher = text(keys.path, d.path), text(keys.port, d.port), text(keys.matcher, d.matcher)
	t.IntervalSeconds, t.TimeoutSeconds = number(keys.interval, d.interval), number(keys.timeout, d.timeout)
	t.HealthyCount, t.UnhealthyCount = number(keys.healthy, d.healthy), number(keys.unhealthy, d.unhealthy)
}

// nested turns attributes such as a.b.c into mappings inside each other, so that one path leads to each.
func nested(pairs map[string]value) value {
	out := value{kind: mapping, pairs: map[string]value{}}
	for key, v := range pairs {
		at := out
		steps := strings.Split(key, ".")
		for _, step := range steps[:len(steps)-1] {
			next := at.pairs[step]
			if next.kind != mapping {
				next = value{kind: mapping, pairs: map[string]value{}}
				at.pairs[step] = next
			}
			at = next
		}
		at.pairs[steps[len(steps)-1]] = v
	}
	return out
}

// attributes fills what the target group's attributes say. Source of the defaults: Elastic Load Balancing user guide, target group attributes.
func (s settings) attributes(t *audit.TargetGroup, keys attributeKeys) {
	t.DrainSeconds = s.number(keys.drain, 300)
	t.SlowStartSeconds = s.number(keys.slowStart, 0)
	t.FailOpenCount = s.numberOrOff(keys.failOpenCount, 1)
	t.FailOpenPercent = s.numberOrOff(keys.failOpenPercent, audit.NotSet)
	t.DNSCount = s.numberOrOff(keys.dnsCount, 1)
	t.DNSPercent = s.numberOrOff(keys.dnsPercent, audit.NotSet)
}

// attributeKeys are the paths of the attributes.
type attributeKeys struct{ drain, slowStart, failOpenCount, failOpenPercent, dnsCount, dnsPercent string }
