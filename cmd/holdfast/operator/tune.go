package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Tuning is a change of the operator's layer of one group's policy.
type Tuning struct {
	Group    string
	Settings []Setting
	// DryRun checks and shows everything, and writes nothing.
	DryRun bool
}

// Tune changes /holdfast/groups/<group>, and without a setting only shows the policy in force. The new document is judged exactly as a sweep
// will judge it, over the layers below it and against the group's compiled ceilings, before it is written: one that would be invalid
// is refused with its rules, unless it only was so before and the mode becomes stricter: a sweep obeys that. Other keys stay as they are.
func (d *Desk) Tune(ctx context.Context, t Tuning) (Answer, error) {
	f, err := d.open(ctx, t.Group)
	if err != nil {
		return Answer{}, err
	}
	layer := guard.LayerGroups + guard.EscapeName(t.Group)
	if msg := f.readError(); msg != "" {
		return Answer{}, fmt.Errorf("read the policy: %s; nothing was written", msg)
	}
	seen, err := d.parameter(ctx, layer)
	if err != nil {
		return Answer{}, err
	}
	before := f.with(layer, seen)
	if len(t.Settings) == 0 {
		var a Answer
		d.show(&a, f, before)
		return a, nil
	}
	next, changed, stale, err := f.revise(layer, seen, t.Settings)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	if len(changed) == 0 {
		a.say("%s: has these values already; nothing was changed", layer)
		d.show(&a, f, before)
		return a, nil
	}
	after := f.with(layer, Parameter{Value: string(next), Version: seen.Version + 1})
	if len(stale) == 0 { // the limits of an invalid layer are not in force
		if err := d.ceilings(f, after.Policy, t.Settings); err != nil {
			return Answer{}, err
		}
	}
	if t.DryRun {
		a.say("%s: would be written, a dry run writes nothing", layer)
	} else {
		version, err := d.replace(ctx, layer, string(next), seen)
		if err != nil {
			return Answer{}, err
		}
		a.Changed = true
		a.say("%s: written as version %d, in force from the next sweep, at the latest in %s", layer, version, d.o.SweepInterval)
	}
	differences(&a, changed, d.inForce(f, before), d.inForce(f, after))
	if len(stale) > 0 {
		a.warn("%s is still invalid, so of its content only the mode is in force, because it is stricter; bad before this change: %s%s", layer, strings.Join(told(stale), "; "), f.remedy(stale))
	}
	if slices.Contains(changed, "dependencies") {
		d.alarms(ctx, &a, t.Settings)
	}
	d.show(&a, f, after)
	return a, nil
}

// with resolves the policy with other content in one layer.
func (f *file) with(layer string, p Parameter) guard.Resolution {
	return guard.Resolve(f.layersWith(layer, p), f.set.Switch)
}

func (f *file) layersWith(layer string, p Parameter) []guard.Layer {
	layers := slices.Clone(f.layers)
	for i := range layers {
		if layers[i].Name != layer {
			continue
		}
		layers[i].Raw = nil
		if p.Version != 0 {
			layers[i].Raw = []byte(p.Value)
		}
	}
	return layers
}

func problemsOf(r guard.Resolution, layer string) []guard.Problem {
	return slices.DeleteFunc(slices.Clone(r.Problems), func(p guard.Problem) bool { return p.Layer != layer })
}

// bare takes off what a sweep would do about an invalid layer: nothing was written.
func bare(rule string) string {
	rule = strings.TrimSuffix(rule, "; the layer below stays in force")
	return strings.TrimSuffix(rule, "; its last good content stays in force")
}

// differences tells for each changed key what was in force and what is.
func differences(a *Answer, changed []string, before, now []Effective) {
	was := map[string]Effective{}
	for _, e := range before {
		was[e.Key] = e
	}
	for _, key := range changed {
		i := slices.IndexFunc(now, func(e Effective) bool { return e.Key == key })
		if i < 0 {
			a.say("  %s: taken out, it is no policy key", key)
			continue
		}
		old, e := was[key], now[i]
		if old == e {
			a.say("  %s: changed without effect, %s from %s is in force", key, e.Value, e.From)
			continue
		}
		a.say("  %s: %s (%s) -> %s (%s)", key, old.Value, old.From, e.Value, e.From)
	}
}

// show adds the policy in force as a table, with what the person should know of it.
func (d *Desk) show(a *Answer, f *file, r guard.Resolution) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "KEY\tVALUE\tFROM") // a strings.Builder takes everything
	for _, e := range d.inForce(f, r) {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", e.Key, e.Value, e.From)
	}
	_ = w.Flush()
	a.say("policy of %s:", f.group.Name)
	a.Lines = append(a.Lines, strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")...)
	for _, p := range r.Problems {
		a.warn("%s", p)
	}
	if !f.group.OptedIn {
		a.warn("%s does not carry the tag holdfast:guard=true: no sweep looks at it", f.group.Name)
	}
	if h := f.rec.State.Hold; h != nil && !h.Observed && r.Policy.Mode != guard.ModeAct {
		a.warn("%s is held since %s: in mode %s nothing releases it", f.group.Name, stamp(h.Since.Time()), r.Policy.Mode)
	}
	if d.p.Ledger == nil {
		a.warn("no state table is known: last good contents and a hold in force were not looked at")
	}
}
