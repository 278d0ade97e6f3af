package operator

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// revise makes the new document and refuses one that a sweep would call invalid. A layer that was invalid before and becomes stricter, with
// nothing new wrong in it, is no such case: a sweep obeys a stricter mode of an invalid layer, and a person must be able to stop a group
// whatever else is wrong with it. Then stale are the problems that stay.
func (f *file) revise(layer string, seen Parameter, settings []Setting) (next []byte, changed []string, stale []guard.Problem, err error) {
	var content []byte
	if seen.Version != 0 {
		content = []byte(seen.Value)
	}
	next, changed, err = edit(content, settings)
	if err != nil {
		return nil, nil, nil, refuse("the present content of %s %v, so its other keys cannot be kept; write it anew with aws ssm put-parameter%s", layer, err, f.anew(layer, settings))
	}
	problems := problemsOf(f.with(layer, Parameter{Value: string(next), Version: 1}), layer)
	if len(problems) == 0 {
		return next, changed, nil, nil
	}
	old, fresh := split(problems, problemsOf(f.with(layer, seen), layer))
	if len(fresh) == 0 && f.stricter(layer, next, settings) {
		return next, changed, old, nil
	}
	text := layer + " would be invalid, nothing was written:\n  " + strings.Join(told(problems), "\n  ")
	if len(old) > 0 {
		text += "\nbad before this change: " + strings.Join(labels(old), ", ") + f.remedy(old) + "; a stricter mode alone is taken all the same"
	}
	return nil, nil, nil, refuse("%s", text)
}

// split parts problems into those that were there before and the others.
func split(problems, before []guard.Problem) (old, fresh []guard.Problem) {
	for _, p := range problems {
		if slices.Contains(before, p) {
			old = append(old, p)
		} else {
			fresh = append(fresh, p)
		}
	}
	return old, fresh
}

// stricter says that settings ask for observe or off, and that with the content a sweep obeys just that: nothing stricter is in force now.
// The switch is left out, because it may be turned at any time.
func (f *file) stricter(layer string, content []byte, settings []Setting) bool {
	var mode string
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Key == "mode" })
	if i < 0 || json.Unmarshal(settings[i].Raw, &mode) != nil || mode != guard.ModeObserve && mode != guard.ModeOff {
		return false
	}
	open := guard.Switch{Value: guard.ModeAct, Found: true}
	now := guard.Resolve(f.layers, open).Policy.Mode
	then := guard.Resolve(f.layersWith(layer, Parameter{Value: string(content), Version: 1}), open).Policy.Mode
	return then == mode && (mode == guard.ModeOff || now != guard.ModeOff)
}

// remedy says how to drop keys that were bad already, "" if no key is to blame.
func (f *file) remedy(old []guard.Problem) string {
	var drop []string
	for _, p := range old {
		if p.Key != "" {
			drop = append(drop, quoted(p.Key)+"=")
		}
	}
	if len(drop) == 0 {
		return ""
	}
	return "; to drop that: holdfast tune " + quoted(f.group.Name) + " " + strings.Join(drop, " ")
}

// anew is the command that writes a stricter mode in place of content that is no document, with the last good content if the ledger has
// it; "" if the settings ask for no stricter mode.
func (f *file) anew(layer string, settings []Setting) string {
	mode := slices.DeleteFunc(slices.Clone(settings), func(s Setting) bool { return s.Key != "mode" })
	i := slices.IndexFunc(f.layers, func(l guard.Layer) bool { return l.Name == layer })
	if i < 0 {
		return ""
	}
	kept := "the last good content"
	next, _, err := edit(f.layers[i].LastGood, mode)
	if f.layers[i].LastGood == nil {
		err = errors.New("none is known")
	}
	if err != nil || len(problemsOf(f.with(layer, Parameter{Value: string(next), Version: 1}), layer)) > 0 {
		kept = "nothing else: no last good content is known"
		if next, _, err = edit(nil, mode); err != nil {
			return ""
		}
	}
	if !f.stricter(layer, next, mode) {
		return ""
	}
	return "; this writes the mode and " + kept + ":\n  aws ssm put-parameter --overwrite --name " + layer + " --value " + quoted(string(next))
}

// told are problems with their rules, for a person who has just given the values.
func told(problems []guard.Problem) []string {
	var rules []string
	for _, p := range problems {
		rule := bare(p.Rule)
		if p.Key != "" {
			rule = p.Key + ": " + rule
		}
		if e := example(p.Key); e != "" {
			rule += "; such as " + e
		}
		rules = append(rules, rule)
	}
	return rules
}

// labels are the keys of problems; a problem of no single key has its rule instead.
func labels(problems []guard.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, cmp.Or(p.Key, bare(p.Rule)))
	}
	return out
}
