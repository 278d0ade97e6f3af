package stack_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/infra/stack"
)

// regions has one Region of each partition.
func regions() []string {
	return []string{"eu-central-1", "cn-north-1", "us-gov-west-1", "us-iso-east-1", "us-isob-east-1", "eusc-de-east-1"}
}

// guardianIn is the template of a Guardian whose account and Region are stated, with the Region's name taken out: the bucket of the assets
// has it in its name.
func guardianIn(t *testing.T, region, code string) string {
	t.Helper()
	var raw []byte
	err := try(func() error {
		env := &awscdk.Environment{Account: jsii.String("111122223333"), Region: jsii.String(region)}
		s := awscdk.NewStack(newApp(t), jsii.String("Guardian"), &awscdk.StackProps{Env: env})
		stack.NewGuardian(s, "Holdfast", stack.GuardianProps{CodeDir: code})
		var err error
		raw, err = json.MarshalIndent(assertions.Template_FromStack(s, nil).ToJSON(), "", " ")
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", region, err)
	}
	return strings.ReplaceAll(string(raw), region, "REGION")
}

func TestOneTemplateFitsEveryPartition(t *testing.T) {
	needNode(t)
	built := code(t)
	arn, service := regexp.MustCompile(`"arn:[a-z]`), regexp.MustCompile(`"Service": "([^"]*)"`)
	first := guardianIn(t, regions()[0], built)
	for _, region := range regions() {
		template := guardianIn(t, region, built)
		if found := arn.FindAllString(template, -1); len(found) > 0 {
			t.Errorf("%s: a partition is named: %q", region, found)
		}
		principals := service.FindAllStringSubmatch(template, -1)
		if len(principals) == 0 {
			t.Errorf("%s: no principal of a service", region)
		}
		for _, found := range principals {
			// Principals of services have this one name in every partition. Source: IAM user guide, "AWS JSON policy elements: Principal".
			if !slices.Contains([]string{"lambda.amazonaws.com", "events.amazonaws.com", "cloudwatch.amazonaws.com"}, found[1]) {
				t.Errorf("%s: the principal %s", region, found[1])
			}
		}
		if strings.Contains(template, "AWS::Scheduler::") {
			t.Errorf("%s: a schedule of EventBridge Scheduler, which some partitions do not offer", region)
		}
		if template != first {
			t.Errorf("%s has a template of its own: %s", region, differing(template, first))
		}
	}
}

// differing is the first line of a text that another one does not have there.
func differing(text, other string) string {
	lines := strings.Split(other, "\n")
	for i, line := range strings.Split(text, "\n") {
		if i >= len(lines) || line != lines[i] {
			return line
		}
	}
	return "it ends early"
}
