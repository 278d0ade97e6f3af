package contract_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/smithy-go"
)

// point is a question about AWS that its documentation leaves open. An answer is recorded and never judged; Holdfast relies on none of them.
type point struct {
	number, question string
	// byHand says how to find the answer where no test can: it needs a service that Holdfast has no client of, or things that would cost too much.
	byHand string
	ask    func(context.Context, *lab) (string, error)
}

func points() []point {
	return []point{
		{number: "1a", question: "the error of SetInstanceHealth inside the grace period", ask: refusalInGrace},
		{number: "1b", question: "the error of SetInstanceHealth on an unknown instance, and of a health that is none", ask: refusalUnknown},
		{number: "1c", question: "the answer of SetInstanceHealth on a member in Standby", ask: refusalStandby},
		{number: "1d", question: "the answer of SetInstanceHealth on members that are Pending and Terminating", ask: refusalPending},
		{number: "1e", question: "the error of SetInstanceHealth on a member of an operator-managed group", byHand: "make a cluster whose nodes an AWS service manages, and call: aws autoscaling set-instance-health --instance-id ID --health-status Unhealthy"},
		{number: "4", question: "whether a second SuspendProcesses changes the reason text of what is suspended", ask: suspendTwice},
		{number: "4b", question: "the reason text of an administrative suspension", byHand: "AWS suspends a group's launches after 24 hours without a success; see SuspendedProcesses of such a group"},
		{number: "6", question: "how soon HealthCheck overwrites a manual Unhealthy", ask: overwritten},
		{number: "3", question: "what ResumeProcesses does at once with two members that were marked while ReplaceUnhealthy was suspended", ask: resumeMarked},
		{number: "3b", question: "the same with members that a load balancer called unhealthy", byHand: "put the group behind a load balancer whose health check fails while ReplaceUnhealthy is suspended, resume, and count: aws autoscaling describe-scaling-activities"},
		{number: "5", question: "the time from a mark to Terminating", ask: markToTerminating},
		{number: "2", question: "whether an instance maintenance policy bounds the replacement of members that were marked", ask: maintenancePolicy},
		{number: "7", question: "CloudTrail's errorCode of the refusal of 1a", byHand: "15 minutes after 1a: aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventName,AttributeValue=SetInstanceHealth; the request's id stands in the answer of 1a"},
		{number: "8", question: "what CloudFormation resumes of a process that was suspended before an update", byHand: "update a stack whose group has UpdatePolicy SuspendProcesses with a process that is suspended already, then describe the group"},
		{number: "9", question: "the payload of EventBridge Scheduler without an input", byHand: "aws scheduler create-schedule with a target of SQS and no Input, then receive the message"},
		{number: "10", question: "from how many parallel calls on DescribeAutoScalingGroups is throttled", ask: throttled},
	}
}

// labs are the peers that the path of every question is tried on; what they answer says nothing about AWS.
func labs() []string { return []string{embedded, moto} }

func TestTheOpenPointsCanBeAsked(t *testing.T) {
	for _, p := range peers() {
		if !slices.Contains(labs(), p.name) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			l := openLab(t, open(t, p))
			file := filepath.Join(t.TempDir(), "answers.md")
			answered := askAll(t, l, file)
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, point := range points() {
				if !strings.Contains(string(raw), "\n## "+point.number+". "+point.question+"\n") {
					t.Errorf("no answer to %s in\n%s", point.number, raw)
				}
			}
			if answered < 5 {
				t.Errorf("only %d points were answered:\n%s", answered, raw)
			}
		})
	}
}

func TestAGroupThatWasMadeForTheOpenPointsIsEnded(t *testing.T) {
	i := slices.IndexFunc(peers(), func(p peer) bool { return p.name == moto })
	s := open(t, peers()[i])
	var group string
	t.Run("a test that ends early", func(t *testing.T) {
		l := openLab(t, s)
		group = l.group
		t.SkipNow() // cleaning up must not depend on how a test ends
	})
	out, err := s.autoscaling.DescribeAutoScalingGroups(t.Context(), &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{group}})
	if err != nil || group == "" || len(out.AutoScalingGroups) != 0 {
		t.Errorf("group %q is still there: %v, %v", group, out, err)
	}
}

// TestTheOpenPointsOfTheRealAccount is what make contract-aws runs: first the rules that only look, then the open points.
func TestTheOpenPointsOfTheRealAccount(t *testing.T) {
	s := openAccount(t)
	l := openLab(t, s)
	s.still = l.fleet
	for _, r := range rules() {
		if !slices.Contains(looking(), r.name) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			if err := r.check(t.Context(), s); err != nil {
				t.Errorf("AWS itself does not keep the rule, so its reading is wrong: %v", err)
			}
		})
	}
	file := os.Getenv(answersVariable)
	if file == "" {
		file = filepath.Join("..", "..", "build", "contract-aws.md")
	}
	askAll(t, l, file)
	t.Logf("the answers are in %s", file)
}

// looking are the rules that a real account can be asked: they change nothing, or are refused before they could.
func looking() []string {
	return []string{
		"an unknown group is absent, not an error", "instances of groups are found by id, unknown ones are absent", "a process of an unknown group is refused",
		"a mark of an unknown instance is refused", "a group without refreshes has an empty list of them", "an unknown target group is an error", "an unknown instance is an error",
		"an unknown parameter is an error", "a page of more than ten is refused", "an invalid pattern is refused",
	}
}

func TestTheRulesForARealAccountAreThere(t *testing.T) {
	for _, name := range looking() {
		if !slices.ContainsFunc(rules(), func(r rule) bool { return r.name == name }) {
			t.Errorf("there is no rule %q", name)
		}
	}
}

// askAll asks every point, records what comes of it, and returns how many were answered. A point that cannot be asked hinders no other.
func askAll(t *testing.T, l *lab, file string) int {
	t.Helper()
	answered := 0
	head := fmt.Sprintf("# Open points, asked of %s in run %s\n", l.peer.name, l.run)
	if err := record(file, head); err != nil {
		t.Fatal(err)
	}
	for _, p := range points() {
		t.Run(p.number+" "+p.question, func(t *testing.T) {
			text := "not asked; by hand: " + p.byHand
			if p.ask != nil {
				ctx, cancel := context.WithTimeout(t.Context(), 40*time.Minute)
				defer cancel()
				answer, err := p.ask(ctx, l)
				switch {
				case err != nil && l.peer.name == account:
					t.Errorf("no answer: %v", err)
				case err == nil:
					answered++
				}
				text = strings.TrimSpace(answer + "\n\n" + told(err))
			}
			t.Log(text)
			if err := record(file, "\n## "+p.number+". "+p.question+"\n\n"+text+"\n"); err != nil {
				t.Error(err)
			}
		})
	}
	return answered
}

func told(err error) string {
	if err == nil {
		return ""
	}
	return "could not be asked: " + said(err)
}

// said is an answer of AWS's in one line: its code, its text, and the whole error with the request's id.
func said(err error) string {
	if err == nil {
		return "accepted"
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Sprintf("%s: %s (%.300s)", api.ErrorCode(), api.ErrorMessage(), err)
	}
	return fmt.Sprintf("%.300s", err)
}

func refusalInGrace(ctx context.Context, l *lab) (string, error) {
	err := l.mark(ctx, l.ids[0], "Unhealthy")
	answer := said(err)
	if err == nil {
		err = l.again(ctx, l.ids[:1])
	} else {
		err = nil // a refusal is the answer
	}
	return answer, errors.Join(err, l.pastGrace(ctx))
}

// pastGrace ends the grace of all members: by waiting where time is ours, else by a group without one.
func (l *lab) pastGrace(ctx context.Context) error {
	if l.world != nil {
		return errors.Join(l.pass(ctx, 2*time.Hour), l.settle(ctx))
	}
	_, err := l.autoscaling.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: aws.String(l.group), HealthCheckGracePeriod: aws.Int32(0)})
	return errors.Join(err, l.settle(ctx))
}

func refusalUnknown(ctx context.Context, l *lab) (string, error) {
	return "unknown instance: " + said(l.mark(ctx, "i-00000000000000000", "Unhealthy")) + "\n\nthe health Poorly: " + said(l.mark(ctx, l.ids[0], "Poorly")), nil
}

func refusalStandby(ctx context.Context, l *lab) (answer string, err error) {
	id := l.ids[0]
	if _, err := l.autoscaling.EnterStandby(ctx, &autoscaling.EnterStandbyInput{AutoScalingGroupName: aws.String(l.group), InstanceIds: []string{id}, ShouldDecrementDesiredCapacity: aws.Bool(true)}); err != nil {
		return "", err
	}
	defer func() {
		_, back := l.autoscaling.ExitStandby(ctx, &autoscaling.ExitStandbyInput{AutoScalingGroupName: aws.String(l.group), InstanceIds: []string{id}})
		err = errors.Join(err, back, l.settle(ctx))
	}()
	if _, ok, err := l.until(ctx, 2*time.Second, 5*time.Minute, func() (bool, error) { return l.inState(ctx, id, types.LifecycleStateStandby) }); err != nil || !ok {
		return "", errors.Join(err, fmt.Errorf("%s did not come to Standby: %t", id, ok))
	}
	answer = "Unhealthy: " + said(l.mark(ctx, id, "Unhealthy"))
	return answer + "\n\nHealthy again: " + said(l.mark(ctx, id, "Healthy")), nil
}

func (l *lab) inState(ctx context.Context, id string, state types.LifecycleState) (bool, error) {
	g, err := l.describe(ctx, l.group)
	return slices.ContainsFunc(g.Instances, func(i types.Instance) bool {
		return aws.ToString(i.InstanceId) == id && i.LifecycleState == state
	}), err
}

// refusalPending launches a fourth member and ends one, and marks each on its way.
func refusalPending(ctx context.Context, l *lab) (string, error) {
	var answers []string
	for _, step := range []struct {
		desired int32
		state   types.LifecycleState
	}{{fleetSize + 1, types.LifecycleStatePending}, {fleetSize, types.LifecycleStateTerminating}} {
		if _, err := l.autoscaling.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: aws.String(l.group), DesiredCapacity: aws.Int32(step.desired), HonorCooldown: aws.Bool(false)}); err != nil {
			return strings.Join(answers, "\n\n"), err
		}
		answer := string(step.state) + ": no member was seen in it"
		_, _, err := l.until(ctx, time.Second, 3*time.Minute, func() (bool, error) {
			g, err := l.describe(ctx, l.group)
			for _, i := range g.Instances {
				if i.LifecycleState == step.state {
					answer = string(step.state) + ": " + said(l.mark(ctx, aws.ToString(i.InstanceId), "Unhealthy"))
					return true, nil
				}
			}
			return false, err
		})
		answers = append(answers, answer)
		if err != nil {
			return strings.Join(answers, "\n\n"), err
		}
		if _, _, err := l.until(ctx, 10*time.Second, 10*time.Minute, func() (bool, error) {
			g, err := l.describe(ctx, l.group)
			return len(g.Instances) == int(step.desired) && !slices.ContainsFunc(g.Instances, func(i types.Instance) bool { return i.LifecycleState != types.LifecycleStateInService }), err
		}); err != nil {
			return strings.Join(answers, "\n\n"), err
		}
	}
	return strings.Join(answers, "\n\n"), l.settle(ctx)
}

func (l *lab) suspend(ctx context.Context, processes ...string) error {
	_, err := l.autoscaling.SuspendProcesses(ctx, &autoscaling.SuspendProcessesInput{AutoScalingGroupName: aws.String(l.group), ScalingProcesses: processes})
	return err
}

func (l *lab) resume(ctx context.Context, processes ...string) error {
	_, err := l.autoscaling.ResumeProcesses(ctx, &autoscaling.ResumeProcessesInput{AutoScalingGroupName: aws.String(l.group), ScalingProcesses: processes})
	return err
}

func suspendTwice(ctx context.Context, l *lab) (answer string, err error) {
	defer func() { err = errors.Join(err, l.resume(context.WithoutCancel(ctx), "AZRebalance")) }()
	var texts []string
	for range 2 {
		if err := l.suspend(ctx, "AZRebalance"); err != nil {
			return "", err
		}
		g, err := l.describe(ctx, l.group)
		if err != nil {
			return "", err
		}
		for _, p := range g.SuspendedProcesses {
			texts = append(texts, fmt.Sprintf("%s: %q", aws.ToString(p.ProcessName), aws.ToString(p.SuspensionReason)))
		}
		if err := l.wait(ctx, 5*time.Second); err != nil {
			return "", err
		}
	}
	return "after the first and after the second call:\n\n" + strings.Join(texts, "\n\n"), nil
}

func overwritten(ctx context.Context, l *lab) (answer string, err error) {
	if err := l.suspend(ctx, "ReplaceUnhealthy"); err != nil {
		return "", err
	}
	defer func() {
		// Nothing is to be replaced by what was only asked.
		ctx := context.WithoutCancel(ctx)
		err = errors.Join(err, l.mark(ctx, l.ids[0], "Healthy"), l.resume(ctx, "ReplaceUnhealthy"))
	}()
	if err := l.mark(ctx, l.ids[0], "Unhealthy"); err != nil {
		return "", err
	}
	after, ok, err := l.until(ctx, 5*time.Second, 10*time.Minute, func() (bool, error) {
		g, err := l.describe(ctx, l.group)
		return slices.ContainsFunc(g.Instances, func(i types.Instance) bool {
			return aws.ToString(i.InstanceId) == l.ids[0] && strings.EqualFold(aws.ToString(i.HealthStatus), "Healthy")
		}), err
	})
	if !ok {
		return fmt.Sprintf("a manual Unhealthy still stood after %s", after), err
	}
	return fmt.Sprintf("HealthCheck made it Healthy again after %s", after), err
}

// leaving watches members that were marked: when each began to go, and how many went at once.
func (l *lab) leaving(ctx context.Context, ids []string, most time.Duration) (string, error) {
	began := map[string]time.Duration{}
	together, waited, every := 0, time.Duration(0), 2*time.Second
	_, _, err := l.until(ctx, every, most, func() (bool, error) {
		g, err := l.describe(ctx, l.group)
		if err != nil {
			return false, err
		}
		here, going := map[string]bool{}, 0
		for _, i := range g.Instances {
			id := aws.ToString(i.InstanceId)
			here[id] = true
			if slices.Contains(ids, id) && strings.HasPrefix(string(i.LifecycleState), "Terminat") {
				going++
				if _, known := began[id]; !known {
					began[id] = waited
				}
			}
		}
		for _, id := range ids {
			if _, known := began[id]; !known && !here[id] {
				began[id] = waited
			}
		}
		together = max(together, going)
		waited += every
		return len(began) == len(ids) && going == 0, nil
	})
	answer := fmt.Sprintf("%d marked, %d began to go within %s, at most %d at once", len(ids), len(began), waited, together)
	for _, id := range ids {
		if after, ok := began[id]; ok {
			answer += fmt.Sprintf("; one after %s", after)
		}
	}
	return answer, err
}

func resumeMarked(ctx context.Context, l *lab) (string, error) {
	if err := l.suspend(ctx, "ReplaceUnhealthy"); err != nil {
		return "", err
	}
	ids := slices.Clone(l.ids[:2])
	if err := errors.Join(l.mark(ctx, ids[0], "Unhealthy"), l.mark(ctx, ids[1], "Unhealthy"), l.resume(ctx, "ReplaceUnhealthy")); err != nil {
		return "", err
	}
	answer, err := l.leaving(ctx, ids, 10*time.Minute)
	return answer, errors.Join(err, l.again(ctx, ids))
}

// again makes the members well where nothing replaces them, and waits for three otherwise.
func (l *lab) again(ctx context.Context, ids []string) error {
	if l.world == nil && l.peer.name != account {
		for _, id := range ids {
			if err := l.mark(ctx, id, "Healthy"); err != nil {
				return err
			}
		}
	}
	return l.settle(ctx)
}

func markToTerminating(ctx context.Context, l *lab) (string, error) {
	ids := []string{l.ids[0]}
	if err := l.mark(ctx, ids[0], "Unhealthy"); err != nil {
		return "", err
	}
	answer, err := l.leaving(ctx, ids, 10*time.Minute)
	return answer, errors.Join(err, l.again(ctx, ids))
}

func maintenancePolicy(ctx context.Context, l *lab) (string, error) {
	_, err := l.autoscaling.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{
		AutoScalingGroupName: aws.String(l.group), InstanceMaintenancePolicy: &types.InstanceMaintenancePolicy{MinHealthyPercentage: aws.Int32(100), MaxHealthyPercentage: aws.Int32(134)},
	})
	if err != nil {
		return "", err
	}
	ids := slices.Clone(l.ids[:2])
	if err := errors.Join(l.mark(ctx, ids[0], "Unhealthy"), l.mark(ctx, ids[1], "Unhealthy")); err != nil {
		return "", err
	}
	answer, err := l.leaving(ctx, ids, 15*time.Minute)
	return "with 100 to 134 percent: " + answer, errors.Join(err, l.again(ctx, ids))
}

// throttled calls with more and more callers at once, a bounded number of times, until AWS says that it is too much.
func throttled(ctx context.Context, l *lab) (string, error) {
	var lines []string
	for _, callers := range []int{1, 2, 4, 8, 16} {
		var wait sync.WaitGroup
		refused := make([]int, callers)
		began := time.Now()
		for c := range callers {
			wait.Go(func() {
				for range 10 {
					if _, err := l.describe(ctx, l.group); err != nil && strings.Contains(err.Error(), "Throttling") {
						refused[c]++
					}
				}
			})
		}
		wait.Wait()
		total := 0
		for _, n := range refused {
			total += n
		}
		lines = append(lines, fmt.Sprintf("%d callers, 10 calls each: %d throttled, %.0f calls a second", callers, total, float64(10*callers)/time.Since(began).Seconds()))
		if total > 0 {
			break
		}
	}
	return strings.Join(lines, "\n\n"), ctx.Err()
}
