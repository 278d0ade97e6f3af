package bus

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
)

// Limits of targets. Source: SDK doc comments of PutTargets and RetryPolicy; EventBridge quotas.
const (
	maxTargetsPerCall = 10
	maxTargetsPerRule = 5
	minAgeSeconds     = 60
	maxAgeSeconds     = 86400
)

// PutTargets adds targets to a rule or replaces those of the same ID. Errors: ResourceNotFoundException,
// LimitExceededException, ValidationException.
func (b *Bus) PutTargets(in *eventbridge.PutTargetsInput) (*eventbridge.PutTargetsOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, err := b.find(in.Rule, in.EventBusName)
	if err != nil {
		return nil, err
	}
	if len(in.Targets) < 1 || len(in.Targets) > maxTargetsPerCall {
		return nil, validation("1 validation error detected: Value at 'targets' failed to satisfy constraint: Member must have length between 1 and %d, but has %d", maxTargetsPerCall, len(in.Targets))
	}
	targets := slices.Clone(r.targets)
	for _, t := range in.Targets {
		if err := b.checkTarget(t); err != nil {
			return nil, err
		}
		same := slices.IndexFunc(targets, func(old types.Target) bool { return *old.Id == *t.Id })
		if same >= 0 {
			targets[same] = t
		} else {
			targets = append(targets, t)
		}
	}
	if len(targets) > maxTargetsPerRule {
		return nil, &types.LimitExceededException{Message: aws.String("The requested resource exceeds the maximum number allowed: 5 targets for a rule.")}
	}
	r.targets = targets
	return &eventbridge.PutTargetsOutput{FailedEntries: []types.PutTargetsResultEntry{}}, nil
}

func (b *Bus) checkTarget(t types.Target) error {
	if !regexp.MustCompile(`^[.\-_A-Za-z0-9]{1,64}$`).MatchString(aws.ToString(t.Id)) {
		return validation("1 validation error detected: Value '%s' at 'targets.member.id' failed to satisfy constraint", aws.ToString(t.Id))
	}
	switch _, service := functionName(aws.ToString(t.Arn)); {
	case service == "lambda" && b.opts.Invoker != nil, service == "sqs" && b.opts.Queues != nil:
	default:
		return validation("Provided Arn is not in correct format or not a target of the embedded EventBridge: %s", aws.ToString(t.Arn))
	}
	if t.InputTransformer != nil {
		return validation("input transformers are not part of the embedded EventBridge")
	}
	if t.Input != nil && t.InputPath != nil {
		return validation("Only one of Input, InputPath, or InputTransformer must be provided for target %s.", *t.Id)
	}
	if t.Input != nil && !json.Valid([]byte(*t.Input)) {
		return validation("Invalid Input for target %s.", *t.Id)
	}
	if t.InputPath != nil && !regexp.MustCompile(`^\$(\.[A-Za-z0-9_-]+)*$`).MatchString(*t.InputPath) {
		return validation("Invalid InputPath for target %s.", *t.Id)
	}
	if p := t.RetryPolicy; p != nil {
		if n := p.MaximumRetryAttempts; n != nil && (*n < 0 || *n > defaultAttempts) {
			return validation("MaximumRetryAttempts of target %s must be between 0 and %d", *t.Id, defaultAttempts)
		}
		if n := p.MaximumEventAgeInSeconds; n != nil && (*n < minAgeSeconds || *n > maxAgeSeconds) {
			return validation("MaximumEventAgeInSeconds of target %s must be between %d and %d", *t.Id, minAgeSeconds, maxAgeSeconds)
		}
	}
	return nil
}

// RemoveTargets takes targets off a rule; an ID that is not there is reported in FailedEntries.
func (b *Bus) RemoveTargets(in *eventbridge.RemoveTargetsInput) (*eventbridge.RemoveTargetsOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, err := b.find(in.Rule, in.EventBusName)
	if err != nil {
		return nil, err
	}
	out := &eventbridge.RemoveTargetsOutput{FailedEntries: []types.RemoveTargetsResultEntry{}}
	for _, id := range in.Ids {
		kept := slices.DeleteFunc(slices.Clone(r.targets), func(t types.Target) bool { return *t.Id == id })
		if len(kept) == len(r.targets) {
			out.FailedEntries = append(out.FailedEntries, types.RemoveTargetsResultEntry{
				TargetId: aws.String(id), ErrorCode: aws.String("ResourceNotFoundException"),
				ErrorMessage: aws.String("Rule " + r.name + " does not have a target with the Id " + id + "."),
			})
		}
		r.targets = kept
	}
	out.FailedEntryCount = int32(len(out.FailedEntries))
	return out, nil
}

// ListTargetsByRule lists a rule's targets in one page.
func (b *Bus) ListTargetsByRule(in *eventbridge.ListTargetsByRuleInput) (*eventbridge.ListTargetsByRuleOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, err := b.find(in.Rule, in.EventBusName)
	if err != nil {
		return nil, err
	}
	return &eventbridge.ListTargetsByRuleOutput{Targets: slices.Clone(r.targets)}, nil
}
