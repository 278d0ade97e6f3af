package beats

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// A writer may name so many failing checks, each in so many bytes, and no word of a row may be longer. More is no report that
// anyone meant, and one row must not fill a page.
const (
	failingMax = 100
	wordMax    = 256
)

// beatMax is the end of the year 9999: what lies beyond is no clock, and no JSON can hold it as a time.
const beatMax = 253_402_300_799_999

// decode reads a row: beat (number, the writer's clock in Unix milliseconds), seq (number, 0 or more), boot and agent (strings,
// may be absent), status (ok, failing or draining) and failing (a list or a set of strings, may be absent). Attributes of other
// names are not looked at, so that writers may add some.
func decode(row map[string]types.AttributeValue) (guard.Beat, error) {
	beat, beatErr := number(row, "beat")
	seq, seqErr := number(row, "seq")
	boot, bootErr := word(row, "boot")
	agent, agentErr := word(row, "agent")
	status, statusErr := word(row, "status")
	failing, failingErr := names(row, "failing")
	// The first is enough to find the writer, and keeps the error on one line.
	for _, err := range []error{beatErr, seqErr, bootErr, agentErr, statusErr, failingErr} {
		if err != nil {
			return guard.Beat{}, err
		}
	}
	if status != "ok" && status != "failing" && status != "draining" {
		return guard.Beat{}, fmt.Errorf("status is %q, want ok, failing or draining", status)
	}
	if beat == 0 || beat > beatMax {
		return guard.Beat{}, fmt.Errorf("beat is %d, want Unix milliseconds", beat)
	}
	return guard.Beat{
		Found: true, At: time.UnixMilli(beat).UTC(), Seq: seq, Boot: boot, Status: status, Failing: failing, Agent: agent,
	}, nil
}

// number reads a whole number of 0 or more that must be there.
func number(row map[string]types.AttributeValue, name string) (int64, error) {
	n, ok := row[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("%s is %s, want a number", name, shape(row[name]))
	}
	value, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || value < 0 {
		return 0, fmt.Errorf("%s is %.40q, want a whole number of 0 or more", name, n.Value)
	}
	return value, nil
}

func word(row map[string]types.AttributeValue, name string) (string, error) {
	switch v := row[name].(type) {
	case nil, *types.AttributeValueMemberNULL:
		return "", nil
	case *types.AttributeValueMemberS:
		if len(v.Value) > wordMax {
			return "", fmt.Errorf("%s has %d bytes, want at most %d", name, len(v.Value), wordMax)
		}
		return v.Value, nil
	default:
		return "", fmt.Errorf("%s is %s, want a string", name, shape(v))
	}
}

// names reads a list or a set of strings, and sorts it, because a set has no order.
func names(row map[string]types.AttributeValue, name string) ([]string, error) {
	var out []string
	switch v := row[name].(type) {
	case nil, *types.AttributeValueMemberNULL:
		return nil, nil
	case *types.AttributeValueMemberSS:
		out = slices.Clone(v.Value)
	case *types.AttributeValueMemberL:
		for _, item := range v.Value {
			s, ok := item.(*types.AttributeValueMemberS)
			if !ok {
				return nil, fmt.Errorf("%s holds %s, want strings", name, shape(item))
			}
			out = append(out, s.Value)
		}
	default:
		return nil, fmt.Errorf("%s is %s, want a list or a set of strings", name, shape(v))
	}
	if len(out) > failingMax {
		return nil, fmt.Errorf("%s holds %d names, want at most %d", name, len(out), failingMax)
	}
	for _, s := range out {
		if len(s) > wordMax {
			return nil, fmt.Errorf("%s holds a name of %d bytes, want at most %d", name, len(s), wordMax)
		}
	}
	slices.Sort(out)
	return out, nil
}

// shape is the kind of an attribute in plain words.
func shape(v types.AttributeValue) string {
	switch v.(type) {
	case nil:
		return "absent"
	case *types.AttributeValueMemberS:
		return "a string"
	case *types.AttributeValueMemberN:
		return "a number"
	case *types.AttributeValueMemberBOOL:
		return "a boolean"
	case *types.AttributeValueMemberL, *types.AttributeValueMemberM:
		return "a list or a map"
	case *types.AttributeValueMemberNULL:
		return "null"
	default:
		return "of another type"
	}
}
