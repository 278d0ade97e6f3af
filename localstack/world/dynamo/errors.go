package dynamo

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// validation is the error of a request that is wrong in itself. The SDK models no type for it.
func validation(format string, args ...any) error {
	return &smithy.GenericAPIError{
		Code:    "ValidationException",
		Message: fmt.Sprintf(format, args...),
		Fault:   smithy.FaultClient,
	}
}

func notFound(message string) error {
	return &types.ResourceNotFoundException{Message: aws.String(message)}
}

// errCondition is the refusal of a conditional write; item is attached only when the caller asked for it.
func errCondition(item Item) error {
	return &types.ConditionalCheckFailedException{
		Message: aws.String("The conditional request failed"),
		Item:    item,
	}
}
