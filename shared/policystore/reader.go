package policystore

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// root is the path of everything that is read here.
const root = "/holdfast/"

// pageMax is the largest page. Source: Systems Manager API reference, GetParametersByPath.
const pageMax = 10

// API is the call of the SSM client that is made here.
type API interface {
	GetParametersByPath(context.Context, *ssm.GetParametersByPathInput, ...func(*ssm.Options)) (*ssm.GetParametersByPathOutput, error)
}

// Reader reads policies. It keeps nothing between calls and may be used by several goroutines at once.
type Reader struct{ api API }

// New makes a Reader over a client.
func New(api API) *Reader { return &Reader{api: api} }

// Policies reads the switch, the defaults and the two layers of each named group. A layer without a parameter has a nil Raw. If any
// page could not be read, every layer and the switch carry the reason as their ReadError and nothing else, because it cannot be
// known which of them stood on that page.
func (r *Reader) Policies(ctx context.Context, groups []string) runner.PolicySet {
	values, err := r.read(ctx)
	failure := ""
	if err != nil {
		failure = err.Error()
	}
	layer := func(name string) guard.Layer {
		l := guard.Layer{Name: name, ReadError: failure}
		if value, ok := values[name]; ok {
			l.Raw = []byte(value)
		}
		return l
	}
	set := runner.PolicySet{
		Switch:   guard.Switch{ReadError: failure},
		Defaults: layer(guard.LayerDefaults),
		Groups:   make(map[string][]guard.Layer, len(groups)),
	}
	set.Switch.Value, set.Switch.Found = values[guard.ModeParameter]
	for _, name := range groups {
		escaped := guard.EscapeName(name)
		set.Groups[name] = []guard.Layer{layer(guard.LayerDeclared + escaped), layer(guard.LayerGroups + escaped)}
	}
	set.Others = others(values, set)
	return set
}

// others are the names of the values that the set has not.
func others(values map[string]string, set runner.PolicySet) []string {
	taken := map[string]bool{guard.ModeParameter: true, guard.LayerDefaults: true}
	for _, layers := range set.Groups {
		for i := range layers {
			taken[layers[i].Name] = true
		}
	}
	var out []string
	for name := range values {
		if !taken[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// read follows every page. One may be short or empty although there are more.
// Source: SDK doc comment of GetParametersByPath.
func (r *Reader) read(ctx context.Context) (map[string]string, error) {
	in := &ssm.GetParametersByPathInput{
		Path: aws.String(root), Recursive: aws.Bool(true), WithDecryption: aws.Bool(true), MaxResults: aws.Int32(pageMax),
	}
	values, seen := map[string]string{}, map[string]bool{}
	for {
		out, err := r.api.GetParametersByPath(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("get parameters by path: %w", awserr.Classify(err))
		}
		for _, p := range out.Parameters {
			if p.Name == nil || p.Value == nil {
				return nil, fmt.Errorf("get parameters by path: %w: parameter %q has no name or no value", fault.Partial, aws.ToString(p.Name))
			}
			values[*p.Name] = *p.Value
		}
		next := aws.ToString(out.NextToken)
		if next == "" {
			return values, nil
		}
		if seen[next] {
			return nil, fmt.Errorf("get parameters by path: %w: page token %q came back", fault.Partial, next)
		}
		seen[next] = true
		in.NextToken = out.NextToken
	}
}
