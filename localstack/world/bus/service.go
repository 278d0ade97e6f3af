package bus

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge/schemas"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// Mount says how clients reach the bus.
func (b *Bus) Mount() wire.Mount {
	return wire.Mount{Name: "events", Key: "AWSEvents", Codec: wire.JSON11(schemas.AWSEvents), Service: b}
}

// Handle implements wire.Service.
func (b *Bus) Handle(_ context.Context, call wire.Call) (any, error) {
	switch call.Operation {
	case "PutEvents":
		return wire.Do(call, b.PutEvents)
	case "PutRule":
		return wire.Do(call, b.PutRule)
	case "DescribeRule":
		return wire.Do(call, b.DescribeRule)
	case "ListRules":
		return wire.Do(call, b.ListRules)
	case "EnableRule":
		return wire.Do(call, b.EnableRule)
	case "DisableRule":
		return wire.Do(call, b.DisableRule)
	case "DeleteRule":
		return wire.Do(call, b.DeleteRule)
	case "PutTargets":
		return wire.Do(call, b.PutTargets)
	case "RemoveTargets":
		return wire.Do(call, b.RemoveTargets)
	case "ListTargetsByRule":
		return wire.Do(call, b.ListTargetsByRule)
	case "TestEventPattern":
		return wire.Do(call, b.TestEventPattern)
	}
	return nil, wire.UnknownOperation(call.Operation)
}
