package operator_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/operator"
	"github.com/holdfast-aws/holdfast/localstack/world/params"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

var _ operator.Parameters = (*operator.Store)(nil)

// api is the embedded Parameter Store behind the client's calls; err answers every call, bare leaves the value out.
type api struct {
	store *params.Store
	err   error
	bare  bool
}

func (a *api) GetParameter(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	if a.err != nil || a.bare {
		return &ssm.GetParameterOutput{}, a.err
	}
	return a.store.GetParameter(in)
}

func (a *api) PutParameter(_ context.Context, in *ssm.PutParameterInput, _ ...func(*ssm.Options)) (*ssm.PutParameterOutput, error) {
	if a.err != nil {
		return nil, a.err
	}
	return a.store.PutParameter(in)
}

func TestAParameterIsCreatedOnceAndThenReplaced(t *testing.T) {
	a := &api{store: params.New(params.Options{Now: now})}
	s, ctx := operator.NewStore(a), t.Context()
	if _, err := s.Get(ctx, "/holdfast/groups/web"); !errors.Is(err, fault.Gone) {
		t.Errorf("a parameter that does not exist: %v", err)
	}
	if v, err := s.Put(ctx, "/holdfast/groups/web", "{}", true); err != nil || v != 1 {
		t.Errorf("created as version %d, %v", v, err)
	}
	if _, err := s.Put(ctx, "/holdfast/groups/web", "{1}", true); !errors.Is(err, fault.Conflict) {
		t.Errorf("created twice: %v", err)
	}
	if v, err := s.Put(ctx, "/holdfast/groups/web", `{"mode":"off"}`, false); err != nil || v != 2 {
		t.Errorf("replaced as version %d, %v", v, err)
	}
	if p, err := s.Get(ctx, "/holdfast/groups/web"); err != nil || p != (operator.Parameter{Value: `{"mode":"off"}`, Version: 2}) {
		t.Errorf("parameter %+v, %v", p, err)
	}
	if p, err := s.Get(ctx, "/holdfast/groups/web:1"); err != nil || p != (operator.Parameter{Value: "{}", Version: 1}) {
		t.Errorf("version 1 is %+v, %v", p, err)
	}
}

func TestASecretParameterIsReadPlainAndStaysSecret(t *testing.T) {
	a := &api{store: params.New(params.Options{Now: now})}
	name := aws.String("/holdfast/groups/web")
	_, err := a.store.PutParameter(&ssm.PutParameterInput{Name: name, Value: aws.String("{}"), Type: types.ParameterTypeSecureString})
	must(t, err)
	s := operator.NewStore(a)
	if p, err := s.Get(t.Context(), *name); err != nil || p.Value != "{}" {
		t.Errorf("parameter %+v, %v", p, err)
	}
	_, err = s.Put(t.Context(), *name, `{"mode":"off"}`, false)
	must(t, err)
	out, err := a.store.GetParameter(&ssm.GetParameterInput{Name: name})
	must(t, err)
	if out.Parameter.Type != types.ParameterTypeSecureString {
		t.Errorf("it became a %s", out.Parameter.Type)
	}
}

func TestFailuresOfTheParameterStoreKeepTheirKind(t *testing.T) {
	for _, c := range []struct {
		err, kind error
	}{
		{&smithy.GenericAPIError{Code: "ThrottlingException", Message: "Rate exceeded"}, fault.Throttled},
		{&smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized"}, fault.Refused},
		{errors.New("connection reset"), fault.Unknown},
	} {
		s := operator.NewStore(&api{err: c.err})
		if _, err := s.Get(t.Context(), "/x"); !errors.Is(err, c.kind) {
			t.Errorf("get: %v, want %v", err, c.kind)
		}
		if _, err := s.Put(t.Context(), "/x", "y", false); !errors.Is(err, c.kind) {
			t.Errorf("put: %v, want %v", err, c.kind)
		}
	}
	if _, err := operator.NewStore(&api{bare: true}).Get(t.Context(), "/x"); !errors.Is(err, fault.Partial) {
		t.Errorf("an answer without a value: %v", err)
	}
}
