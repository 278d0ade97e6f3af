package template

import (
	"fmt"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// Types of resources that are read.
const (
	typeGroup       = "AWS::AutoScaling::AutoScalingGroup"
	typeTargetGroup = "AWS::ElasticLoadBalancingV2::TargetGroup"
	typeListener    = "AWS::ElasticLoadBalancingV2::Listener"
	typeRule        = "AWS::ElasticLoadBalancingV2::ListenerRule"
	typeAlarm       = "AWS::CloudWatch::Alarm"
	typeComposite   = "AWS::CloudWatch::CompositeAlarm"
	typeStack       = "AWS::CloudFormation::Stack"
	typeSubnet      = "AWS::EC2::Subnet"
)

// stack is a CloudFormation template being read.
type stack struct {
	*evaluator
	account *audit.Account
	links   *links
	// balancer are the load balancers of listeners, by logical id.
	balancer map[string][]string
}

func readCloudFormation(a *audit.Account, root *node) error {
	s := &stack{evaluator: newEvaluator(root), account: a, links: newLinks(), balancer: map[string][]string{}}
	seen := map[string]bool{}
	var rules []string
	for i := len(s.resources.pairs) - 1; i >= 0; i-- { // of a resource that stands twice the last one counts
		p := s.resources.pairs[i]
		if seen[p.key] {
			p.value = nil
		}
		seen[p.key] = true
		s.resources.pairs[i] = p
	}
	for _, p := range s.resources.pairs {
		if p.value == nil || !s.exists(p.key, p.value) {
			continue
		}
		switch typeOf(p.value) {
		case typeGroup:
			s.group(p.key, p.value)
		case typeTargetGroup:
			s.targetGroup(p.key, p.value)
		case typeListener:
			s.listener(p.key, p.value)
		case typeRule:
			rules = append(rules, p.key)
		case typeAlarm, typeComposite:
			s.alarm(p.key, p.value)
		case typeStack:
			s.unread(typeStack, p.key, "it is a template of its own: audit that too")
		}
	}
	for _, id := range rules { // after the listeners, whose load balancers they share
		s.rule(id, s.resources.get(id))
	}
	s.links.fill(a)
	return s.err()
}

func (s *stack) unread(what, name, why string) {
	s.account.Unread = append(s.account.Unread, audit.Unread{Kind: "account", Name: name, What: what, Why: why})
}

func typeOf(resource *node) string {
	if t := resource.get("Type"); t != nil {
		return t.text
	}
	return ""
}

// exists says whether a resource will be made. One whose condition is unknown may be, and is judged.
func (s *stack) exists(id string, resource *node) bool {
	if strings.HasPrefix(id, "Fn::") {
		s.unread(id, "", "it makes resources at deployment")
		return false
	}
	if id == "" {
		s.unread("a resource", "", "it has no logical id")
		return false
	}
	c := resource.get("Condition")
	if c == nil || !s.condition(c.text).isText("false") {
		return true
	}
	if by := s.byDefaults(c.text); len(by) > 0 {
		s.notMade(id, resource, strings.Join(by, ", "))
	}
	return false
}

// notMade names a resource that is there only where whoever deploys chooses other parameters than the defaults.
func (s *stack) notMade(id string, resource *node, parameters string) {
	of := map[string][2]string{
		typeGroup: {audit.KindGroup, "AutoScalingGroupName"}, typeTargetGroup: {audit.KindTargetGroup, "Name"},
		typeAlarm: {audit.KindAlarm, "AlarmName"}, typeComposite: {audit.KindAlarm, "AlarmName"}, typeStack: {"account", ""},
	}[typeOf(resource)]
	if of[0] == "" {
		return
	}
	name := s.settings(of[0], id, resource, of[1]).name
	s.account.Unread = append(s.account.Unread, audit.Unread{
		Kind: of[0], Name: name, What: id + ".Condition", Why: "not there at the default of parameter " + parameters + ", and so not judged: audit it with the other choice as the default too",
	})
}

// where is the place of a resource, as editors and continuous integration read it.
func (s *stack) where(id string, resource *node) string {
	return fmt.Sprintf("%s:%d: %s", s.account.Source, resource.line, id)
}

// settings are a resource's properties. Its name is the literal one, or the logical id.
func (s *stack) settings(kind, id string, resource *node, nameKey string) settings {
	props, marks := s.properties(resource.get("Properties"))
	out := settings{kind: kind, name: id, prefix: id + ".Properties.", props: props, chosen: marks, unread: &s.account.Unread}
	if name := props.at(nameKey); name.kind == scalar && name.text != "" {
		out.name = name.text
	}
	return out
}

// identifiers are the ids that target group values name: logical ids of this template, or ARNs.
func (s *stack) identifiers(from settings, path string, want string) (ids []string, known bool) {
	items, known := from.items(path)
	for i, v := range items {
		id, why := s.identifier(v, want)
		if why != "" {
			from.miss(fmt.Sprintf("%s.%d", path, i), why)
		}
		if id != "" {
			ids = append(ids, id)
		}
	}
	return ids, known && len(ids) >= min(1, len(items))
}

func (s *stack) identifier(v value, want string) (id, why string) {
	switch v.kind {
	case scalar:
		return v.text, ""
	case reference:
		if typeOf(s.resources.get(v.refs[0])) == want {
			return v.refs[0], ""
		}
		return "", fmt.Sprintf("it is %s of %s, which is no %s of the template", attributeName(v), v.refs[0], want)
	case unknown:
		return "", v.why
	case list, mapping:
		return "", "it is a list or an object, want one value"
	case absent:
	}
	return "", ""
}

func attributeName(v value) string {
	if v.attribute == "" {
		return "the reference"
	}
	return v.attribute
}

func (s *stack) listener(id string, resource *node) {
	from := s.settings("account", id, resource, "")
	balancers, _ := s.identifiers(quiet(from), "LoadBalancerArn", "AWS::ElasticLoadBalancingV2::LoadBalancer")
	s.balancer[id] = balancers
	s.links.add(listener{"listener " + id, balancers, s.targets(from, "DefaultActions")})
}

func (s *stack) rule(id string, resource *node) {
	from := s.settings("account", id, resource, "")
	var balancers []string
	if listeners, _ := s.identifiers(quiet(from), "ListenerArn", typeListener); len(listeners) == 1 {
		balancers = s.balancer[listeners[0]]
	}
	s.links.add(listener{"rule " + id, balancers, s.targets(from, "Actions")})
}

// quiet is settings whose unknown values are no news: links that cannot be followed are told once, by target group.
func quiet(s settings) settings {
	s.unread, s.chosen = &[]audit.Unread{}, nil
	return s
}

// targets are the target groups that a listener's actions send requests to.
func (s *stack) targets(from settings, path string) []string {
	from = quiet(from)
	actions, _ := from.items(path)
	var out []string
	for _, action := range actions {
		found := []value{action.at("TargetGroupArn")}
		for _, group := range action.at("ForwardConfig.TargetGroups").items {
			found = append(found, group.at("TargetGroupArn"))
		}
		for _, v := range found {
			if id, _ := s.identifier(v, typeTargetGroup); id != "" {
				out = append(out, id)
			}
		}
	}
	return out
}
