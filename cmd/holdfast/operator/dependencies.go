package operator

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// alarms warns of dependencies that were just set and whose alarms do not exist or have no data: a slip of the keyboard would switch repair
// and release off without a word. It refuses nothing, because an alarm may be made later.
func (d *Desk) alarms(ctx context.Context, a *Answer, settings []Setting) {
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Key == "dependencies" })
	var deps []guard.Dependency
	// What cannot be decoded here was wrong before the change, and is told as such.
	if i < 0 || json.Unmarshal(settings[i].Raw, &deps) != nil || len(deps) == 0 {
		return
	}
	const unchecked = "whether the alarms of dependencies exist could not be checked: "
	if d.p.Alarms == nil {
		a.warn(unchecked + "no alarms can be read here")
		return
	}
	var names []string
	for _, dep := range deps {
		names = append(names, dep.Alarm)
	}
	found := d.p.Alarms.Alarms(ctx, names)
	var unread []string
	detail := ""
	for _, dep := range deps {
		switch r := found[dep.Alarm]; r.State {
		case guard.AlarmOK, guard.AlarmRed:
		case guard.AlarmMissing:
			a.warn("dependencies: alarm %q does not exist in this account and Region: %s", dep.Alarm, unknownMeans(dep, "marks wait and nothing is released"))
		case guard.AlarmNoData:
			if dep.Missing != guard.MissingOK {
				a.warn("dependencies: alarm %q has no data (INSUFFICIENT_DATA): %s", dep.Alarm, unknownMeans(dep, "nothing is released, and a mark says that it was made without"))
			}
		default:
			unread, detail = append(unread, dep.Alarm), r.Detail
		}
	}
	if len(unread) > 0 {
		a.warn(unchecked+"%s: %s (it needs cloudwatch:DescribeAlarms)", strings.Join(unread, ", "), detail)
	}
}

// unknownMeans is what a dependency does while its state is not known. Without data marks go on, as the design has it.
func unknownMeans(dep guard.Dependency, hard string) string {
	if dep.Kind == guard.DependencySoft {
		return "it is soft, so that is reported and keeps nothing waiting"
	}
	return "while its state is not known, " + hard
}
