package contract_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/policystore"
)

func parameterRules() []rule {
	list := []rule{
		{name: "a parameter is not overwritten unasked, and versions count up", check: overwriteRule},
		{name: "an unknown parameter is an error", check: unknownParameter},
		{name: "parameters below a path come at most ten at a time, without loss", check: parametersPaged},
		{name: "a page of more than ten is refused", check: pageTooLong},
		{name: "without recursion only the next level is read", check: oneLevel},
		{name: "Holdfast reads policies, and a layer that is not there has no content", check: readsPolicies},
	}
	for i := range list {
		list[i].service = "ssm"
	}
	return list
}

func (s *subject) parameter(ctx context.Context, name, value string, overwrite bool) (int64, error) {
	out, err := s.ssm.PutParameter(ctx, &ssm.PutParameterInput{
		Name: aws.String(name), Value: aws.String(value), Type: types.ParameterTypeString, Overwrite: aws.Bool(overwrite)})
	if err != nil {
		return 0, err
	}
	return out.Version, nil
}

func overwriteRule(ctx context.Context, s *subject) error {
	name := "/" + s.name("over")
	first, err := s.parameter(ctx, name, "a", false)
	if err != nil {
		return err
	}
	_, again := s.parameter(ctx, name, "b", false)
	second, err := s.parameter(ctx, name, "c", true)
	if err != nil {
		return err
	}
	got, err := s.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(name)})
	if err != nil {
		return err
	}
	return errors.Join(refused("an unasked overwrite", again, "ParameterAlreadyExists"),
		differ("versions", []int64{first, second, got.Parameter.Version}, []int64{1, 2, 2}), differ("value", aws.ToString(got.Parameter.Value), "c"))
}

func unknownParameter(ctx context.Context, s *subject) error {
	_, err := s.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/" + s.name("nothing"))})
	return refused("an unknown parameter", err, "ParameterNotFound")
}

// below reads all names below a path and the length of the longest page.
func (s *subject) below(ctx context.Context, path string, recursive bool) (names []string, longest int, err error) {
	pages := ssm.NewGetParametersByPathPaginator(s.ssm, &ssm.GetParametersByPathInput{Path: aws.String(path), Recursive: aws.Bool(recursive)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, 0, err
		}
		longest = max(longest, len(out.Parameters))
		for _, p := range out.Parameters {
			names = append(names, aws.ToString(p.Name))
		}
	}
	slices.Sort(names)
	return names, longest, nil
}

func parametersPaged(ctx context.Context, s *subject) error {
	path := "/" + s.name("paged")
	want := []string{}
	for i := range 23 {
		name := fmt.Sprintf("%s/deep/%02d", path, i)
		if _, err := s.parameter(ctx, name, "v", false); err != nil {
			return err
		}
		want = append(want, name)
	}
	have, longest, err := s.below(ctx, path, true)
	return errors.Join(err, differ("names", have, want), differ("longest page is too long", longest > 10, false))
}

func pageTooLong(ctx context.Context, s *subject) error {
	_, err := s.ssm.GetParametersByPath(ctx, &ssm.GetParametersByPathInput{Path: aws.String("/" + s.name("paged")), MaxResults: aws.Int32(11)})
	return refused("a page of 11", err, "ValidationException")
}

func oneLevel(ctx context.Context, s *subject) error {
	path := "/" + s.name("level")
	for _, name := range []string{path + "/near", path + "/far/off", path + "s/beside"} {
		if _, err := s.parameter(ctx, name, "v", false); err != nil {
			return err
		}
	}
	near, _, errA := s.below(ctx, path, false)
	all, _, errB := s.below(ctx, path, true)
	return errors.Join(errA, errB, differ("one level", near, []string{path + "/near"}), differ("all levels", all, []string{path + "/far/off", path + "/near"}))
}

// readsPolicies leaves the switch alone and takes its own layers away, because others may use the same peer.
func readsPolicies(ctx context.Context, s *subject) error {
	groups, written := []string{}, []string{}
	for i := range 12 {
		groups = append(groups, s.name(fmt.Sprintf("group-%02d", i)))
	}
	defer func() {
		for _, name := range written {
			_, _ = s.ssm.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: aws.String(name)}) // housekeeping only
		}
	}()
	for _, g := range groups {
		name := guard.LayerGroups + guard.EscapeName(g)
		if _, err := s.parameter(ctx, name, `{"mode":"observe"} `+g, false); err != nil {
			return err
		}
		written = append(written, name)
	}
	set := policystore.New(s.ssm).Policies(ctx, groups)
	problems := []error{differ("what could not be read", set.Defaults.ReadError+set.Switch.ReadError, "")}
	for _, g := range groups {
		layers := set.Groups[g]
		if len(layers) != 2 {
			return differ("layers of "+g, len(layers), 2)
		}
		problems = append(problems, differ("no declared layer of "+g, layers[0].Raw == nil, true),
			differ("layer of "+g, strings.HasSuffix(string(layers[1].Raw), " "+g), true))
	}
	return errors.Join(problems...)
}
