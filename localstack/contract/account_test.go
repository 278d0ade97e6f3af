package contract_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// A real account is asked only if all of this is set: the run makes three of the smallest instances, and whoever pays for them has to say so.
const (
	accountVariable = "HOLDFAST_CONTRACT_AWS"         // 1
	confirmVariable = "HOLDFAST_CONTRACT_AWS_CONFIRM" // confirmation
	confirmation    = "three-instances-and-the-cost"
	answersVariable = "HOLDFAST_CONTRACT_ANSWERS" // the file that the answers are appended to
)

// account is the name of the real one, among the peers.
const account = "aws"

// Prices of us-east-1, for the estimate only. Source: EC2 and EBS pricing pages, 2026: t4g.nano a hour, gp3 a GiB and month, public IPv4 a hour.
const (
	nanoHour, gibMonth, addressHour = 0.0042, 0.08, 0.005
	volumeGiB                       = 8
	instancesMost                   = 12 // three, and those that take the place of others while the points are asked
	hoursMost                       = 2.0
)

// estimate is what a run costs at most if every instance lived for the whole of it, in US dollars.
func estimate() float64 {
	return instancesMost * hoursMost * (nanoHour + addressHour + volumeGiB*gibMonth/730)
}

// lab is one group of three that the open points are asked of.
type lab struct {
	*subject
	fleet
	t *testing.T
}

// mayUseAccount says whether the account may be used, and if not, why.
func mayUseAccount(get func(string) string) error {
	switch {
	case get(accountVariable) != "1":
		return fmt.Errorf("%s is not 1", accountVariable)
	case get(confirmVariable) != confirmation:
		return fmt.Errorf("%s has to be %q: the run makes up to %d instances in %s and costs up to %.2f USD", confirmVariable, confirmation, instancesMost, "the account whose credentials are there", estimate())
	case get("AWS_REGION") == "":
		return errors.New("AWS_REGION is not set")
	}
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_AUTO_SCALING"} {
		if get(name) != "" {
			return fmt.Errorf("%s is set, so this would not be AWS", name)
		}
	}
	return nil
}

func TestTheAccountIsUsedOnlyIfItsOwnerSaysSo(t *testing.T) {
	whole := map[string]string{accountVariable: "1", confirmVariable: confirmation, "AWS_REGION": "eu-west-1"}
	if err := mayUseAccount(func(name string) string { return whole[name] }); err != nil {
		t.Errorf("all is said, and yet %v", err)
	}
	for name, c := range map[string]struct{ key, value, says string }{
		"not asked for":          {accountVariable, "", accountVariable},
		"asked for with a word":  {accountVariable, "true", accountVariable},
		"not confirmed":          {confirmVariable, "", "USD"},
		"confirmed by another":   {confirmVariable, "yes", "USD"},
		"without a region":       {"AWS_REGION", "", "AWS_REGION"},
		"with another endpoint":  {"AWS_ENDPOINT_URL", "http://127.0.0.1:1", "would not be AWS"},
		"with another endpoint2": {"AWS_ENDPOINT_URL_AUTO_SCALING", "http://127.0.0.1:1", "would not be AWS"},
	} {
		err := mayUseAccount(func(key string) string {
			if key == c.key {
				return c.value
			}
			return whole[key]
		})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it to say %s", name, err, c.says)
		}
	}
	if e := estimate(); e < 0.05 || e > 1 {
		t.Errorf("an estimate of %.2f USD is none that anybody meant", e)
	}
}

// openAccount connects to the real account, or skips.
func openAccount(t *testing.T) *subject {
	t.Helper()
	if err := mayUseAccount(os.Getenv); err != nil {
		t.Skipf("no real account is asked: %v", err)
	}
	t.Logf("up to %d instances of t4g.nano, for up to %.0f hours: at most %.2f USD", instancesMost, hoursMost, estimate())
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }))
	if err != nil {
		t.Fatalf("load configuration: %v", err)
	}
	s := &subject{peer: peer{name: account}, run: strings.ToLower(time.Now().UTC().Format("20060102t150405"))}
	s.clients(cfg)
	return s
}

// openLab makes the group and sees to it that nothing of it stays, whatever becomes of the test.
func openLab(t *testing.T, s *subject) *lab {
	t.Helper()
	l := &lab{subject: s, t: t}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
		defer cancel()
		if err := l.tearDown(ctx); err != nil {
			t.Errorf("CLEAN UP BY HAND, instances may be left: group and launch template %s: %v", l.group, err)
		}
	})
	var err error
	if s.peer.name != account {
		l.fleet, err = s.fleet(t.Context(), "lab", young)
	} else {
		err = l.make(t.Context())
	}
	if err != nil {
		t.Fatalf("make the group: %v", err)
	}
	return l
}

// make makes a launch template and a group in the default network of a real account.
func (l *lab) make(ctx context.Context) error {
	l.group = l.name("lab")
	if err := l.nothingLeft(ctx); err != nil {
		return err
	}
	nets, err := l.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{{Name: aws.String("default-for-az"), Values: []string{"true"}}}})
	if err != nil || len(nets.Subnets) == 0 {
		return errors.Join(err, errors.New("describe subnets: the account has no default network in this Region"))
	}
	image, err := l.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64")})
	if err != nil {
		return fmt.Errorf("get image: %w", err)
	}
	tags := []ec2types.Tag{{Key: aws.String("holdfast:contract"), Value: aws.String(l.run)}}
	_, err = l.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String(l.group),
		TagSpecifications:  []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: tags}},
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{
			ImageId: image.Parameter.Value, InstanceType: ec2types.InstanceTypeT4gNano,
			MetadataOptions:   &ec2types.LaunchTemplateInstanceMetadataOptionsRequest{HttpTokens: ec2types.LaunchTemplateHttpTokensStateRequired},
			TagSpecifications: []ec2types.LaunchTemplateTagSpecificationRequest{{ResourceType: ec2types.ResourceTypeInstance, Tags: tags}},
		},
	})
	if err != nil {
		return fmt.Errorf("create launch template: %w", err)
	}
	var subnets []string
	for _, n := range nets.Subnets[:min(2, len(nets.Subnets))] {
		subnets = append(subnets, aws.ToString(n.SubnetId))
	}
	_, err = l.autoscaling.CreateAutoScalingGroup(ctx, &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: aws.String(l.group), MinSize: aws.Int32(0), MaxSize: aws.Int32(fleetSize + 1), DesiredCapacity: aws.Int32(fleetSize),
		VPCZoneIdentifier: aws.String(strings.Join(subnets, ",")), HealthCheckType: aws.String("EC2"), HealthCheckGracePeriod: aws.Int32(900),
		LaunchTemplate: &types.LaunchTemplateSpecification{LaunchTemplateName: aws.String(l.group), Version: aws.String("$Latest")},
		Tags: []types.Tag{{
			Key: aws.String("holdfast:contract"), Value: aws.String(l.run), PropagateAtLaunch: aws.Bool(true), ResourceId: aws.String(l.group), ResourceType: aws.String("auto-scaling-group"),
		}},
	})
	if err != nil {
		return fmt.Errorf("create group: %w", err)
	}
	return l.settle(ctx)
}

// nothingLeft refuses to begin beside what an earlier run has left.
func (l *lab) nothingLeft(ctx context.Context) error {
	out, err := l.autoscaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{Filters: []types.Filter{{Name: aws.String("tag-key"), Values: []string{"holdfast:contract"}}}})
	if err != nil {
		return fmt.Errorf("describe groups: %w", err)
	}
	for _, g := range out.AutoScalingGroups {
		return fmt.Errorf("group %s of an earlier run is still there; end it with: aws autoscaling delete-auto-scaling-group --force-delete --auto-scaling-group-name %[1]s", aws.ToString(g.AutoScalingGroupName))
	}
	return nil
}

// tearDown ends all that make made, and waits until the group is gone.
func (l *lab) tearDown(ctx context.Context) error {
	if l.group == "" || l.world != nil {
		return nil // the embedded AWS ends with the test
	}
	_, err := l.autoscaling.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: aws.String(l.group), ForceDelete: aws.Bool(true)})
	_, gone, waitErr := l.until(ctx, 10*time.Second, 15*time.Minute, func() (bool, error) {
		out, err := l.autoscaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{l.group}})
		return err == nil && len(out.AutoScalingGroups) == 0, err
	})
	if !gone {
		return errors.Join(fmt.Errorf("delete group: %w", errors.Join(err, waitErr)), errors.New("it is still there"))
	}
	if _, err := l.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: aws.String(l.group)}); err != nil {
		return fmt.Errorf("delete launch template: %w", err)
	}
	return nil
}

// wait lets time pass: the embedded AWS's own, the machine's on a real account, none where nothing happens by itself.
func (l *lab) wait(ctx context.Context, d time.Duration) error {
	if l.peer.name != account {
		return l.pass(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// until asks again and again, and returns after how long it was so.
func (l *lab) until(ctx context.Context, every, most time.Duration, done func() (bool, error)) (time.Duration, bool, error) {
	if l.world == nil && l.peer.name != account {
		most = 0 // nothing happens there by itself
	}
	for waited := time.Duration(0); ; waited += every {
		ok, err := done()
		if ok || err != nil || waited >= most {
			return waited, ok, err
		}
		if err := l.wait(ctx, every); err != nil {
			return waited, false, err
		}
	}
}

// settle waits until three members are in service and well, and notes their names.
func (l *lab) settle(ctx context.Context) error {
	_, ok, err := l.until(ctx, 10*time.Second, 15*time.Minute, func() (bool, error) {
		g, err := l.describe(ctx, l.group)
		l.ids = nil
		for _, i := range g.Instances {
			if i.LifecycleState == types.LifecycleStateInService && strings.EqualFold(aws.ToString(i.HealthStatus), "Healthy") {
				l.ids = append(l.ids, aws.ToString(i.InstanceId))
			}
		}
		return len(l.ids) == fleetSize && len(g.Instances) == fleetSize, err
	})
	if err == nil && !ok {
		err = fmt.Errorf("%d members are in service and well, want %d", len(l.ids), fleetSize)
	}
	return err
}

// record appends an answer to the file of answers.
func record(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open answers: %w", err)
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
