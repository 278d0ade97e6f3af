package example

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsautoscaling"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	elb "github.com/aws/aws-cdk-go/awscdk/v2/awselasticloadbalancingv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3assets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"github.com/holdfast-aws/holdfast/cmd/heartbeat/deploy"
	"github.com/holdfast-aws/holdfast/infra/review"
	"github.com/holdfast-aws/holdfast/infra/stack"
	"github.com/holdfast-aws/holdfast/shared/telemetry"
)

// Service is its name in the register of thresholds, Dependency its source in the parameter of the deep checks.
const (
	Service    = "example-web"
	Dependency = "example-dependency"
)

const (
	port = 8080
	size = 2
)

const (
	unit = "example-web.service"
	// sitePage is a page that is not the health page, which asks the agent: an agent that asks itself would never find anything wrong.
	sitePage = "http://127.0.0.1:%d/"
)

//go:embed application.sh
var application string

//go:embed site.py
var site string

// Props are what the example needs; all of it is required but HeartbeatTableName.
type Props struct {
	Register *review.Register
	// AgentPath is the heartbeat agent's binary for arm64, as `make build` leaves it in build/.
	AgentPath          string
	HeartbeatTableName string
	Topic              awssns.ITopic
}

// New declares the example service and puts it under guard. Like every construct it panics on what makes no sense.
func New(scope constructs.Construct, p Props) *stack.GuardedFleet {
	if p.HeartbeatTableName == "" {
		p.HeartbeatTableName = stack.DefaultHeartbeatTable
	}
	vpc := newNetwork(scope)
	front := newGroup(scope, vpc, "Front", "the load balancer")
	members := newGroup(scope, vpc, "Members", "the members")
	// The gateway endpoints of DynamoDB and S3 are reached at public addresses.
	members.AddEgressRule(awsec2.Peer_AnyIpv4(), awsec2.Port_Tcp(jsii.Number(443)), jsii.String("heartbeats and the agent, through the gateway endpoints"), nil)
	front.AddIngressRule(awsec2.Peer_AnyIpv4(), awsec2.Port_Tcp(jsii.Number(80)), jsii.String("visitors"), nil)
	role := awsiam.NewRole(scope, jsii.String("MemberRole"), &awsiam.RoleProps{AssumedBy: awsiam.NewServicePrincipal(jsii.String("ec2.amazonaws.com"), nil)})
	group := newFleet(scope, vpc, fleet{members: members, role: role, userData: newUserData(scope, role, p)})
	listener := newListener(scope, vpc, front)
	guarded := stack.NewGuardedFleet(scope, "Web", stack.FleetProps{
		Service: Service, Register: p.Register, Group: group, VPC: vpc, Port: port, Role: role, HeartbeatTableName: p.HeartbeatTableName, Topic: p.Topic,
		Listener: &stack.Listener{
			ARN: listener.ListenerArn(), Priority: 10, Paths: []string{"/*"},
			BalancerGroups: []awsec2.ISecurityGroup{front}, MemberGroups: []awsec2.ISecurityGroup{members},
		},
		Policy: `{"boot_grace_seconds": 300}`,
		Dependencies: []stack.Dependency{{
			ID: "Example", Kind: "soft", Missing: "unknown", AtLeast: 1, Periods: 2, MissingData: awscloudwatch.TreatMissingData_MISSING,
			Metric: awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
				Namespace: jsii.String(telemetry.Namespace), MetricName: jsii.String(telemetry.ProbeDown), Statistic: jsii.String("Maximum"),
				Period: awscdk.Duration_Minutes(jsii.Number(1)),
				DimensionsMap: &map[string]*string{
					telemetry.DimensionFunction: jsii.String(stack.Probe), telemetry.DimensionDependency: jsii.String(Dependency),
				},
			}),
		}},
	})
	// A group whose target group is on no listener yet would fail to reach it while it starts; and its members fetch the agent at once.
	group.Node().AddDependency(listener, role, vpc)
	suppress(scope)
	return guarded
}

func newNetwork(scope constructs.Construct) awsec2.Vpc {
	subnets := func(name string, kind awsec2.SubnetType) *awsec2.SubnetConfiguration {
		return &awsec2.SubnetConfiguration{Name: jsii.String(name), SubnetType: kind, CidrMask: jsii.Number(24)}
	}
	return awsec2.NewVpc(scope, jsii.String("Network"), &awsec2.VpcProps{
		MaxAzs: jsii.Number(2), NatGateways: jsii.Number(0), RestrictDefaultSecurityGroup: jsii.Bool(false),
		SubnetConfiguration: &[]*awsec2.SubnetConfiguration{subnets("Front", awsec2.SubnetType_PUBLIC), subnets("Members", awsec2.SubnetType_PRIVATE_ISOLATED)},
		GatewayEndpoints: &map[string]*awsec2.GatewayVpcEndpointOptions{
			"DynamoDB": {Service: awsec2.GatewayVpcEndpointAwsService_DYNAMODB()}, "S3": {Service: awsec2.GatewayVpcEndpointAwsService_S3()},
		},
	})
}

func newGroup(scope constructs.Construct, vpc awsec2.IVpc, id, of string) awsec2.SecurityGroup {
	return awsec2.NewSecurityGroup(scope, jsii.String(id), &awsec2.SecurityGroupProps{
		Vpc: vpc, AllowAllOutbound: jsii.Bool(false), Description: jsii.String("Holdfast example: " + of),
	})
}

// newUserData has the members bring up the page and the agent, whose binary is an asset that the members' role may read, and only it.
func newUserData(scope constructs.Construct, role awsiam.IRole, p Props) string {
	reviewed, err := p.Register.Of(Service)
	if err != nil {
		panic(fmt.Sprintf("example: %v", err))
	}
	agent := awss3assets.NewAsset(scope, jsii.String("Agent"), &awss3assets.AssetProps{Path: jsii.String(p.AgentPath)})
	role.AddToPrincipalPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid: jsii.String("FetchTheAgent"), Actions: jsii.Strings("s3:GetObject"), Resources: &[]*string{agent.Bucket().ArnForObjects(agent.S3ObjectKey())},
	}))
	script, err := deploy.Instance{
		Table: p.HeartbeatTableName, Agent: *agent.S3ObjectUrl(), Region: *awscdk.Aws_REGION(),
		Application: strings.NewReplacer("SITE\n", site, "PORT", strconv.Itoa(port)).Replace(application),
		Unit:        unit, URL: fmt.Sprintf(sitePage, port),
		Handler: time.Duration(reviewed.HandlerTimeoutMS) * time.Millisecond,
		Probe:   time.Duration(reviewed.TimeoutSeconds) * time.Second, Interval: time.Duration(reviewed.IntervalSeconds) * time.Second,
	}.UserData()
	if err != nil {
		panic(fmt.Sprintf("example: %v", err))
	}
	return script
}

type fleet struct {
	members  awsec2.ISecurityGroup
	role     awsiam.IRole
	userData string
}

func newFleet(scope constructs.Construct, vpc awsec2.IVpc, f fleet) awsautoscaling.AutoScalingGroup {
	template := awsec2.NewLaunchTemplate(scope, jsii.String("Template"), &awsec2.LaunchTemplateProps{
		InstanceType: awsec2.NewInstanceType(jsii.String("t4g.micro")), Role: f.role, SecurityGroup: f.members, RequireImdsv2: jsii.Bool(true),
		HttpPutResponseHopLimit: jsii.Number(1), UserData: awsec2.UserData_Custom(jsii.String(f.userData)),
		MachineImage: awsec2.MachineImage_LatestAmazonLinux2023(&awsec2.AmazonLinux2023ImageSsmParameterProps{CpuType: awsec2.AmazonLinuxCpuType_ARM_64}),
		BlockDevices: &[]*awsec2.BlockDevice{{DeviceName: jsii.String("/dev/xvda"), Volume: awsec2.BlockDeviceVolume_Ebs(jsii.Number(8), &awsec2.EbsDeviceOptions{
			Encrypted: jsii.Bool(true), VolumeType: awsec2.EbsDeviceVolumeType_GP3,
		})}},
	})
	return awsautoscaling.NewAutoScalingGroup(scope, jsii.String("Group"), &awsautoscaling.AutoScalingGroupProps{
		Vpc: vpc, VpcSubnets: &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED}, LaunchTemplate: template,
		MinCapacity: jsii.Number(size), MaxCapacity: jsii.Number(2 * size), GroupMetrics: &[]awsautoscaling.GroupMetrics{awsautoscaling.GroupMetrics_All()},
	})
}

func newListener(scope constructs.Construct, vpc awsec2.IVpc, front awsec2.ISecurityGroup) elb.ApplicationListener {
	balancer := elb.NewApplicationLoadBalancer(scope, jsii.String("Balancer"), &elb.ApplicationLoadBalancerProps{
		Vpc: vpc, InternetFacing: jsii.Bool(true), SecurityGroup: front, DropInvalidHeaderFields: jsii.Bool(true),
	})
	awscdk.NewCfnOutput(scope, jsii.String("Address"), &awscdk.CfnOutputProps{Value: balancer.LoadBalancerDnsName()})
	return balancer.AddListener(jsii.String("Http"), &elb.BaseApplicationListenerProps{
		Port: jsii.Number(80), Protocol: elb.ApplicationProtocol_HTTP, Open: jsii.Bool(false),
		DefaultAction: elb.ListenerAction_FixedResponse(jsii.Number(404), nil),
	})
}

// suppress explains the findings of cdk-nag that are meant: this is an example that must cost little and be gone without a trace.
func suppress(scope constructs.Construct) {
	why := func(id, reason string) *cdknag.NagPackSuppression {
		return &cdknag.NagPackSuppression{Id: jsii.String(id), Reason: jsii.String(reason)}
	}
	suppressions := []*cdknag.NagPackSuppression{
		why("AwsSolutions-VPC7", "The example keeps no flow logs: they would cost more than the instances tell."),
		why("AwsSolutions-ELB2", "The example keeps no access logs: it has no visitors but the reader, and a bucket would outlive it."),
		why("AwsSolutions-EC23", "The example's page is public by design, on port 80 of the load balancer only."),
		why("AwsSolutions-AS3", "Notices of launches come from Holdfast, which reads the group's activities."),
	}
	cdknag.NagSuppressions_AddStackSuppressions(awscdk.Stack_Of(scope), &suppressions, jsii.Bool(true))
}
