package policystore_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/policystore"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

var _ runner.Policies = (*policystore.Reader)(nil)

// parameters is a Parameter Store; it serves pages of page items with an empty page before each, and fails on call N.
type parameters struct {
	values map[string]string
	page   int
	empty  bool
	loop   bool
	bare   string // a parameter whose value is left out
	fail   map[int]error
	calls  int
}

func (p *parameters) GetParametersByPath(ctx context.Context, in *ssm.GetParametersByPathInput, _ ...func(*ssm.Options)) (*ssm.GetParametersByPathOutput, error) {
	p.calls++
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := p.fail[p.calls]; err != nil {
		return nil, err
	}
	if aws.ToInt32(in.MaxResults) > 10 || !aws.ToBool(in.Recursive) {
		return nil, &smithy.GenericAPIError{Code: "ValidationException", Message: "unexpected request"}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if strings.HasPrefix(name, aws.ToString(in.Path)) {
			names = append(names, name)
		}
	}
	i, _ := strconv.Atoi(aws.ToString(in.NextToken))
	out := &ssm.GetParametersByPathOutput{}
	if p.empty && i%2 == 0 {
		out.NextToken = aws.String(strconv.Itoa(i + 1))
		return out, nil
	}
	at := i
	if p.empty {
		at = i / 2
	}
	size := min(p.page, 10)
	if size == 0 {
		size = 10
	}
	from := min(at*size, len(names))
	to := min(from+size, len(names))
	if to < len(names) {
		out.NextToken = aws.String(strconv.Itoa(i + 1))
	}
	if p.loop {
		out.NextToken = aws.String("0")
	}
	for _, name := range names[from:to] {
		value := aws.String(p.values[name])
		if strings.HasPrefix(p.values[name], "cipher:") && aws.ToBool(in.WithDecryption) {
			value = aws.String(strings.TrimPrefix(p.values[name], "cipher:"))
		}
		if name == p.bare {
			value = nil
		}
		out.Parameters = append(out.Parameters, types.Parameter{Name: aws.String(name), Value: value})
	}
	return out, nil
}

func stored() map[string]string {
	return map[string]string{
		"/holdfast/mode":                  "act",
		"/holdfast/defaults":              `{"confirm_sweeps":3}`,
		"/holdfast/declared/web":          `{"mode":"observe"}`,
		"/holdfast/groups/web":            `cipher:{"mode":"act"}`,
		"/holdfast/groups/shop_2Fblue_2A": `{"kind":"worker"}`,
		"/holdfast/groups/unknown":        `{}`,
		"/holdfast-other/mode":            "off",
	}
}

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, shown(got), shown(want))
	}
}

// shown spells the contents of layers as text.
func shown(v any) string { return fmt.Sprintf("%q", v) }

func TestEveryLayerComesFromItsParameter(t *testing.T) {
	for _, page := range []int{1, 2, 10} {
		for _, empty := range []bool{false, true} {
			p := &parameters{values: stored(), page: page, empty: empty}
			set := policystore.New(p).Policies(t.Context(), []string{"web", "shop/blue*", "new"})
			check(t, "set", set, runner.PolicySet{
				Switch:   guard.Switch{Value: "act", Found: true},
				Defaults: guard.Layer{Name: "/holdfast/defaults", Raw: []byte(`{"confirm_sweeps":3}`)},
				Groups: map[string][]guard.Layer{
					"web": {
						{Name: "/holdfast/declared/web", Raw: []byte(`{"mode":"observe"}`)},
						{Name: "/holdfast/groups/web", Raw: []byte(`{"mode":"act"}`)},
					},
					"shop/blue*": {
						{Name: "/holdfast/declared/shop_2Fblue_2A"},
						{Name: "/holdfast/groups/shop_2Fblue_2A", Raw: []byte(`{"kind":"worker"}`)},
					},
					"new": {{Name: "/holdfast/declared/new"}, {Name: "/holdfast/groups/new"}},
				},
				Others: []string{"/holdfast/groups/unknown"},
			})
			if raw := set.Groups["new"][0].Raw; raw != nil {
				t.Errorf("a parameter that does not exist has the content %q, want nil", raw)
			}
		}
	}
}

func TestAnEmptyStoreHasNothingAndFailsNothing(t *testing.T) {
	set := policystore.New(&parameters{}).Policies(t.Context(), []string{"web"})
	check(t, "set", set, runner.PolicySet{
		Defaults: guard.Layer{Name: "/holdfast/defaults"},
		Groups:   map[string][]guard.Layer{"web": {{Name: "/holdfast/declared/web"}, {Name: "/holdfast/groups/web"}}},
	})
}

func TestAPageThatCannotBeReadFailsEveryLayer(t *testing.T) {
	throttled := &smithy.GenericAPIError{Code: "ThrottlingException", Message: "Rate exceeded"}
	denied := &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized"}
	cases := []struct {
		name  string
		spoil func(*parameters)
		want  string
	}{
		{"the first page is throttled", func(p *parameters) { p.fail = map[int]error{1: throttled} }, "get parameters by path: throttled: "},
		{"a middle page is throttled", func(p *parameters) { p.fail = map[int]error{2: throttled} }, "get parameters by path: throttled: "},
		{"the last page is denied", func(p *parameters) { p.fail = map[int]error{3: denied} }, "get parameters by path: refused: "},
		{"a token comes back", func(p *parameters) { p.loop = true }, `get parameters by path: partial: page token "0" came back`},
		{"a parameter has no value", func(p *parameters) { p.bare = "/holdfast/mode" }, `partial: parameter "/holdfast/mode" has no name or no value`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := &parameters{values: stored(), page: 2}
			c.spoil(p)
			set := policystore.New(p).Policies(t.Context(), []string{"web", "new"})
			if !strings.Contains(set.Switch.ReadError, c.want) {
				t.Errorf("the switch says %q, want %q in it", set.Switch.ReadError, c.want)
			}
			check(t, "switch", set.Switch, guard.Switch{ReadError: set.Switch.ReadError})
			layers := append([]guard.Layer{set.Defaults}, append(set.Groups["web"], set.Groups["new"]...)...)
			check(t, "layers", len(layers), 5)
			for _, l := range layers {
				check(t, "layer", l, guard.Layer{Name: l.Name, ReadError: set.Switch.ReadError})
			}
		})
	}
}

func TestWhatCannotBeReadDoesNotLoosenThePolicy(t *testing.T) {
	p := &parameters{values: stored(), page: 2, fail: map[int]error{2: &smithy.GenericAPIError{Code: "ThrottlingException"}}}
	set := policystore.New(p).Policies(t.Context(), []string{"web"})
	r := guard.Resolve(append([]guard.Layer{set.Defaults}, set.Groups["web"]...), set.Switch)
	check(t, "mode without anything read or remembered", r.Policy.Mode, guard.ModeObserve)
	check(t, "problems", len(r.Problems), 4)
}
