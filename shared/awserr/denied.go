package awserr

import (
	"errors"

	"github.com/aws/smithy-go"
)

// Denied says that an SDK call's error is AWS's answer that the caller is not allowed to make that call, which no repetition mends.
func Denied(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode() {
	case "AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "AuthorizationErrorException":
		return true
	}
	return false
}
