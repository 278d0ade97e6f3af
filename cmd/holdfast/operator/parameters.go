package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

// ParameterAPI are the calls of the SSM client that are made here.
type ParameterAPI interface {
	GetParameter(context.Context, *ssm.GetParameterInput, ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
	PutParameter(context.Context, *ssm.PutParameterInput, ...func(*ssm.Options)) (*ssm.PutParameterOutput, error)
}

// Store is Parameters over the Parameter Store. It keeps nothing between calls.
type Store struct{ api ParameterAPI }

// NewStore makes a Store over a client.
func NewStore(api ParameterAPI) *Store { return &Store{api: api} }

// Get reads one parameter with its version; fault.Gone if there is none. A name may end in :N for version N.
func (s *Store) Get(ctx context.Context, name string) (Parameter, error) {
	out, err := s.api.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(name), WithDecryption: aws.Bool(true)})
	if err != nil {
		return Parameter{}, fmt.Errorf("get parameter %s: %w", name, awserr.Classify(err))
	}
	if out.Parameter == nil || out.Parameter.Value == nil {
		return Parameter{}, fmt.Errorf("get parameter %s: %w: no value came back", name, fault.Partial)
	}
	return Parameter{Value: *out.Parameter.Value, Version: out.Parameter.Version}, nil
}

// Put writes a value and returns its version. A new parameter is a plain string; an old one keeps its type, description and pattern.
// Source: SDK doc comment of PutParameterInput.
func (s *Store) Put(ctx context.Context, name, value string, create bool) (int64, error) {
	in := &ssm.PutParameterInput{Name: aws.String(name), Value: aws.String(value), Overwrite: aws.Bool(!create)}
	if create {
		in.Type = types.ParameterTypeString
	}
	out, err := s.api.PutParameter(ctx, in)
	var exists *types.ParameterAlreadyExists
	if errors.As(err, &exists) {
		return 0, fmt.Errorf("put parameter %s: %w: %w", name, fault.Conflict, err)
	}
	if err != nil {
		return 0, fmt.Errorf("put parameter %s: %w", name, awserr.Classify(err))
	}
	return out.Version, nil
}

// meanwhileError is the refusal of a write because somebody else wrote between the look and it; nothing was written.
type meanwhileError struct{ error }

// Unwrap gives the refusal.
func (e meanwhileError) Unwrap() error { return e.error }

func meanwhile(format string, args ...any) error { return meanwhileError{refuse(format, args...)} }

// replace writes a value in place of the version that was looked at. Parameter Store has no conditional write, so the version is
// read once more just before, and the version of the write shows whether another one came between. Another one of the same value is
// as good as this one: it is a second person with the same wish, or a repeated try of this write.
func (d *Desk) replace(ctx context.Context, name, value string, seen Parameter) (int64, error) {
	now, err := d.parameter(ctx, name)
	switch {
	case err != nil:
		return 0, err
	case now.Version != seen.Version && now.Version != 0 && now.Value == value:
		return now.Version, nil
	case now.Version != seen.Version:
		return 0, meanwhile("%s was changed by somebody else meanwhile, from version %d to %d; nothing was written: look again and repeat", name, seen.Version, now.Version)
	}
	version, err := d.p.Parameters.Put(ctx, name, value, seen.Version == 0)
	switch {
	case errors.Is(err, fault.Conflict):
		return d.created(ctx, name, value, err)
	case errors.Is(err, fault.Unknown):
		return d.settled(ctx, name, value, err)
	case err != nil:
		return 0, err
	case version == seen.Version+2 && d.was(ctx, name, version-1, value):
		return version, nil
	case version != seen.Version+1:
		return version, refuse("%s was written as version %d, and version %d came between (somebody else's, or a repeated try of this one): compare them with aws ssm get-parameter-history --name %s and repeat if need be",
			name, version, version-1, name)
	}
	return version, nil
}

// was says that a version of a parameter had a value; one that cannot be read had not.
func (d *Desk) was(ctx context.Context, name string, version int64, value string) bool {
	p, err := d.p.Parameters.Get(ctx, fmt.Sprintf("%s:%d", name, version))
	return err == nil && p.Value == value
}

// created looks who created a parameter that was not there just before: the client repeats a try whose answer was lost, and then meets
// what that try wrote.
func (d *Desk) created(ctx context.Context, name, value string, cause error) (int64, error) {
	now, err := d.parameter(ctx, name)
	switch {
	case err != nil:
		return 0, UnsettledError{fmt.Errorf("%w; who created it could not be read: %w", cause, err)}
	case now.Version != 0 && now.Value == value:
		return now.Version, nil
	}
	return 0, meanwhile("%s was created by somebody else meanwhile; nothing was written: look again and repeat", name)
}

// settled looks what became of a write whose answer was lost.
func (d *Desk) settled(ctx context.Context, name, value string, cause error) (int64, error) {
	now, err := d.parameter(ctx, name)
	if err == nil && now.Version != 0 && now.Value == value {
		return now.Version, nil
	}
	return 0, written(cause)
}

// parameter reads one parameter; one that does not exist has version 0.
func (d *Desk) parameter(ctx context.Context, name string) (Parameter, error) {
	p, err := d.p.Parameters.Get(ctx, name)
	if errors.Is(err, fault.Gone) {
		return Parameter{}, nil
	}
	return p, err
}
