package app

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// newStack declares a stack that is not to be deleted by accident. It states no account and no Region: those come from the stage, or from
// who deploys.
func newStack(scope constructs.Construct, name string) awscdk.Stack {
	return awscdk.NewStack(scope, jsii.String(name), &awscdk.StackProps{
		StackName: jsii.String("Holdfast" + name), TerminationProtection: jsii.Bool(name == GuardianStack),
		Description: jsii.String("Holdfast: " + name),
	})
}
