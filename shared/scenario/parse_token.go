package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// assign takes a word of the form key=value.
func (t *Tokens) assign(word, key, value string) (about, problem string) {
	switch key {
	case "beat", "last":
		return "the heartbeat", t.beat(word, key, value)
	case "entered", "pending":
		d, ok := tokenAge(value)
		if !ok {
			return key, fmt.Sprintf("token %q: %q is no age, want one such as 90s or 5d", word, value)
		}
		if key == "entered" {
			t.Entered = &d
		} else {
			t.Pending = &d
		}
		return key, ""
	case "weight":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 999 {
			return key, fmt.Sprintf("token %q: want a weight of 1..999", word)
		}
		t.Weight = n
		return key, ""
	case "zone", "lt", "type", "agent":
		if value == "" {
			return key, fmt.Sprintf("token %q has no value", word)
		}
		*map[string]*string{"zone": &t.Zone, "lt": &t.LaunchTemplate, "type": &t.Type, "agent": &t.Agent}[key] = value
		return key, ""
	}
	return t.target(word, key, value)
}

// beat takes beat=15s/ok, last=400s/failing:disk+config and beat=none.
func (t *Tokens) beat(word, key, value string) (problem string) {
	if value == "none" && key == "beat" {
		t.Beat = &BeatToken{None: true}
		return ""
	}
	ageText, status, ok := strings.Cut(value, "/")
	age, isAge := tokenAge(ageText)
	if !ok || !isAge {
		return fmt.Sprintf("token %q: want an age and a status, such as %s=15s/ok", word, key)
	}
	b := &BeatToken{Silent: key == "last", Age: age}
	status, names, named := strings.Cut(status, ":")
	b.Status = status
	if named {
		b.Failing = strings.Split(names, "+")
	}
	switch {
	case status != "ok" && status != "failing" && status != "draining":
		return fmt.Sprintf("token %q: status %q, want ok, failing or draining", word, status)
	case named && status != "failing":
		return fmt.Sprintf("token %q: status %s has no failing checks", word, status)
	case slices.Contains(b.Failing, ""):
		return fmt.Sprintf("token %q: a failing check has no name", word)
	}
	t.Beat = b
	return ""
}

func tokenAge(s string) (time.Duration, bool) {
	d, ok := parseSpan(s)
	return d, ok && d >= 0 && !strings.HasPrefix(s, "-")
}
