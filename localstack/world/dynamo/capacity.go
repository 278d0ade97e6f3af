package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// writeUnits charges 1 KB units, at least one. Source: AWS developer guide, "Read and write operations".
func writeUnits(bytes int) float64 { return max(1, float64((bytes+1023)/1024)) }

// readUnits charges 4 KB units, at least one, and half of them for an eventually consistent read.
func readUnits(bytes int, strong bool) float64 {
	units := max(1, float64((bytes+4095)/4096))
	if !strong {
		units /= 2
	}
	return units
}

// transactional is what a transaction multiplies every unit by.
const transactional = 2

func consumedRead(tb *table, units float64, want types.ReturnConsumedCapacity) *types.ConsumedCapacity {
	tb.usage.ReadUnits += units
	return consumed(tb, units, want)
}

func consumedWrite(tb *table, units float64, want types.ReturnConsumedCapacity) *types.ConsumedCapacity {
	tb.usage.WriteUnits += units
	return consumed(tb, units, want)
}

func consumed(tb *table, units float64, want types.ReturnConsumedCapacity) *types.ConsumedCapacity {
	switch want {
	case types.ReturnConsumedCapacityTotal:
		return &types.ConsumedCapacity{TableName: aws.String(tb.name), CapacityUnits: aws.Float64(units)}
	case types.ReturnConsumedCapacityIndexes:
		return &types.ConsumedCapacity{
			TableName: aws.String(tb.name), CapacityUnits: aws.Float64(units),
			Table: &types.Capacity{CapacityUnits: aws.Float64(units)},
		}
	}
	return nil
}
