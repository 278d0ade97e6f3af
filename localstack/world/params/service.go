package params

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ssm/schemas"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// Mount says how clients reach the store.
func (s *Store) Mount() wire.Mount {
	return wire.Mount{Name: "ssm", Key: "AmazonSSM", Codec: wire.JSON11(schemas.AmazonSSM), Service: s}
}

// Handle implements wire.Service.
func (s *Store) Handle(_ context.Context, call wire.Call) (any, error) {
	switch call.Operation {
	case "PutParameter":
		return wire.Do(call, s.PutParameter)
	case "GetParameter":
		return wire.Do(call, s.GetParameter)
	case "GetParameters":
		return wire.Do(call, s.GetParameters)
	case "GetParametersByPath":
		return wire.Do(call, s.GetParametersByPath)
	case "DeleteParameter":
		return wire.Do(call, s.DeleteParameter)
	}
	return nil, wire.UnknownOperation(call.Operation)
}
