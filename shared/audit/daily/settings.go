package daily

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// The parameters in which people say what they accept and what their services promise, in the forms of the command line's files. Each
// may be absent.
const (
	ParameterAccepted   = "/holdfast/audit/accepted"
	ParameterThresholds = "/holdfast/audit/thresholds"
)

// ParametersAPI is the call of the Systems Manager client that is made here.
type ParametersAPI interface {
	GetParameters(context.Context, *ssm.GetParametersInput, ...func(*ssm.Options)) (*ssm.GetParametersOutput, error)
}

// Settings reads the two parameters.
type Settings struct{ api ParametersAPI }

// NewSettings makes Settings over a client. It makes no call.
func NewSettings(api ParametersAPI) *Settings { return &Settings{api: api} }

// Read returns what the parameters say, as of the time of the audit. One that cannot be read or understood is left out, and a note says
// why. What it said before is then not known to have changed, which u says.
func (s *Settings) Read(ctx context.Context, at time.Time) (o audit.Options, u Unsaid, notes []string) {
	out, err := s.api.GetParameters(ctx, &ssm.GetParametersInput{
		Names: []string{ParameterAccepted, ParameterThresholds}, WithDecryption: aws.Bool(true),
	})
	if err != nil {
		return o, Unsaid{Accepted: true, Promises: true}, []string{fmt.Sprintf(
			"The accepted findings and the thresholds could not be read: what was accepted stays so, and findings that hang on the thresholds stay as they were: %s", told(err))}
	}
	for _, p := range out.Parameters {
		text := []byte(aws.ToString(p.Value))
		switch aws.ToString(p.Name) {
		case ParameterAccepted:
			o.Acknowledgements, err = audit.DecodeAcknowledgements(text, at)
			u.Accepted = err != nil
		case ParameterThresholds:
			o.Promises, err = audit.DecodePromises(text)
			u.Promises = err != nil
		default:
			continue
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("The parameter %s is refused as a whole, so that nothing in it counts and what it decided before stays: %v", *p.Name, err))
		}
	}
	return o, u, notes
}

// told is an error in AWS's words, without what differs from one day to the next: what is told again every day is not read.
func told(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode() + ": " + api.ErrorMessage()
	}
	return "AWS gave no answer"
}
