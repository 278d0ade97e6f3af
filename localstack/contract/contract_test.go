package contract_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
)

// rule is one thing that AWS's documentation says about an API and Holdfast relies on.
type rule struct {
	service, name string
	// concurrent rules are about calls that race.
	concurrent bool
	// check returns how the peer breaks the rule, or nil.
	check func(ctx context.Context, s *subject) error
}

func rules() []rule {
	return slices.Concat(groupRules(), balancerRules(), fleetRules(), alarmRules(), tableRules(), parameterRules(), messageRules(), auditRules())
}

// ruleTimeout is for a peer that hangs.
const ruleTimeout = 60 * time.Second

func TestPeersKeepTheRulesButForTheirKnownGaps(t *testing.T) {
	for _, p := range peers() {
		t.Run(p.name, func(t *testing.T) {
			s := open(t, p)
			for _, r := range rules() {
				if !slices.Contains(p.services, r.service) || r.concurrent && p.sequential {
					continue
				}
				t.Run(r.service+": "+r.name, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), ruleTimeout)
					defer cancel()
					if verdict := judge(r.check(ctx, s), gaps()[p.name][r.name]); verdict != "" {
						t.Error(verdict)
					}
				})
			}
		})
	}
}

// judge compares what a rule's check found with what the table of gaps expects, and returns what is to be complained about.
func judge(found error, g gap) string {
	switch {
	case g == (gap{}) && found != nil:
		return fmt.Sprintf("a gap that the table does not know: %v", found)
	case g != (gap{}) && found == nil:
		return fmt.Sprintf("the gap has closed, take it from the table: %s", g.reason)
	case found != nil && !strings.Contains(found.Error(), g.shows):
		return fmt.Sprintf("the gap is another than the table's, which shows as %q: %v", g.shows, found)
	}
	return ""
}

func TestAGapThatOpensClosesOrChangesIsComplainedAbout(t *testing.T) {
	known := gap{shows: "have 12", reason: "pages are too long"}
	for name, c := range map[string]struct {
		found error
		gap   gap
		want  string
	}{
		"a rule that is kept":        {nil, gap{}, ""},
		"a gap that is known":        {errors.New("page: have 12, want 10"), known, ""},
		"a gap that opened":          {errors.New("page: have 12, want 10"), gap{}, "does not know"},
		"a gap that closed":          {nil, known, "has closed"},
		"a gap that became another":  {errors.New("connection refused"), known, "another than the table's"},
		"a gap that is there beside": {errors.New("page: have 11, want 10"), known, "another than the table's"},
	} {
		have := judge(c.found, c.gap)
		if (have == "") != (c.want == "") || !strings.Contains(have, c.want) {
			t.Errorf("%s: have %q, want %q", name, have, c.want)
		}
	}
}

func TestTheTableOfGapsNamesRulesThatAreAsked(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules() {
		if seen[r.name] {
			t.Errorf("two rules are called %q", r.name)
		}
		seen[r.name] = true
	}
	asked := func(peerName, ruleName string) bool {
		for _, p := range peers() {
			for _, r := range rules() {
				if p.name == peerName && r.name == ruleName {
					return slices.Contains(p.services, r.service) && (!r.concurrent || !p.sequential)
				}
			}
		}
		return false
	}
	for peerName, list := range gaps() {
		for ruleName, g := range list {
			if !asked(peerName, ruleName) {
				t.Errorf("%s is not asked %q", peerName, ruleName)
			}
			if g.reason == "" || g.shows == "" {
				t.Errorf("%s, %q: a gap needs a reason and what it shows as", peerName, ruleName)
			}
		}
	}
}

// differ returns nil if both are deeply equal.
func differ(what string, have, want any) error {
	if reflect.DeepEqual(have, want) {
		return nil
	}
	return fmt.Errorf("%s: have %v, want %v", what, have, want)
}

// refused returns nil if err is AWS's error of that code.
func refused(what string, err error, code string) error {
	if err == nil {
		return fmt.Errorf("%s was accepted, want %s", what, code)
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return fmt.Errorf("%s: have no API error, want %s: %w", what, code, err)
	}
	return differ("code of "+what, api.ErrorCode(), code)
}
