package template

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// settings reads the properties of one resource and lists what stays unknown.
type settings struct {
	kind, name string
	// prefix stands before a property's path in the list of what is unread.
	prefix string
	props  value
	unread *[]audit.Unread
	// chosen are the properties that hang on defaults and were not told yet.
	chosen chosen
}

func (s settings) miss(path, why string) {
	u := audit.Unread{Kind: s.kind, Name: s.name, What: s.prefix + path, Why: why}
	if top, _, _ := strings.Cut(path, "."); strings.EqualFold(top, audit.PropertyTags) && s.kind == audit.KindTargetGroup {
		u.Property = audit.PropertyTags
	}
	*s.unread = append(*s.unread, u)
}

// told lists a property that is looked at, and that other choices of parameters would change, once.
func (s settings) told(path string) {
	top, _, _ := strings.Cut(path, ".")
	for _, key := range []string{"", top} {
		if by := s.chosen[key]; len(by) > 0 {
			*s.unread = append(*s.unread, audit.Unread{Kind: s.kind, Name: s.name, What: strings.TrimSuffix(s.prefix+key, "."), Why: audit.WhyDefault + strings.Join(by, ", ")})
			delete(s.chosen, key)
		}
	}
}

// text is a property's text, the default when it is not stated, nil when it is unknown.
func (s settings) text(path, def string) *string {
	s.told(path)
	switch v := s.props.at(path); v.kind {
	case absent:
		return &def
	case scalar:
		return &v.text
	case unknown:
		s.miss(path, v.why)
	case reference:
		s.miss(path, "it is a value of "+strings.Join(v.refs, ", ")+", which AWS makes at deployment")
	case list, mapping:
		s.miss(path, "it is a list or an object, want one value")
	}
	return nil
}

// word is text for a setting that has no pointer: "" is unknown.
func (s settings) word(path, def string) string {
	if p := s.text(path, def); p != nil {
		return *p
	}
	return ""
}

// number is a property's whole number. An empty text counts as not stated, which templates use for "the default, please".
func (s settings) number(path string, def int) *int {
	p := s.text(path, "")
	if p == nil {
		return nil
	}
	if *p == "" {
		return &def
	}
	n, ok := whole(*p)
	if !ok {
		s.miss(path, fmt.Sprintf("%q is no whole number", *p))
		return nil
	}
	if n < audit.NotSet || n > audit.NumberMax {
		s.miss(path, fmt.Sprintf("%d is out of range, want 0 to %d", n, audit.NumberMax))
		return nil
	}
	return &n
}

// numberOrOff is a number where "off" and "" say that it is not set.
func (s settings) numberOrOff(path string, def int) *int {
	if s.props.at(path).isText("off") {
		off := audit.NotSet
		return &off
	}
	return s.number(path, def)
}

func (s settings) truth(path string, def bool) *bool {
	p := s.text(path, "")
	if p == nil {
		return nil
	}
	switch strings.ToLower(*p) {
	case "":
		return &def
	case "true", "yes", "1":
		v := true
		return &v
	case "false", "no", "0":
		v := false
		return &v
	}
	s.miss(path, fmt.Sprintf("%q is neither true nor false", *p))
	return nil
}

// items are the values of a list property. One value without a list counts as a list of one; known is false when the whole is unknown.
func (s settings) items(path string) (items []value, known bool) {
	s.told(path)
	switch v := s.props.at(path); v.kind {
	case absent:
		return nil, true
	case list:
		return v.items, true
	case scalar, reference, mapping:
		return []value{v}, true
	case unknown:
		s.miss(path, v.why)
	}
	return nil, false
}

// words are the texts of a list property. What is unknown among them is listed and left out.
func (s settings) words(path string) []string {
	items, _ := s.items(path)
	var out []string
	for i, v := range items {
		switch v.kind {
		case scalar:
			out = append(out, v.text)
		case unknown:
			s.miss(fmt.Sprintf("%s.%d", path, i), v.why)
		case absent, list, mapping, reference:
		}
	}
	return out
}

// pairs makes a map of a list of objects with a key and a value, such as tags and attributes. Both names are those of the template's kind.
// An entry whose key is unknown is listed; known is false when there is one, because it may be any.
func (s settings) pairs(path, key, val string) (out map[string]value, known bool) {
	items, known := s.items(path)
	out = map[string]value{}
	for i, item := range items {
		switch k := item.at(key); k.kind {
		case scalar:
			out[k.text] = item.at(val)
		case unknown:
			s.miss(fmt.Sprintf("%s.%d", path, i), k.why)
			known = false
		case absent, list, mapping, reference:
		}
	}
	return out, known
}

// tags are the tags of a list of objects.
func (s settings) tags(path, key, val string) map[string]string {
	pairs, _ := s.pairs(path, key, val)
	return s.tagsOf(path, pairs)
}

// tagsOf keeps the tags whose value is known. Of the others only the service's is looked at by a rule, and so listed.
func (s settings) tagsOf(path string, pairs map[string]value) map[string]string {
	out := map[string]string{}
	for k, v := range pairs {
		switch {
		case v.kind == scalar:
			out[k] = v.text
		case k == audit.TagService && v.kind != absent:
			s.miss(path, cmp.Or(v.why, "the value of "+k+" is known at deployment only"))
		}
	}
	return out
}

// healthTypes splits the comma-separated health check types. EC2 is always on. Source: Auto Scaling API reference, HealthCheckType.
func (s settings) healthTypes(path string) []string {
	p := s.text(path, "EC2")
	if p == nil {
		return nil
	}
	types := []string{"EC2"}
	for t := range strings.SplitSeq(*p, ",") {
		if t = strings.ToUpper(strings.TrimSpace(t)); t != "" {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// capacity fills the sizes. Desired is the minimum where nothing states it. Source: CloudFormation reference, DesiredCapacity.
func (s settings) capacity(g *audit.Group, least, most, desired string) {
	g.Min, g.Max = s.required(least), s.required(most)
	if v := s.props.at(desired); v.kind == absent || v.isText("") {
		g.Desired = g.Min
		return
	}
	g.Desired = s.number(desired, 0)
}

// refresh is what an instance refresh keeps: where nothing is stated the maintenance policy's percentage, and without one 90. Source: Auto
// Scaling API reference, RefreshPreferences, MinHealthyPercentage.
func (s settings) refresh(g *audit.Group, path string) *int {
	if v := s.props.at(path); v.kind != absent && !v.isText("") {
		return s.number(path, 0)
	}
	if g.MinHealthyPercent != nil && *g.MinHealthyPercent == audit.NotSet {
		return s.number(path, 90)
	}
	return g.MinHealthyPercent
}

// required is a number that the template must state.
func (s settings) required(path string) *int {
	if s.props.at(path).kind == absent {
		s.miss(path, "the template does not state it")
		return nil
	}
	return s.number(path, 0)
}
