package topics

import (
	"context"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// Mount says how clients reach the topics.
func (t *Topics) Mount() wire.Mount {
	return wire.Mount{Name: "sns", Key: "2010-03-31", Codec: wire.Query("http://sns.amazonaws.com/doc/2010-03-31/"), Service: t}
}

// Handle implements wire.Service.
func (t *Topics) Handle(_ context.Context, call wire.Call) (any, error) {
	switch call.Operation {
	case "CreateTopic":
		return wire.Do(call, t.CreateTopic)
	case "Subscribe":
		return wire.Do(call, t.Subscribe)
	case "GetTopicAttributes":
		return wire.Do(call, t.GetTopicAttributes)
	case "Publish":
		return wire.Do(call, t.Publish)
	}
	return nil, wire.UnknownOperation(call.Operation)
}
