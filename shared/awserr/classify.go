package awserr

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/holdfast-aws/holdfast/shared/fault"
)

// Classify wraps the error of an SDK call in the kind of package fault that it is, with the original below it for errors.As.
// No error gives nil, and an error that has a kind already is returned as it is.
//
// Throttled, Gone, TooYoung, Conflict and Refused are given only when the answer itself says that nothing happened. A timeout, a
// cancelled context, a connection that broke, a server's fault and everything that is not recognised are Unknown.
// Source: SDK doc comments of the operations and of package aws/retry; the text of the grace refusal is as published by
// others, because AWS does not document it.
func Classify(err error) error {
	if err == nil || kinded(err) {
		return err
	}
	return fmt.Errorf("%w: %w", kindOf(err), err)
}

func kinded(err error) bool {
	for _, kind := range []error{
		fault.Throttled, fault.Gone, fault.TooYoung, fault.Conflict, fault.Refused, fault.Unknown, fault.Partial,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func kindOf(err error) error {
	if neverSent(err) {
		return fault.Refused
	}
	var cancelled *ddb.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return kindOfTransaction(cancelled)
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		return kindOfAnswer(answer{
			code:    api.ErrorCode(),
			message: strings.ToLower(api.ErrorMessage()),
			fault:   api.ErrorFault(),
			status:  status(err),
		})
	}
	// The retry quota comes joined with the error that was not retried. Alone it says that nothing was sent; beside a broken
	// connection or a lost answer it says nothing about what that attempt did.
	var quota ratelimit.QuotaExceededError
	if errors.As(err, &quota) && !attempted(err) {
		return fault.Throttled
	}
	return fault.Unknown
}

// neverSent says that the SDK itself refused the input, before any attempt.
func neverSent(err error) bool {
	var invalid smithy.InvalidParamsError
	var unserializable *smithy.SerializationError
	return errors.As(err, &invalid) || errors.As(err, &unserializable)
}

// attempted says that the error holds what became of a request that may have reached AWS.
func attempted(err error) bool {
	var send *smithyhttp.RequestSendError
	var response *smithyhttp.ResponseError
	var unreadable *smithy.DeserializationError
	var cancelled *smithy.CanceledError
	return errors.As(err, &send) || errors.As(err, &response) || errors.As(err, &unreadable) || errors.As(err, &cancelled)
}

// status is the HTTP status of the answer, 0 if the error does not have one.
func status(err error) int {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.Response != nil && response.Response.Response != nil {
		return response.HTTPStatusCode()
	}
	return 0
}

// answer is what AWS said; the message is in lower case.
type answer struct {
	code, message string
	fault         smithy.ErrorFault
	status        int
}

func kindOfAnswer(a answer) error {
	switch {
	case a.code == "TransactionInProgressException":
		// The SDK counts it as a throttle, but it says that the very transaction may be on its way.
		return fault.Unknown
	case throttled(a):
		return fault.Throttled
	case a.status >= http.StatusInternalServerError || a.status == http.StatusRequestTimeout:
		return fault.Unknown
	case conflicting(a.code):
		return fault.Conflict
	case validation(a.code) && strings.Contains(a.message, "less than the configured grace period"):
		return fault.TooYoung
	case gone(a):
		return fault.Gone
	case refused(a):
		return fault.Refused
	default:
		return fault.Unknown
	}
}

func throttled(a answer) bool {
	switch a.code {
	case "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestThrottledException",
		"RequestLimitExceeded", "TooManyRequestsException", "ProvisionedThroughputExceededException", "ThrottlingError",
		"EC2ThrottledException", "BandwidthLimitExceeded", "SlowDown":
		return true
	}
	return a.status == http.StatusTooManyRequests || strings.Contains(a.message, "rate exceeded")
}

func conflicting(code string) bool {
	switch code {
	case "ConditionalCheckFailedException", "ConditionalCheckFailed", "TransactionConflictException", "TransactionConflict":
		return true
	}
	return false
}

func validation(code string) bool { return code == "ValidationError" || code == "ValidationException" }

// gone knows the codes for a thing that does not exist, and the texts of Auto Scaling, which has no code of its own for it.
func gone(a answer) bool {
	switch a.code {
	case "ResourceNotFound", "ResourceNotFoundException", "ResourceNotFoundFault", "ParameterNotFound",
		"TargetGroupNotFound", "TargetGroupNotFoundException", "LoadBalancerNotFound", "InvalidInstanceID.NotFound",
		"QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue":
		return true
	}
	if !validation(a.code) {
		return false
	}
	for _, text := range []string{"instance id not found", "no managed instance found", "autoscalinggroup name not found", "auto scaling group name not found"} {
		if strings.Contains(a.message, text) {
			return true
		}
	}
	return false
}

// refused says that the caller is at fault: by status if there is one, else by what the SDK's model says of the code.
func refused(a answer) bool {
	if a.status != 0 {
		return a.status >= http.StatusBadRequest
	}
	return a.fault == smithy.FaultClient || strings.HasPrefix(a.code, "AccessDenied") || a.code == "UnauthorizedOperation" || validation(a.code)
}

// kindOfTransaction judges a cancelled transaction by the reasons of its items. Nothing of it was written. An overtaken
// condition comes first and a refusal second, because after these no repeat of the same request can succeed.
// Source: SDK doc comment of TransactionCanceledException.
func kindOfTransaction(e *ddb.TransactionCanceledException) error {
	throttles, refusals := 0, 0
	for _, reason := range e.CancellationReasons {
		if reason.Code == nil {
			continue
		}
		switch code := *reason.Code; {
		case conflicting(code):
			return fault.Conflict
		case throttled(answer{code: code}), code == "ProvisionedThroughputExceeded":
			throttles++
		case code != "None":
			refusals++
		}
	}
	switch {
	case refusals > 0:
		return fault.Refused
	case throttles > 0:
		return fault.Throttled
	}
	return fault.Unknown
}
