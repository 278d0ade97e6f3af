package template

import (
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// plan is a Terraform plan, or the state of one that was applied, being read.
type plan struct {
	account *audit.Account
	links   *links
	// all are the planned resources in the order of the text.
	all []*planned
	// byAddress and byARN find one, the latter only when the ARN is known already.
	byAddress map[string]*planned
	byARN     map[string]string
	// byName lists the resources of a module by type and name, sources those of the source.
	byName  map[string][]*planned
	sources map[*node]map[string]*node
	// modules are the addresses of all module instances, "" the root.
	modules []string
	config  *node
	unknown map[string]*node
	work    int
}

// planned is one resource of the plan.
type planned struct {
	address, module, form, name, index string
	props                              value
}

func (r *planned) key() string { return r.module + " " + r.form + " " + r.name }

func readTerraform(a *audit.Account, root *node) error {
	p := &plan{
		account: a, links: newLinks(), byAddress: map[string]*planned{}, byARN: map[string]string{}, unknown: map[string]*node{},
		byName: map[string][]*planned{}, sources: map[*node]map[string]*node{},
		config: root.get("configuration").get("root_module"),
	}
	if changes := root.get("resource_changes"); changes != nil {
		for _, c := range changes.items {
			p.unknown[c.get("address").scalarText()] = c.get("change").get("after_unknown")
		}
	}
	if region := root.get("configuration").get("provider_config").get("aws").get("expressions").get("region").get("constant_value"); region != nil {
		a.Region = region.text
	}
	values := root.get("planned_values")
	if values == nil {
		values = root.get("values")
	}
	p.module("", values.get("root_module"))
	for _, r := range p.all { // after all are known, because a value may refer to any other resource
		p.fill(r)
	}
	p.read()
	if p.work > workMax {
		return errWork
	}
	return nil
}

// scalarText is the text of a node that may be missing.
func (n *node) scalarText() string {
	if n == nil {
		return ""
	}
	return n.text
}

// module collects the resources of a module instance and of those inside.
func (p *plan) module(address string, m *node) {
	p.modules = append(p.modules, address)
	if resources := m.get("resources"); resources != nil {
		for _, n := range resources.items {
			r := &planned{
				address: n.get("address").scalarText(), module: address, form: plainType(n.get("type").scalarText()), name: n.get("name").scalarText(),
				index: n.get("index").scalarText(),
			}
			if n.get("mode").scalarText() == "data" || r.address == "" || p.byAddress[r.address] != nil {
				continue
			}
			r.props = value{kind: mapping}
			p.byName[r.key()] = append(p.byName[r.key()], r)
			p.all = append(p.all, r)
			p.byAddress[r.address] = r
			if arn := n.get("values").get("arn").scalarText(); arn != "" {
				p.byARN[arn] = r.address
			}
			p.unknown["values of "+r.address] = n.get("values")
		}
	}
	if children := m.get("child_modules"); children != nil {
		for _, child := range children.items {
			p.module(child.get("address").scalarText(), child)
		}
	}
}

// plainType drops the older names of load balancer resources. Source: Terraform AWS provider, resource aws_lb, "aws_alb is known as aws_lb".
func plainType(form string) string {
	if rest, ok := strings.CutPrefix(form, "aws_alb"); ok {
		return "aws_lb" + rest
	}
	return form
}

// wanted says whether a resource's values are looked at.
func wanted(form string) bool {
	switch form {
	case "aws_autoscaling_group", "aws_lb_target_group", "aws_lb_listener", "aws_lb_listener_rule", "aws_autoscaling_attachment",
		"aws_autoscaling_traffic_source_attachment", "aws_cloudwatch_metric_alarm", "aws_cloudwatch_composite_alarm":
		return true
	}
	return false
}

// fill computes the values of one resource from what is planned, what is not known yet and what the source says.
func (p *plan) fill(r *planned) {
	if !wanted(r.form) {
		return
	}
	source := p.sourceOf(r)
	r.props = p.merge(origin{resource: r, source: source}, p.unknown["values of "+r.address], p.unknown[r.address], source.get("expressions"))
	if r.props.kind != mapping {
		r.props = value{kind: mapping, pairs: map[string]value{}}
	}
}

// origin is whose value is merged. Without a source nothing can be said about what a person stated.
type origin struct {
	resource *planned
	source   *node
	// dynamic says that the source does not show the block, because a dynamic block makes it.
	dynamic bool
}

// merge joins a planned value with the marks of what is not known yet. What is not known and not stated in the source is left to AWS, and
// so is absent here, which brings AWS's default.
func (p *plan) merge(o origin, val, unk, expr *node) value {
	if p.work++; p.work > workMax {
		return unknownFor(errWork.Error())
	}
	if unk != nil && unk.form == formScalar && unk.text == "true" {
		return p.later(o, expr)
	}
	if val == nil || val.form == formNull {
		return value{}
	}
	switch val.form {
	case formScalar:
		return textOf(val.text)
	case formList:
		out := value{kind: list}
		blocks := expr != nil && expr.form == formList
		if (blocks && len(expr.items) != len(val.items)) || (expr == nil && len(val.items) > 0 && val.items[0].form == formMapping) {
			o.dynamic, blocks, expr = true, false, nil
		}
		for i, item := range val.items {
			inner, mark := expr, itemOf(unk, i)
			if blocks {
				inner = expr.items[i]
			}
			out.items = append(out.items, p.merge(o, item, mark, inner))
		}
		return out
	case formMapping:
		return p.mergePairs(o, val, unk, expr)
	case formNull:
	}
	return value{}
}

func itemOf(n *node, i int) *node {
	if n == nil || i >= len(n.items) {
		return nil
	}
	return n.items[i]
}

func (p *plan) mergePairs(o origin, val, unk, expr *node) value {
	out := value{kind: mapping, pairs: map[string]value{}}
	keys := slices.Clone(val.pairs)
	if unk != nil {
		keys = append(keys, unk.pairs...)
	}
	for _, pair := range keys {
		inner := expr
		if !isExpression(expr) {
			inner = expr.get(pair.key)
		}
		if v := p.merge(o, val.get(pair.key), unk.get(pair.key), inner); v.kind != absent {
			out.pairs[pair.key] = v
		}
	}
	return out
}

// isExpression tells an attribute's expression from a block with expressions in it.
func isExpression(n *node) bool { return n.get("references") != nil || n.get("constant_value") != nil }

// later is a value that is known after apply only.
func (p *plan) later(o origin, expr *node) value {
	if expr == nil {
		if o.source == nil || o.dynamic {
			return unknownFor("it is known after apply")
		}
		return value{}
	}
	var names []string
	if list := expr.get("references"); list != nil {
		for _, item := range list.items {
			names = append(names, item.text)
		}
	}
	if refs := p.resolve(scope{module: o.resource.module, source: o.source}, names); len(refs) > 0 {
		return value{kind: reference, refs: refs}
	}
	if len(names) == 0 {
		return unknownFor("it is known after apply")
	}
	return unknownFor("it is known after apply: it hangs on " + names[0])
}
