package guard

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The layers of a policy, lowest first. The two of a group end in its escaped name.
const (
	LayerBuiltIn  = "built-in"
	LayerDefaults = "/holdfast/defaults"
	LayerDeclared = "/holdfast/declared/"
	LayerGroups   = "/holdfast/groups/"
	// ModeParameter is the one big switch.
	ModeParameter = "/holdfast/mode"
	// ModePattern is the pattern with which the switch is created, so that SSM refuses every other value. Anybody who may write the
	// switch may change its pattern too: a value is judged again when it is read.
	ModePattern = "^(" + ModeAct + "|" + ModeObserve + "|" + ModeOff + ")$"
)

// EscapeName writes a group's name so that it can end a parameter name: a byte outside A-Z a-z 0-9 . - becomes _HH.
func EscapeName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '.', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02X", c)
		}
	}
	return b.String()
}

// Layer is one layer of a policy as read.
type Layer struct {
	Name string
	// Raw is the content; nil says that there is no such parameter.
	Raw []byte
	// ReadError says why it could not be read, "" if it could.
	ReadError string
	// LastGood is the last content of this layer that was valid, kept in the ledger; nil if there was none.
	LastGood []byte
}

// Switch is the parameter /holdfast/mode as read, with its last good value.
type Switch struct {
	Value     string
	Found     bool
	ReadError string
	LastGood  string
}

// Resolution is what Resolve makes of the layers.
type Resolution struct {
	Policy Policy
	// Sources names for each key the layer that its value came from.
	Sources map[string]string
	// Problems are the refused settings.
	Problems []Problem
	// Good is, by layer, the content to keep as the last good one; a layer that is absent has none.
	Good map[string][]byte
	// GoodMode is the value of the switch to keep as its last good one.
	GoodMode string
}

// Defaults is the built-in policy.
func Defaults() Policy { return defaultsOf(Keys()) }

func defaultsOf(keys []Key) Policy {
	p := Policy{HoldProcesses: builtInHoldProcesses()}
	for i := range keys {
		k := &keys[i]
		if !k.list {
			raw := json.RawMessage(k.Default)
			if k.word != nil {
				raw, _ = json.Marshal(k.Default)
			}
			if err := k.apply(&p, raw); err != nil {
				panic("built-in policy: " + k.Name + ": " + err.Error())
			}
		}
	}
	return p
}

// Resolve lays the layers over the built-in values, the later ones on top, and bounds the mode by the switch. An invalid layer
// is replaced by its last good content, else left out; a readable, more restrictive mode in it still applies.
func Resolve(layers []Layer, sw Switch) Resolution {
	all := Keys()
	r := Resolution{Policy: defaultsOf(all), Sources: make(map[string]string, len(all)), Good: map[string][]byte{}}
	keys := make(map[string]*Key, len(all))
	for i := range all {
		keys[all[i].Name] = &all[i]
		r.Sources[all[i].Name] = LayerBuiltIn
	}
	strictest, from := "", ""
	for _, l := range layers {
		if m := stricter(strictest, r.lay(l, keys)); m != strictest {
			strictest, from = m, l.Name
		}
	}
	if m := stricter(r.Policy.Mode, strictest); m != r.Policy.Mode {
		r.Policy.Mode, r.Sources["mode"] = m, from
	}
	r.bound(sw)
	return r
}

// lay puts one layer on; it returns the mode that an invalid layer still asks for.
func (r *Resolution) lay(l Layer, keys map[string]*Key) (mode string) {
	content := l.LastGood
	switch {
	case l.ReadError != "":
		r.Problems = append(r.Problems, Problem{Layer: l.Name, Rule: "cannot be read: " + l.ReadError + "; " + inForce(l)})
	case l.Raw == nil:
		return ""
	default:
		d := decodeLayer(l.Name, l.Raw, keys, r.Policy)
		if len(d.problems) == 0 {
			rule := r.overlay(d)
			if rule == "" {
				r.Good[l.Name] = l.Raw
				return ""
			}
			d.problems = append(d.problems, Problem{Layer: l.Name, Rule: rule})
		}
		mode = readableMode(d, keys)
		for _, p := range d.problems {
			p.Rule += "; " + inForce(l)
			r.Problems = append(r.Problems, p)
		}
	}
	if d := decodeLayer(l.Name, content, keys, r.Policy); len(d.problems) == 0 && r.overlay(d) == "" {
		r.Good[l.Name] = content
	}
	return mode
}

func inForce(l Layer) string {
	if l.LastGood != nil {
		return "its last good content stays in force"
	}
	return "the layer below stays in force"
}

// overlay puts a decoded layer over the policy if the relations between keys still hold; otherwise it changes nothing and
// returns the relation that does not.
func (r *Resolution) overlay(d document) string {
	next := &d.policy
	if next.HeartbeatFreshSeconds >= next.HeartbeatStaleSeconds {
		return fmt.Sprintf("heartbeat_fresh_seconds %d is not below heartbeat_stale_seconds %d", next.HeartbeatFreshSeconds, next.HeartbeatStaleSeconds)
	}
	r.Policy = d.policy
	for name := range d.values {
		r.Sources[name] = d.layer
	}
	return ""
}

// readableMode is the mode that stands in an invalid layer, or "".
func readableMode(d document, keys map[string]*Key) string {
	var p Policy
	raw, ok := d.values["mode"]
	if !ok || keys["mode"].apply(&p, raw) != nil {
		return ""
	}
	return p.Mode
}

// bound applies the switch: never readable reads as observe.
func (r *Resolution) bound(sw Switch) {
	mode := sw.LastGood
	valid := sw.Value == ModeAct || sw.Value == ModeObserve || sw.Value == ModeOff
	switch {
	case sw.ReadError != "":
		r.Problems = append(r.Problems, Problem{Layer: ModeParameter, Rule: "cannot be read: " + sw.ReadError})
	case !sw.Found:
		r.Problems = append(r.Problems, Problem{Layer: ModeParameter, Rule: "does not exist; it reads as observe"})
		mode = ""
	case !valid:
		r.Problems = append(r.Problems, Problem{Layer: ModeParameter, Rule: fmt.Sprintf("%q, want act, observe or off", sw.Value)})
	default:
		mode = sw.Value
	}
	r.GoodMode = mode
	if mode == "" {
		mode = ModeObserve
	}
	if m := stricter(r.Policy.Mode, mode); m != r.Policy.Mode {
		r.Policy.Mode = m
		r.Sources["mode"] = ModeParameter
	}
}

// stricter is the more restrictive of two modes; "" restricts nothing.
func stricter(a, b string) string {
	rank := map[string]int{"": 0, ModeAct: 1, ModeObserve: 2, ModeOff: 3}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
