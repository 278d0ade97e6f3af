package wire

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
)

// Error is an AWS error that the service's model does not list, such as
// Throttling or ValidationError.
type Error struct {
	// Code is the error code clients match on.
	Code string
	// Message is the text for people.
	Message string
	// Status is the HTTP status; 0 means 400.
	Status int
}

// Error returns code and message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// UnknownOperation is the answer to an operation a service does not have.
func UnknownOperation(operation string) error {
	return &Error{
		Code:    "UnknownOperationException",
		Message: fmt.Sprintf("operation %q is not part of the embedded AWS", operation),
		Status:  http.StatusNotImplemented,
	}
}

// failure is an error in the shape all protocols need.
type failure struct {
	code    string // on the wire
	query   string // the older query code, "" without one
	message string
	status  int
	model   members // nil for codes without a model
	schema  *smithy.Schema
}

// members is the part of a modeled error that writes its own fields.
type members interface {
	SerializeMembers(smithy.ShapeSerializer)
}

// fault names whose mistake it was, in the words of the query protocols.
func (f failure) fault() string {
	if f.status >= http.StatusInternalServerError {
		return "Receiver"
	}
	return "Sender"
}

// failureOf sorts an error into the shape of a failure. Anything that is neither
// a modeled error nor an *Error is our own defect and becomes InternalFailure.
func failureOf(err error) failure {
	var own *Error
	if errors.As(err, &own) {
		status := own.Status
		if status == 0 {
			status = http.StatusBadRequest
		}
		return failure{code: own.Code, message: own.Message, status: status}
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		if modeled, ok := api.(smithy.Serializable); ok {
			return modeledFailure(api, modeled)
		}
		return failure{code: api.ErrorCode(), message: api.ErrorMessage(), status: statusOf(api)}
	}
	return failure{code: "InternalFailure", message: err.Error(), status: http.StatusInternalServerError}
}

func modeledFailure(api smithy.APIError, modeled smithy.Serializable) failure {
	schema := schemaOf(modeled)
	f := failure{code: api.ErrorCode(), message: api.ErrorMessage(), status: statusOf(api), schema: schema}
	if m, ok := modeled.(members); ok && schema != nil {
		f.model = m
		f.code = schema.ID().Name
	}
	if t, ok := smithy.SchemaTrait[*traits.HTTPError](schema); ok {
		f.status = t.Code
	}
	if t, ok := smithy.SchemaTrait[*traits.AWSQueryError](schema); ok {
		f.query = t.ErrorCode
	}
	return f
}

func statusOf(api smithy.APIError) int {
	if api.ErrorFault() == smithy.FaultServer {
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// CodeOf returns the code under which a client sees the error.
func CodeOf(err error) string {
	f := failureOf(err)
	if f.query != "" {
		return f.query
	}
	return f.code
}
