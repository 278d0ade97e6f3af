package stack_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/holdfast-aws/holdfast/infra/app"
	"github.com/holdfast-aws/holdfast/infra/stack"
	"github.com/holdfast-aws/holdfast/shared/heartbeat"
)

// words is a string or a list of strings.
type words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(w))
}

type statement struct {
	Sid, Effect string
	Action      words
	NotAction   any
	Resource    any
	Condition   map[string]map[string]any
}

// statements are those of the role of a function, by the function's name.
func statements(t *testing.T, tpl template, role string) []statement {
	t.Helper()
	var out []statement
	for _, id := range tpl.of("AWS::IAM::Policy") {
		p := tpl.Resources[id].Properties
		if !strings.Contains(text(p["Roles"]), role) {
			continue
		}
		var document struct{ Statement []statement }
		if err := json.Unmarshal([]byte(text(p["PolicyDocument"])), &document); err != nil {
			t.Fatal(err)
		}
		out = append(out, document.Statement...)
	}
	if len(out) == 0 {
		t.Fatalf("no statement for %s", role)
	}
	return out
}

// allowed lists the actions that a role may use, sorted.
func allowed(all []statement) []string {
	set := map[string]bool{}
	for _, s := range all {
		if s.Effect == "Allow" {
			for _, a := range s.Action {
				set[a] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func TestEachFunctionMayDoExactlyThis(t *testing.T) {
	log := []string{"logs:CreateLogStream", "logs:PutLogEvents"}
	// What the CDK grants for a failure destination.
	destination := []string{"sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SendMessage"}
	run := []string{
		"autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeInstanceRefreshes", "autoscaling:DescribeScalingActivities",
		"autoscaling:ResumeProcesses", "autoscaling:SetInstanceHealth", "autoscaling:SuspendProcesses",
		"cloudwatch:DescribeAlarms", "cloudwatch:GetMetricData",
		"dynamodb:BatchGetItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query",
		"ec2:DescribeInstances", "elasticloadbalancing:DescribeTargetGroups", "elasticloadbalancing:DescribeTargetHealth",
		"events:PutEvents", "ssm:GetParametersByPath",
	}
	for role, own := range map[string][]string{
		"SweepRole": run, "AlarmRole": run,
		"NotifyRole": {"dynamodb:GetItem", "dynamodb:PutItem", "sns:Publish"},
		"ProbeRole":  {"autoscaling:DescribeAutoScalingGroups", "dynamodb:GetItem", "dynamodb:PutItem", "ec2:DescribeInstances", "ssm:GetParameter"},
		"AuditRole": {
			"autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeInstanceRefreshes", "autoscaling:DescribeScalingActivities",
			"cloudwatch:DescribeAlarms", "cloudwatch:DescribeAlarmsForMetric", "cloudwatch:GetMetricData",
			"dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query",
			"ec2:DescribeApplicationStatus", "ec2:DescribeApplicationStatusCheckAssociations", "ec2:DescribeApplicationStatusChecks",
			"elasticloadbalancing:DescribeTags", "elasticloadbalancing:DescribeTargetGroupAttributes", "elasticloadbalancing:DescribeTargetGroups", "elasticloadbalancing:DescribeTargetHealth",
			"events:PutEvents", "sns:GetTopicAttributes", "ssm:GetParameters", "ssm:GetParametersByPath",
		},
	} {
		want := slices.Sorted(slices.Values(slices.Concat(own, log, destination)))
		if have := allowed(statements(t, guardian(t), role)); !slices.Equal(have, want) {
			t.Errorf("%s may do\n%q\nwant\n%q", role, have, want)
		}
	}
	for _, p := range guardian(t).properties("AWS::IAM::Role") {
		if p["ManagedPolicyArns"] != nil {
			t.Errorf("a managed policy: %s", text(p))
		}
	}
}

// acts are the calls that change a group.
func acts() []string {
	return []string{"autoscaling:ResumeProcesses", "autoscaling:SetInstanceHealth", "autoscaling:SuspendProcesses"}
}

func TestActsAreOnTaggedGroupsOnly(t *testing.T) {
	const tag = "aws:ResourceTag/holdfast:guard"
	for _, role := range []string{"SweepRole", "AlarmRole"} {
		may, mayNot := 0, 0
		for _, s := range statements(t, guardian(t), role) {
			if !slices.ContainsFunc(s.Action, func(a string) bool { return slices.Contains(acts(), a) }) {
				continue
			}
			switch s.Effect {
			case "Allow":
				may++
				if !slices.Equal(s.Action, acts()) || text(s.Condition) != `{"StringEquals":{"`+tag+`":"true"}}` || text(s.Resource) == `"*"` {
					t.Errorf("%s: %s", role, text(s))
				}
			case "Deny":
				mayNot++
				if !slices.Equal(s.Action, acts()) || text(s.Condition) != `{"StringNotEquals":{"`+tag+`":"true"}}` || text(s.Resource) != `"*"` {
					t.Errorf("%s: %s", role, text(s))
				}
			}
		}
		if may != 1 || mayNot != 1 {
			t.Errorf("%s: %d allow and %d deny acts", role, may, mayNot)
		}
	}
}

func TestEveryOtherWayToEndOrResizeIsDenied(t *testing.T) {
	never := []string{
		"autoscaling:TerminateInstanceInAutoScalingGroup", "autoscaling:UpdateAutoScalingGroup", "autoscaling:SetDesiredCapacity",
		"autoscaling:DeleteAutoScalingGroup", "autoscaling:DetachInstances", "autoscaling:EnterStandby", "autoscaling:StartInstanceRefresh",
		"autoscaling:CreateOrUpdateTags", "autoscaling:DeleteTags", "ec2:TerminateInstances", "ec2:StopInstances", "ec2:CreateTags", "ec2:DeleteTags",
		"elasticloadbalancing:DeregisterTargets", "ssm:PutParameter", "ssm:DeleteParameter",
	}
	for _, role := range []string{"SweepRole", "AlarmRole", "NotifyRole", "ProbeRole", "AuditRole"} {
		var denied []string
		for _, s := range statements(t, guardian(t), role) {
			if s.Effect == "Deny" && s.Condition == nil && text(s.Resource) == `"*"` {
				denied = append(denied, s.Action...)
			}
		}
		for _, action := range never {
			if !slices.Contains(denied, action) {
				t.Errorf("%s may be allowed %s by another policy", role, action)
			}
		}
	}
}

func TestNoActionIsAWildcardAndOnlyReadsAreOnEverything(t *testing.T) {
	for _, name := range []string{app.GuardianStack, app.ExampleStack} {
		tpl := appStack(t, name)
		for _, id := range tpl.of("AWS::IAM::Policy") {
			for _, s := range statements(t, tpl, id[:strings.Index(id, "DefaultPolicy")]) {
				for _, action := range s.Action {
					_, verb, _ := strings.Cut(action, ":")
					read := strings.HasPrefix(verb, "Describe") || strings.HasPrefix(verb, "Get")
					if strings.Contains(action, "*") || (s.Effect == "Allow" && text(s.Resource) == `"*"` && !read) || s.NotAction != nil {
						t.Errorf("%s in %s: %s", id, name, text(s))
					}
				}
			}
		}
	}
}

func TestNoticesMayBePutOnlyAsHoldfastsOwn(t *testing.T) {
	for _, s := range statements(t, guardian(t), "SweepRole") {
		if s.Sid == "Tell" && text(s.Condition) == `{"StringEquals":{"events:detail-type":"Holdfast Notice","events:source":"holdfast"}}` && text(s.Resource) != `"*"` {
			return
		}
	}
	t.Error("no statement restricts what is put on the bus")
}

func TestTheAuditWritesItsOwnItemOnlyAndTellsOnlyAsHoldfast(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range statements(t, guardian(t), "AuditRole") {
		seen[s.Sid] = true
		switch s.Sid {
		case "RememberFindings":
			if text(s.Condition) != `{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["audit"]},"Null":{"dynamodb:LeadingKeys":"false"}}` {
				t.Errorf("%s", text(s))
			}
			continue
		case "Tell":
			if text(s.Condition) != `{"StringEquals":{"events:detail-type":["Holdfast Finding","Holdfast Notice"],"events:source":"holdfast"}}` || text(s.Resource) == `"*"` {
				t.Errorf("%s", text(s))
			}
			continue
		case "Look", "CountSubscriptions", "ReadPolicies", "ReadSettings", "ReadHolds", "ReadHeartbeats":
			for _, action := range s.Action {
				_, verb, _ := strings.Cut(action, ":")
				if !strings.HasPrefix(verb, "Describe") && !strings.HasPrefix(verb, "Get") && verb != "Query" && verb != "BatchGetItem" {
					t.Errorf("%s may do %s", s.Sid, action)
				}
			}
		}
		if s.Sid != "Look" && s.Effect == "Allow" && text(s.Resource) == `"*"` {
			t.Errorf("%s", text(s))
		}
	}
	if !seen["RememberFindings"] || !seen["Tell"] {
		t.Errorf("statements %v", seen)
	}
}

func TestAnInstanceMayWriteItsOwnHeartbeatFetchItsAgentAndNothingElse(t *testing.T) {
	tpl := appStack(t, app.ExampleStack)
	for _, p := range tpl.properties("AWS::IAM::Role") {
		if p["ManagedPolicyArns"] != nil || p["Policies"] != nil {
			t.Errorf("a role has more than its statements: %s", text(p))
		}
	}
	all := statements(t, tpl, "MemberRole")
	if len(all) != 2 {
		t.Fatalf("%d statements: %s", len(all), text(all))
	}
	for _, s := range all {
		switch s.Sid {
		case "OwnHeartbeatOnly":
			// The policy that is tested against requests in package heartbeat.
			raw, err := heartbeat.Policy("any")
			if err != nil {
				t.Fatal(err)
			}
			var want struct{ Statement []statement }
			if err := json.Unmarshal([]byte(raw), &want); err != nil {
				t.Fatal(err)
			}
			resource := text(s.Resource)
			want.Statement[0].Resource = s.Resource
			if text(s) != text(want.Statement[0]) || !strings.Contains(resource, "table/holdfast-heartbeats") || strings.Contains(resource, "*") {
				t.Errorf("have %s\nwant %s", text(s), text(want.Statement[0]))
			}
		case "FetchTheAgent":
			object := regexp.MustCompile(`^\{"Fn::Join":\["",\["arn:",\{"Ref":"AWS::Partition"\},":s3:::",\{"Fn::Sub":"[^*"]+"\},"/[0-9a-f]{64}[^*"]*"\]\]\}$`)
			if s.Effect != "Allow" || !slices.Equal(s.Action, []string{"s3:GetObject"}) || s.Condition != nil || !object.MatchString(text(s.Resource)) {
				t.Errorf("%s", text(s))
			}
		default:
			t.Errorf("%s", text(s))
		}
	}
}

func TestTheTopicTakesAlarmsAndOnlyEncryptedCalls(t *testing.T) {
	policies := guardian(t).properties("AWS::SNS::TopicPolicy")
	if len(policies) != 1 {
		t.Fatalf("%d topic policies", len(policies))
	}
	have := text(policies[0])
	for _, want := range []string{`"cloudwatch.amazonaws.com"`, `"aws:SourceAccount":{"Ref":"AWS::AccountId"}`, `"aws:SecureTransport":"false"`} {
		if !strings.Contains(have, want) {
			t.Errorf("no %s in %s", want, have)
		}
	}
}

func TestSecretsAndAVPCAddWhatTheyNeedAndNoMore(t *testing.T) {
	g, err := synth(t, func(s awscdk.Stack) {
		stack.NewGuardian(s, "G", stack.GuardianProps{CodeDir: code(t), SlackSecret: "/chat/slack", PagerDutySecret: "/chat/pager", ProbeVPC: importedVPC(s), NoReservedConcurrency: true})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements(t, g, "NotifyRole") {
		if slices.Contains(s.Action, "ssm:GetParameter") && (!strings.Contains(text(s.Resource), "parameter/chat/slack") || strings.Contains(text(s.Resource), "*")) {
			t.Errorf("secrets: %s", text(s))
		}
	}
	if have := allowed(statements(t, g, "ProbeRole")); !slices.Contains(have, "ec2:CreateNetworkInterface") {
		t.Errorf("probe in a VPC may do %q", have)
	}
	if have := allowed(statements(t, g, "SweepRole")); slices.Contains(have, "ec2:CreateNetworkInterface") {
		t.Errorf("sweep may do %q", have)
	}
	for _, p := range g.properties("AWS::Lambda::Function") {
		if p["ReservedConcurrentExecutions"] != nil {
			t.Errorf("concurrency is reserved: %s", text(p))
		}
	}
}
