package stack

import (
	"fmt"
	"os"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/infra/review"
)

// Judge makes every synth of the app judge all its templates by the rules of package review: a target group or Auto Scaling group of any
// stack that breaks one fails the synth, with and without CDK's command line, and also under --no-validation.
func Judge(app constructs.IConstruct, register *review.Register) {
	awscdk.Validations_Of(app).AddPlugins(&judge{register: register})
}

// judge is a plugin that reads finished templates; CDK calls it after synthesis.
type judge struct{ register *review.Register }

// Name implements awscdk.IPolicyValidationPlugin.
func (*judge) Name() *string { return jsii.String("holdfast") }

// Version implements awscdk.IPolicyValidationPlugin.
func (*judge) Version() *string { return jsii.String("1") }

// RuleIds implements awscdk.IPolicyValidationPlugin.
func (*judge) RuleIds() *[]*string { return &[]*string{} } //nolint:revive // the CDK calls it by this name

// Validate implements awscdk.IPolicyValidationPlugin.
func (j *judge) Validate(c awscdk.IPolicyValidationContext) *awscdk.PolicyValidationPluginReport {
	violations := []*awscdk.PolicyViolation{}
	for _, p := range j.register.Problems() {
		violations = append(violations, violation(p, &awscdk.PolicyViolatingResource{Locations: jsii.Strings("thresholds.json")}))
	}
	for _, s := range *c.StackTemplates() {
		text, err := os.ReadFile(*s.TemplatePath)
		findings, errJudge := review.JudgeTemplate(text, j.register)
		if err != nil {
			errJudge = fmt.Errorf("read template: %w", err)
		}
		if errJudge != nil {
			findings = append(findings, review.Finding{Problem: review.Problem{Rule: "template", Text: errJudge.Error()}})
		}
		for _, f := range findings {
			violations = append(violations, violation(f.Problem, &awscdk.PolicyViolatingResource{
				Locations: jsii.Strings("Resources/" + f.Resource), ResourceLogicalId: jsii.String(f.Resource), TemplatePath: s.TemplatePath,
				ConstructPath: s.StackConstructPath,
			}))
		}
	}
	return &awscdk.PolicyValidationPluginReport{Success: jsii.Bool(len(violations) == 0), Violations: &violations}
}

func violation(p review.Problem, at *awscdk.PolicyViolatingResource) *awscdk.PolicyViolation {
	return &awscdk.PolicyViolation{
		RuleName: jsii.String(p.Rule), Description: jsii.String(p.Text), Severity: jsii.String("error"), ViolatingResources: &[]*awscdk.PolicyViolatingResource{at},
	}
}

func number(n int) *string { return jsii.String(strconv.Itoa(n)) }
