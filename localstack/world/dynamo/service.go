package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// Mount says how clients reach the tables.
func (t *Tables) Mount() wire.Mount {
	return wire.Mount{
		Name: "dynamodb", Key: "DynamoDB_20120810",
		Codec: wire.JSON10(schemas.DynamoDB_20120810), Service: t,
	}
}

// Handle implements wire.Service.
func (t *Tables) Handle(_ context.Context, call wire.Call) (any, error) {
	switch call.Operation {
	case "CreateTable":
		return wire.Do(call, t.CreateTable)
	case "DeleteTable":
		return wire.Do(call, t.DeleteTable)
	case "DescribeTable":
		return wire.Do(call, t.DescribeTable)
	case "ListTables":
		return wire.Do(call, t.ListTables)
	case "UpdateTimeToLive":
		return wire.Do(call, t.UpdateTimeToLive)
	case "DescribeTimeToLive":
		return wire.Do(call, t.DescribeTimeToLive)
	case "GetItem":
		return wire.Do(call, t.GetItem)
	case "BatchGetItem":
		return wire.Do(call, t.BatchGetItem)
	case "PutItem":
		return wire.Do(call, t.PutItem)
	case "UpdateItem":
		return wire.Do(call, t.UpdateItem)
	case "DeleteItem":
		return wire.Do(call, t.DeleteItem)
	case "Query":
		return wire.Do(call, t.Query)
	case "Scan":
		return wire.Do(call, t.Scan)
	case "TransactWriteItems":
		return wire.Do(call, t.TransactWriteItems)
	}
	return nil, wire.UnknownOperation(call.Operation)
}
