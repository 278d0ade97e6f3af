package params_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/localstack/world/params"
)

// rig is a store with a real SDK client in front of it.
type rig struct {
	store   *params.Store
	client  *ssm.Client
	changes []params.Change
}

func newRig(t *testing.T) *rig {
	t.Helper()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	r := &rig{}
	r.store = params.New(params.Options{Now: now, OnChange: func(c params.Change) { r.changes = append(r.changes, c) }})
	server := world.New(world.Options{Now: now})
	server.Mount(r.store.Mount())
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	r.client = ssm.New(ssm.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(listener.URL), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	return r
}

func (r *rig) put(in ssm.PutParameterInput) (*ssm.PutParameterOutput, error) {
	if in.Type == "" && !aws.ToBool(in.Overwrite) {
		in.Type = types.ParameterTypeString
	}
	return r.client.PutParameter(context.Background(), &in)
}

func (r *rig) mustPut(t *testing.T, name, value string) {
	t.Helper()
	if _, err := r.put(ssm.PutParameterInput{Name: &name, Value: &value}); err != nil {
		t.Fatalf("put parameter: %v", err)
	}
}

func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	if err != nil {
		return "not an API error: " + err.Error()
	}
	return ""
}

func TestOverwriteAddsAVersionAndOnlyWhenAsked(t *testing.T) {
	r := newRig(t)
	name := aws.String("/holdfast/defaults")
	r.mustPut(t, *name, "{}")
	if _, err := r.put(ssm.PutParameterInput{Name: name, Value: aws.String("x")}); code(err) != "ParameterAlreadyExists" {
		t.Errorf("without overwrite: %v", err)
	}
	out, err := r.put(ssm.PutParameterInput{Name: name, Value: aws.String("second"), Overwrite: aws.Bool(true)})
	if err != nil || out.Version != 2 {
		t.Fatalf("overwrite: %v, %v", out, err)
	}
	for selector, want := range map[string]string{"": "second", ":1": "{}", ":2": "second"} {
		got, err := r.client.GetParameter(context.Background(), &ssm.GetParameterInput{Name: aws.String(*name + selector)})
		if err != nil || aws.ToString(got.Parameter.Value) != want {
			t.Errorf("selector %q: %v, %v, want %q", selector, got, err, want)
		}
	}
	_, err = r.client.GetParameter(context.Background(), &ssm.GetParameterInput{Name: aws.String(*name + ":3")})
	if code(err) != "ParameterVersionNotFound" {
		t.Errorf("version 3: %v", err)
	}
	if v, ok := r.store.Value(*name); !ok || v != "second" {
		t.Errorf("value is %q, %v", v, ok)
	}
}

func TestAParameterIsFoundByItsARN(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"/holdfast/mode", "plain"} {
		r.mustPut(t, name, "observe")
		got, err := r.client.GetParameter(context.Background(), &ssm.GetParameterInput{Name: aws.String(name)})
		if err != nil {
			t.Fatalf("get parameter: %v", err)
		}
		arn := aws.ToString(got.Parameter.ARN)
		if want := "arn:aws:ssm:us-east-1:111122223333:parameter/" + strings.TrimPrefix(name, "/"); arn != want {
			t.Errorf("ARN is %s, want %s", arn, want)
		}
		if got, err = r.client.GetParameter(context.Background(), &ssm.GetParameterInput{Name: &arn}); err != nil || aws.ToString(got.Parameter.Name) != name {
			t.Errorf("get by ARN: %v, %v", got, err)
		}
	}
}

func TestAnAllowedPatternRefusesEveryOtherValue(t *testing.T) {
	r := newRig(t)
	name, pattern := aws.String("/holdfast/mode"), aws.String("^(act|observe|off)$")
	if _, err := r.put(ssm.PutParameterInput{Name: name, Value: aws.String("observe"), AllowedPattern: pattern}); err != nil {
		t.Fatalf("put parameter: %v", err)
	}
	for value, want := range map[string]string{"act": "", "on": "ParameterPatternMismatchException", "Act": "ParameterPatternMismatchException"} {
		_, err := r.put(ssm.PutParameterInput{Name: name, Value: aws.String(value), Overwrite: aws.Bool(true)})
		if code(err) != want {
			t.Errorf("value %q: %v, want %q", value, err, want)
		}
	}
	if v, _ := r.store.Value(*name); v != "act" {
		t.Errorf("value is %q, want act", v)
	}
}

func TestWrongParametersAreRefused(t *testing.T) {
	long := strings.Repeat("x", 4097)
	cases := []struct {
		name string
		in   ssm.PutParameterInput
		code string
	}{
		{"more than 4 KB", ssm.PutParameterInput{Name: aws.String("a"), Value: &long}, "ValidationException"},
		{"more than 4 KB in the advanced tier", ssm.PutParameterInput{Name: aws.String("a"), Value: &long, Tier: types.ParameterTierAdvanced}, ""},
		{"exactly 4 KB", ssm.PutParameterInput{Name: aws.String("b"), Value: aws.String(long[:4096])}, ""},
		{"an empty value", ssm.PutParameterInput{Name: aws.String("c"), Value: aws.String("")}, "ValidationException"},
		{"a name with a space", ssm.PutParameterInput{Name: aws.String("/a b"), Value: aws.String("x")}, "ValidationException"},
		{"a path without its first slash", ssm.PutParameterInput{Name: aws.String("a/b"), Value: aws.String("x")}, "ValidationException"},
		{"a reserved prefix", ssm.PutParameterInput{Name: aws.String("/AWS/b"), Value: aws.String("x")}, "ValidationException"},
		{"sixteen levels", ssm.PutParameterInput{Name: aws.String(strings.Repeat("/l", 16)), Value: aws.String("x")}, "HierarchyLevelLimitExceededException"},
		{"an unknown type", ssm.PutParameterInput{Name: aws.String("d"), Value: aws.String("x"), Type: "Number"}, "UnsupportedParameterType"},
		{"a pattern that is none", ssm.PutParameterInput{Name: aws.String("e"), Value: aws.String("x"), AllowedPattern: aws.String("(")}, "InvalidAllowedPatternException"},
		{"no type for a new one", ssm.PutParameterInput{Name: aws.String("f"), Value: aws.String("x"), Overwrite: aws.Bool(true)}, "ValidationException"},
	}
	r := newRig(t)
	for _, tc := range cases {
		if _, err := r.put(tc.in); code(err) != tc.code {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.code)
		}
	}
}

func TestASecureStringStaysSecretWithoutDecryption(t *testing.T) {
	r := newRig(t)
	name := aws.String("/holdfast/webhook")
	if _, err := r.put(ssm.PutParameterInput{Name: name, Value: aws.String("hunter2"), Type: types.ParameterTypeSecureString}); err != nil {
		t.Fatalf("put parameter: %v", err)
	}
	for _, decrypt := range []bool{true, false} {
		got, err := r.client.GetParameter(context.Background(), &ssm.GetParameterInput{Name: name, WithDecryption: &decrypt})
		if err != nil {
			t.Fatalf("get parameter: %v", err)
		}
		if shown := aws.ToString(got.Parameter.Value); strings.Contains(shown, "hunter2") != decrypt || got.Parameter.Type != types.ParameterTypeSecureString {
			t.Errorf("decrypt %v: value %q of type %s", decrypt, shown, got.Parameter.Type)
		}
	}
}

func TestGetParametersSeparatesTheUnknownNames(t *testing.T) {
	r := newRig(t)
	r.mustPut(t, "/a", "1")
	r.mustPut(t, "/b", "2")
	get := func(names ...string) (*ssm.GetParametersOutput, error) {
		return r.client.GetParameters(context.Background(), &ssm.GetParametersInput{Names: names})
	}
	out, err := get("/a", "/nowhere", "/b")
	if err != nil || len(out.Parameters) != 2 || !slices.Equal(out.InvalidParameters, []string{"/nowhere"}) {
		t.Errorf("got %v, %v", out, err)
	}
	many := []string{"/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9", "/10"}
	if _, err := get(many...); code(err) != "ValidationException" {
		t.Errorf("eleven names: %v", err)
	}
	if _, err := get("/a", "/a"); code(err) != "ValidationException" {
		t.Errorf("one name twice: %v", err)
	}
}

func (r *rig) walk(t *testing.T, path string, recursive bool) (names []string, sizes []int) {
	t.Helper()
	p := ssm.NewGetParametersByPathPaginator(r.client, &ssm.GetParametersByPathInput{Path: &path, Recursive: &recursive})
	for p.HasMorePages() {
		out, err := p.NextPage(context.Background())
		if err != nil {
			t.Fatalf("page: %v", err)
		}
		sizes = append(sizes, len(out.Parameters))
		for _, one := range out.Parameters {
			names = append(names, aws.ToString(one.Name))
		}
	}
	return names, sizes
}

func TestAPathIsReadInPagesOfTenThatMayBeShortOrEmpty(t *testing.T) {
	r := newRig(t)
	for i := range 23 {
		r.mustPut(t, fmt.Sprintf("/holdfast/groups/g%02d", i), "{}")
	}
	r.mustPut(t, "/holdfast/mode", "observe")
	r.mustPut(t, "/holdfastly/other", "x")
	cases := []struct {
		name      string
		path      string
		recursive bool
		size      func(string, int) int
		names     int
		sizes     []int
	}{
		{"plain", "/holdfast/groups", false, nil, 23, []int{10, 10, 3}},
		{"a slash at the end", "/holdfast/groups/", false, nil, 23, []int{10, 10, 3}},
		{"children only", "/holdfast", false, nil, 1, []int{1}},
		{"everything below", "/holdfast", true, nil, 24, []int{10, 10, 4}},
		{"nothing there", "/nowhere", true, nil, 0, []int{0}},
		{"first and third page empty", "/holdfast/groups", false, func(_ string, page int) int {
			return []int{0, -1, 0, 4, -1, -1}[page]
		}, 23, []int{0, 10, 0, 4, 9}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r.store.SetHooks(params.Hooks{PageSize: tc.size})
			names, sizes := r.walk(t, tc.path, tc.recursive)
			if len(names) != tc.names || !slices.Equal(sizes, tc.sizes) || !slices.IsSorted(names) {
				t.Errorf("%d names in pages of %v, want %d in %v", len(names), sizes, tc.names, tc.sizes)
			}
		})
	}
	for name, in := range map[string]*ssm.GetParametersByPathInput{
		"InvalidNextToken":      {Path: aws.String("/holdfast"), NextToken: aws.String("nonsense")},
		"ValidationException":   {Path: aws.String("/holdfast"), MaxResults: aws.Int32(11)},
		"ValidationException\n": {Path: aws.String("holdfast")},
	} {
		if _, err := r.client.GetParametersByPath(context.Background(), in); code(err) != strings.TrimSpace(name) {
			t.Errorf("want %s, got %v", name, err)
		}
	}
}

func TestAccessIsDeniedByNameAndOnAPathOnlyByThePath(t *testing.T) {
	r := newRig(t)
	r.mustPut(t, "/holdfast/mode", "observe")
	r.mustPut(t, "/holdfast/defaults", "{}")
	r.store.SetHooks(params.Hooks{Denied: func(_, name string) bool { return name == "/holdfast/mode" }})
	ctx, mode := context.Background(), aws.String("/holdfast/mode")
	calls := map[string]func() error{
		"get": func() error { _, err := r.client.GetParameter(ctx, &ssm.GetParameterInput{Name: mode}); return err },
		"get several": func() error {
			_, err := r.client.GetParameters(ctx, &ssm.GetParametersInput{Names: []string{"/holdfast/defaults", *mode}})
			return err
		},
		"put": func() error {
			_, err := r.put(ssm.PutParameterInput{Name: mode, Value: aws.String("act"), Overwrite: aws.Bool(true)})
			return err
		},
		"delete": func() error {
			_, err := r.client.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: mode})
			return err
		},
	}
	for name, call := range calls {
		if got := code(call()); got != "AccessDeniedException" {
			t.Errorf("%s: code %q, want AccessDeniedException", name, got)
		}
	}
	if names, _ := r.walk(t, "/holdfast", true); len(names) != 2 {
		t.Errorf("by path got %v, want both: children are not asked for", names)
	}
	if v, _ := r.store.Value(*mode); v != "observe" {
		t.Errorf("value is %q", v)
	}
}

func TestEveryChangeIsToldWithoutItsValue(t *testing.T) {
	r := newRig(t)
	name := aws.String("/holdfast/mode")
	steps := []func() error{
		func() error {
			_, err := r.put(ssm.PutParameterInput{Name: name, Value: aws.String("off"), Description: aws.String("switch")})
			return err
		},
		func() error {
			_, err := r.put(ssm.PutParameterInput{Name: name, Value: aws.String("act"), Overwrite: aws.Bool(true)})
			return err
		},
		func() error {
			_, err := r.client.DeleteParameter(context.Background(), &ssm.DeleteParameterInput{Name: name})
			return err
		},
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	if _, err := r.client.DeleteParameter(context.Background(), &ssm.DeleteParameterInput{Name: name}); code(err) != "ParameterNotFound" {
		t.Errorf("second delete: %v", err)
	}
	arn := "arn:aws:ssm:us-east-1:111122223333:parameter/holdfast/mode"
	var want []params.Change
	for _, operation := range []string{"Create", "Update", "Delete"} {
		want = append(want, params.Change{Operation: operation, Name: *name, Type: "String", Description: "switch", ARN: arn})
	}
	if !slices.Equal(r.changes, want) {
		t.Fatalf("changes are %+v, want %+v", r.changes, want)
	}
	detail, err := json.Marshal(r.changes[1])
	if got := string(detail); err != nil || got != `{"operation":"Update","name":"/holdfast/mode","type":"String","description":"switch"}` {
		t.Errorf("detail is %s, %v", got, err)
	}
}
