package audit_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// broken names every finding of a report by rule and resource.
func broken(r audit.Report) map[string]bool {
	out := map[string]bool{}
	for _, f := range r.Findings {
		out[fmt.Sprintf("%s %s %q %q", f.Rule, f.Kind, f.Name, f.Where)] = true
	}
	return out
}

// lists are the slices of which nil says "unknown"; any pointer does too.
func lists() []string {
	return []string{"HealthCheckTypes", "TargetGroups", "LatticeGroups", "LoadBalancers"}
}

// forget calls visit once for each thing that is known, with that thing unknown, and puts it back.
func forget(v reflect.Value, path string, visit func(path string)) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			f, name := v.Field(i), v.Type().Field(i).Name
			if v.Type() != reflect.TypeFor[audit.Account]() && slices.Contains(lists(), name) && !f.IsNil() {
				without(f, path+"."+name, visit)
			}
			forget(f, path+"."+name, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			forget(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			without(v, path, visit)
			forget(v.Elem(), path, visit)
		}
	default:
	}
}

func without(v reflect.Value, path string, visit func(path string)) {
	kept := reflect.ValueOf(v.Interface())
	v.SetZero()
	visit(path)
	v.Set(kept)
}

// holds checks what holds for every account: the same bytes twice, and no finding that comes from knowing less.
func holds(t interface{ Fatalf(string, ...any) }, a audit.Account, o audit.Options) {
	first, err := json.Marshal(audit.Judge(a, o))
	if err != nil {
		t.Fatalf("encode report: %v", err)
	}
	r := audit.Judge(a, o)
	if second, err := json.Marshal(r); err != nil || string(first) != string(second) {
		t.Fatalf("two reports of one account differ: %v", err)
	}
	all := broken(r)
	forget(reflect.ValueOf(&a).Elem(), "account", func(path string) {
		for f := range broken(audit.Judge(a, o)) {
			if !all[f] {
				t.Fatalf("without %s there is one finding more: %s", path, f)
			}
		}
	})
}

func FuzzJudge(f *testing.F) {
	for _, r := range audit.Rules() {
		f.Add(read(f, "rules", r.ID, "broken.json"))
		f.Add(read(f, "rules", r.ID, "inside.json"))
	}
	f.Add([]byte(`{"format": 1, "at": "2026-11-30T12:00:00Z", "groups": null}`))
	o := options(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 64<<10 {
			t.Skip("too long to try every way of knowing less")
		}
		a, err := audit.DecodeAccount(text)
		if err != nil {
			return
		}
		holds(t, a, o)
	})
}

func FuzzDecodeAcknowledgements(f *testing.F) {
	f.Add(`{"acknowledgements": [{"rule": "HF003", "name": "web", "reason": "batch only", "by": "ops", "until": "2027-01-01"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		acks, err := audit.DecodeAcknowledgements([]byte(text), noon())
		if err != nil {
			return
		}
		for _, a := range acks {
			if until, err := time.Parse(time.DateOnly, a.Until); err != nil || until.After(noon().AddDate(1, 0, 0)) || strings.TrimSpace(a.Reason+a.By) == "" {
				t.Errorf("%v was taken", a)
			}
		}
	})
}

// draw fills a value with something that rules care about.
func draw(t *rapid.T, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			hours := rapid.SampledFrom([]int{0, 1, 24, 25, 1000}).Draw(t, path)
			v.Set(reflect.ValueOf(noon().Add(-time.Duration(hours) * time.Hour)))
			return
		}
		for i := range v.NumField() {
			draw(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		if rapid.IntRange(0, 5).Draw(t, path+"?") > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem(), path)
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 2).Draw(t, path+"#")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			draw(t, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rapid.IntRange(0, 2).Draw(t, path+"#") {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			draw(t, key, path+".key")
			draw(t, value, path+".value")
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(word(t, path))
	case reflect.Int:
		if strings.HasSuffix(path, ".BeatAgeSeconds") {
			v.SetInt(int64(rapid.SampledFrom([]int{audit.NotSet, audit.NotSet, 5}).Draw(t, path)))
			return
		}
		v.SetInt(int64(rapid.SampledFrom([]int{audit.NotSet, 0, 1, 2, 3, 5, 10, 30, 50, 74, 75, 100, 300, 86400}).Draw(t, path)))
	case reflect.Float64:
		v.SetFloat(rapid.SampledFrom([]float64{0, 10.5, 301}).Draw(t, path))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, path))
	default:
		t.Fatalf("%s: a %s", path, v.Kind())
	}
}

// word draws a word that may stand there: names are few, so that resources meet.
func word(t *rapid.T, path string) string {
	pools := map[string][]string{
		".HealthCheckTypes[": {"EC2", "ELB", "VPC_LATTICE"}, ".TargetGroups[": {"a", "b", "c"}, ".LatticeGroups[": {"a", "b", "c"}, ".Path": {"", "/", "/health", "/db"},
		".Matcher": {"200", "200-499", "301", "0-99", "x"}, "Protocol": {"HTTP", "TCP", ""}, ".TargetType": {"instance", "lambda"}, ".State": {"OK", "ALARM", "INSUFFICIENT_DATA"},
		".Lifecycle": {"InService", "Pending"}, ".key": {"healthy", "unused Target.NotInUse", "unhealthy x [302]", audit.TagService, audit.TagGuard}, ".value": {"web", "reviewed", "true"},
		".Alarm": {"a", "b"}, ".Process": {"Launch", "AZRebalance"}, ".Operator": {"", "", "", "ecs.amazonaws.com"}, ".ID": {"a", "b", "c"}, ".Name": {"a", "b", "c"},
	}
	for _, suffix := range slices.Sorted(maps.Keys(pools)) {
		last := path[strings.LastIndex(path, "."):]
		if strings.HasPrefix(last, suffix) || strings.HasSuffix(last, suffix) {
			return rapid.SampledFrom(pools[suffix]).Draw(t, path)
		}
	}
	return rapid.SampledFrom([]string{"a", "b"}).Draw(t, path)
}

func TestKnowingLessNeverAddsAFinding(t *testing.T) {
	o, seen := options(t), map[string]bool{}
	hard := o.Promises["web"]
	hard.RestartSeconds, hard.RecoveryObjectiveSeconds = 100, 60
	o.Promises["web"] = hard
	rapid.Check(t, func(t *rapid.T) {
		var a audit.Account
		draw(t, reflect.ValueOf(&a).Elem(), "account")
		a.At, a.Unread = noon(), nil
		for i := range a.Groups {
			// A dump in which these two disagree is refused.
			if g := &a.Groups[i]; g.ZoneCount != nil && len(g.Zones) > 0 {
				*g.ZoneCount = len(g.Zones)
			}
		}
		for _, f := range audit.Judge(a, o).Findings {
			seen[f.Rule] = true
		}
		holds(t, a, o)
	})
	// Each rule's own dump is held to the same by the seeds of FuzzJudge; here most rules must come up by chance.
	if rules := len(audit.Rules()); len(seen) < rules/2 {
		t.Errorf("the drawn accounts broke %d of %d rules: the property says little", len(seen), rules)
	}
}
