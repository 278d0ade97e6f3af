package awserr_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/awserr"
)

func TestOnlyAnAnswerThatSaysSoIsDenied(t *testing.T) {
	for code, want := range map[string]bool{
		"AccessDenied": true, "UnauthorizedOperation": true, "AuthorizationError": true, "AccessDeniedException": true,
		"Throttling": false, "ValidationError": false, "ExpiredToken": false,
	} {
		if have := awserr.Denied(fmt.Errorf("describe: %w", &smithy.GenericAPIError{Code: code})); have != want {
			t.Errorf("%s: denied %t, want %t", code, have, want)
		}
	}
	if awserr.Denied(errors.New("AccessDenied")) || awserr.Denied(nil) {
		t.Error("an error that is no answer of AWS is taken for a denial")
	}
}
