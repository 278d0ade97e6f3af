package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Load reads and parses one file. Its error is Problems when the file breaks the format.
func Load(file string) (*Scenario, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return Parse(file, data)
}

// Parse parses one scenario. It reports every problem of the file together, as Problems; file is only used to name them.
func Parse(file string, data []byte) (*Scenario, error) {
	p := &parser{reader: reader{file: file}, s: &Scenario{File: file}, owner: map[string]string{}, ports: map[string][]string{}}
	root, problem := document(file, data)
	if problem != nil {
		return nil, Problems{*problem}
	}
	p.scenario(root)
	if len(p.problems) > 0 {
		return nil, p.problems.sorted()
	}
	return p.s, nil
}

// parser builds a Scenario from the nodes of one file.
type parser struct {
	reader
	s *Scenario
	// owner has the group of every member that a row has named so far; ports has each group's target groups.
	owner map[string]string
	ports map[string][]string
	// group is the group that is being read.
	group string
}

// document returns the one mapping of the file.
func document(file string, data []byte) (*yaml.Node, *Problem) {
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	err := dec.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		return nil, &Problem{file, 1, "file", "is empty, want a scenario"}
	case err != nil:
		return nil, syntaxProblem(file, err)
	case len(doc.Content) != 1:
		return nil, &Problem{file, 1, "file", "is empty, want a scenario"}
	}
	if err := dec.Decode(&more); err == nil {
		return nil, &Problem{file, more.Line, "file", "has a second document, want one scenario a file"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxProblem(file, err)
	}
	if root := doc.Content[0]; root.Kind != yaml.MappingNode {
		return nil, &Problem{file, root.Line, "file", "want a mapping, have " + kindOf(root)}
	}
	return doc.Content[0], nil
}

// syntaxProblem takes the line out of the YAML decoder's text, "yaml: line 3: what is wrong".
func syntaxProblem(file string, err error) *Problem {
	rule := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(rule, "line "); ok {
		number, what, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, rule = n, what
		}
	}
	return &Problem{file, line, "file", "is not YAML: " + rule}
}

// neverKeys are the calls that never can forbid.
func neverKeys() []string { return []string{"mark", "suspend", "resume", "restore", "page"} }

func (p *parser) scenario(root *yaml.Node) {
	m := p.object(root, "", "name", "about", "source", "policy", "sweep_interval", "group", "groups", "target_groups",
		"dependencies", "queue", "history", "fleet", "steps", "never")
	p.title(root, m)
	p.s.Interval = time.Minute
	if n := m["sweep_interval"]; n != nil {
		if d := p.age(n, "sweep_interval"); d != nil && *d == 0 {
			p.fail(n, "sweep_interval", "0s, want more")
		} else if d != nil {
			p.s.Interval = *d
		}
	}
	p.heads(root, m)
	if n := m["never"]; n != nil {
		p.s.Never = p.words(n, "never", neverKeys())
	}
	n := m["steps"]
	if n == nil {
		p.fail(root, "steps", "is missing")
		return
	}
	p.steps(n)
}

func (p *parser) title(root *yaml.Node, m map[string]*yaml.Node) {
	if n := m["name"]; n == nil {
		p.fail(root, "name", "is missing")
	} else if s, ok := p.text(n, "name"); ok {
		if !kebab(s) {
			p.fail(n, "name", strconv.Quote(s)+" is not kebab-case")
		}
		p.s.Name = s
	}
	if n := m["about"]; n != nil {
		p.s.About, _ = p.text(n, "about")
	}
	if n := m["source"]; n != nil {
		p.s.Source, _ = p.text(n, "source")
	}
}

// kebab says whether a name is lower-case words and numbers joined by single hyphens.
func kebab(s string) bool {
	for _, word := range strings.Split(s, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}

// heads reads what stands before the steps: one group, or several under groups.
func (p *parser) heads(root *yaml.Node, m map[string]*yaml.Node) {
	one, many := m["group"], m["groups"]
	switch {
	case one != nil && many != nil:
		p.fail(many, "groups", "stands beside group, want one of the two")
	case one == nil && many == nil:
		p.fail(root, "group", "is missing, want group or groups")
	case one != nil:
		p.head(one, m)
	default:
		if n := m["fleet"]; n != nil {
			p.fail(n, "fleet", "stands beside groups, want it under one of them")
		}
		p.manyHeads(many, m)
	}
}

func (p *parser) manyHeads(many *yaml.Node, m map[string]*yaml.Node) {
	groups := p.fields(many, "groups")
	if many.Kind == yaml.MappingNode && len(groups) == 0 {
		p.fail(many, "groups", "is empty, want at least one group")
	}
	for _, f := range groups {
		own := p.object(f.value, "groups."+f.key, headKeys()...)
		p.beginGroup(f.at, f.key)
		for _, key := range []string{"target_groups", "history"} {
			if own[key] == nil && m[key] != nil {
				own[key] = m[key]
			}
		}
		g := Group{Name: f.key}
		shared := map[string]*yaml.Node{"policy": m["policy"], "dependencies": m["dependencies"], "queue": m["queue"]}
		p.headParts(&g, shared)
		p.headParts(&g, own)
		p.finishHead(g, own)
	}
}

// headKeys are the keys that may stand under one group of groups.
func headKeys() []string {
	return []string{"group", "fleet", "target_groups", "history", "policy", "dependencies", "queue"}
}

// head reads the head of a file with one group, whose keys stand at the top.
func (p *parser) head(group *yaml.Node, m map[string]*yaml.Node) {
	name := ""
	if group.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(group.Content); i += 2 {
			if group.Content[i].Value == "name" {
				name, _ = p.text(group.Content[i+1], "group.name")
			}
		}
		if name == "" {
			p.fail(group, "group.name", "is missing")
		}
	}
	p.beginGroup(group, name)
	g := Group{Name: name}
	p.headParts(&g, m)
	p.finishHead(g, m)
}

func (p *parser) beginGroup(n *yaml.Node, name string) {
	p.group = name
	p.ports[name] = []string{name}
	if len(name) > 255 || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c > '~' || c == ':' }) {
		p.fail(n, "group.name", strconv.Quote(name)+" is no name of a group: at most 255 printable ASCII characters, no colon")
	}
}

// headParts reads the parts of a head that a step can change later, but for the fleet, which needs the target groups.
func (p *parser) headParts(g *Group, m map[string]*yaml.Node) {
	if n := m["group"]; n != nil {
		g.Start.Settings = append(g.Start.Settings, p.settings(n))
	}
	if n := m["policy"]; n != nil {
		g.Start.Policy = append(g.Start.Policy, p.policy(n)...)
	}
	if n := m["dependencies"]; n != nil {
		g.Start.Dependencies = append(g.Start.Dependencies, p.headDependencies(n)...)
	}
	if n := m["queue"]; n != nil {
		g.Start.Queue = append(g.Start.Queue, p.queue(n))
	}
}

func (p *parser) finishHead(g Group, m map[string]*yaml.Node) {
	g.TargetGroups = p.targetGroups(m["target_groups"])
	if n := m["fleet"]; n != nil {
		g.Start.Fleet = p.fleet(n, true)
	}
	g.History = p.history(m["history"])
	if slices.ContainsFunc(p.s.Groups, func(o Group) bool { return o.Name == g.Name }) {
		return // reported as a key that stands twice
	}
	p.s.Groups = append(p.s.Groups, g)
}
