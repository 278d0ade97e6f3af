package bus

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"
)

// validation is the error of a request that is wrong in itself. The SDK models no type for it.
func validation(format string, args ...any) error {
	return &smithy.GenericAPIError{
		Code: "ValidationException", Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient,
	}
}

// PutRule makes or replaces a rule with a pattern, a rate, or both. Errors: InvalidEventPatternException,
// ValidationException, ResourceNotFoundException for another bus.
func (b *Bus) PutRule(in *eventbridge.PutRuleInput) (*eventbridge.PutRuleOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := aws.ToString(in.Name)
	if !regexp.MustCompile(`^[.\-_A-Za-z0-9]{1,64}$`).MatchString(name) {
		return nil, validation("1 validation error detected: Value '%s' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\.\\-_A-Za-z0-9]+", name)
	}
	if !isDefault(in.EventBusName) {
		return nil, noBus(in.EventBusName)
	}
	if aws.ToString(in.EventPattern) == "" && aws.ToString(in.ScheduleExpression) == "" {
		return nil, validation("Parameter(s) EventPattern or ScheduleExpression must be specified.")
	}
	r := &rule{name: name, description: aws.ToString(in.Description), state: in.State}
	if r.state == "" {
		r.state = types.RuleStateEnabled
	}
	if !slices.Contains(r.state.Values(), r.state) {
		return nil, validation("1 validation error detected: Value '%s' at 'state' failed to satisfy constraint: Member must satisfy enum value set", r.state)
	}
	var err error
	if r.patternText = aws.ToString(in.EventPattern); r.patternText != "" {
		if r.pattern, err = ParsePattern(r.patternText); err != nil {
			return nil, err
		}
	}
	if r.schedule = aws.ToString(in.ScheduleExpression); r.schedule != "" {
		if r.period, err = parseRate(r.schedule); err != nil {
			return nil, err
		}
	}
	r.next = b.opts.Now().Add(r.period)
	if old, exists := b.rules[name]; exists {
		r.targets = old.targets
		if old.schedule == r.schedule && old.enabled() == r.enabled() {
			r.next = old.next // an unchanged rate keeps its beat
		}
	}
	b.rules[name] = r
	return &eventbridge.PutRuleOutput{RuleArn: aws.String(b.ruleARN(name))}, nil
}

// parseRate reads "rate(1 minute)" and the like: minutes, hours or days, singular for one and plural for more.
func parseRate(text string) (time.Duration, error) {
	if strings.HasPrefix(text, "cron(") {
		return 0, validation("cron expressions are not part of the embedded EventBridge: %s", text)
	}
	m := regexp.MustCompile(`^rate\(([1-9][0-9]{0,8}) (minute|hour|day)(s?)\)$`).FindStringSubmatch(text)
	if m == nil {
		return 0, validation("Parameter ScheduleExpression is not valid.")
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || (n == 1) != (m[3] == "") {
		return 0, validation("Parameter ScheduleExpression is not valid.")
	}
	units := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}
	if n > int(100*365*24*time.Hour/units[m[2]]) {
		return 0, validation("Parameter ScheduleExpression is not valid.")
	}
	return time.Duration(n) * units[m[2]], nil
}

func noBus(name *string) error {
	return &types.ResourceNotFoundException{Message: aws.String("Event bus " + aws.ToString(name) + " does not exist.")}
}

func (b *Bus) find(name, busName *string) (*rule, error) {
	if !isDefault(busName) {
		return nil, noBus(busName)
	}
	r, ok := b.rules[aws.ToString(name)]
	if !ok {
		return nil, &types.ResourceNotFoundException{Message: aws.String("Rule " + aws.ToString(name) + " does not exist on EventBus default.")}
	}
	return r, nil
}

// DescribeRule tells a rule's settings.
func (b *Bus) DescribeRule(in *eventbridge.DescribeRuleInput) (*eventbridge.DescribeRuleOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, err := b.find(in.Name, in.EventBusName)
	if err != nil {
		return nil, err
	}
	d := b.describe(r)
	return &eventbridge.DescribeRuleOutput{
		Name: d.Name, Arn: d.Arn, Description: d.Description, EventPattern: d.EventPattern,
		ScheduleExpression: d.ScheduleExpression, State: d.State, EventBusName: d.EventBusName,
	}, nil
}

func (b *Bus) describe(r *rule) types.Rule {
	d := types.Rule{
		Name: aws.String(r.name), Arn: aws.String(b.ruleARN(r.name)), State: r.state, EventBusName: aws.String("default"),
	}
	for field, text := range map[**string]string{
		&d.Description: r.description, &d.EventPattern: r.patternText, &d.ScheduleExpression: r.schedule,
	} {
		if text != "" {
			*field = aws.String(text)
		}
	}
	return d
}

// ListRules lists the rules in the order of their names, in one page.
func (b *Bus) ListRules(in *eventbridge.ListRulesInput) (*eventbridge.ListRulesOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !isDefault(in.EventBusName) {
		return nil, noBus(in.EventBusName)
	}
	out := &eventbridge.ListRulesOutput{Rules: []types.Rule{}}
	for _, r := range b.sortedRules() {
		if strings.HasPrefix(r.name, aws.ToString(in.NamePrefix)) {
			out.Rules = append(out.Rules, b.describe(r))
		}
	}
	return out, nil
}

// EnableRule switches a rule on; its rate starts again from now.
func (b *Bus) EnableRule(in *eventbridge.EnableRuleInput) (*eventbridge.EnableRuleOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, err := b.find(in.Name, in.EventBusName)
	if err != nil {
		return nil, err
	}
	if !r.enabled() {
		r.state, r.next = types.RuleStateEnabled, b.opts.Now().Add(r.period)
	}
	return &eventbridge.EnableRuleOutput{}, nil
}

// DisableRule switches a rule off. What is queued already still goes out.
func (b *Bus) DisableRule(in *eventbridge.DisableRuleInput) (*eventbridge.DisableRuleOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, err := b.find(in.Name, in.EventBusName)
	if err != nil {
		return nil, err
	}
	r.state = types.RuleStateDisabled
	return &eventbridge.DisableRuleOutput{}, nil
}

// DeleteRule removes a rule without targets; one that does not exist is no error.
func (b *Bus) DeleteRule(in *eventbridge.DeleteRuleInput) (*eventbridge.DeleteRuleOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r, ok := b.rules[aws.ToString(in.Name)]; ok && len(r.targets) > 0 {
		return nil, validation("Rule can't be deleted since it has targets.")
	}
	delete(b.rules, aws.ToString(in.Name))
	return &eventbridge.DeleteRuleOutput{}, nil
}
