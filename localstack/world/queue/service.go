package queue

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs/schemas"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// Mount says how clients reach the queues.
func (q *Queues) Mount() wire.Mount {
	return wire.Mount{Name: "sqs", Key: "AmazonSQS", Codec: wire.JSON10(schemas.AmazonSQS), Service: q}
}

// Handle implements wire.Service.
func (q *Queues) Handle(_ context.Context, call wire.Call) (any, error) {
	switch call.Operation {
	case "CreateQueue":
		return wire.Do(call, q.CreateQueue)
	case "GetQueueUrl":
		return wire.Do(call, q.GetQueueURL)
	case "SendMessage":
		return wire.Do(call, q.SendMessage)
	case "ReceiveMessage":
		return wire.Do(call, q.ReceiveMessage)
	case "DeleteMessage":
		return wire.Do(call, q.DeleteMessage)
	case "ChangeMessageVisibility":
		return wire.Do(call, q.ChangeMessageVisibility)
	case "GetQueueAttributes":
		return wire.Do(call, q.GetQueueAttributes)
	}
	return nil, wire.UnknownOperation(call.Operation)
}
