package probeaws

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/probe"
)

// ParameterAPI is the call of the SSM client that is made here.
type ParameterAPI interface {
	GetParameter(context.Context, *ssm.GetParameterInput, ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
}

// Documents reads the sources from probe.Parameter.
type Documents struct{ api ParameterAPI }

// NewDocuments makes Documents over a client.
func NewDocuments(api ParameterAPI) *Documents { return &Documents{api: api} }

// Read gives the parameter as it is now; one that does not exist is not found, which is no error.
func (d *Documents) Read(ctx context.Context) (raw string, found bool, err error) {
	out, err := d.api.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(probe.Parameter), WithDecryption: aws.Bool(true)})
	if err = awserr.Classify(err); errors.Is(err, fault.Gone) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("get parameter: %w", err)
	}
	if out.Parameter == nil || out.Parameter.Value == nil {
		return "", false, fmt.Errorf("get parameter: %w: it has no value", fault.Partial)
	}
	return *out.Parameter.Value, true, nil
}
