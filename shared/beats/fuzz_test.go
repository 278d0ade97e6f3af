package beats

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A row is written by whoever may write to the table. Whatever it holds, it is a beat that JSON can hold, or an error that fits on a line.
func FuzzDecode(f *testing.F) {
	f.Add("1796040072000", "7", "boot", "ok", "disk", byte(0))
	f.Add("-1", "1e3", "", "failing", "", byte(1))
	f.Add("9223372036854775808", "0", "b", "draining", "a\x00b", byte(2))
	f.Add("253402300799999", "", "b", "OK", "x", byte(3))
	f.Fuzz(func(t *testing.T, beat, seq, boot, status, failing string, kind byte) {
		row := map[string]types.AttributeValue{
			"beat": &types.AttributeValueMemberN{Value: beat}, "seq": &types.AttributeValueMemberN{Value: seq},
			"boot": &types.AttributeValueMemberS{Value: boot}, "status": &types.AttributeValueMemberS{Value: status},
		}
		switch kind % 5 {
		case 0:
			row["failing"] = &types.AttributeValueMemberSS{Value: []string{failing, status}}
		case 1:
			row["failing"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: failing}}}
		case 2:
			row["failing"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberN{Value: failing}, nil}}
		case 3:
			row["failing"] = &types.AttributeValueMemberB{Value: []byte(failing)}
			row["agent"] = &types.AttributeValueMemberBOOL{Value: true}
		}
		b, err := decode(row)
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if !b.Found || b.At.UnixMilli() <= 0 || b.Seq < 0 || !slices.IsSorted(b.Failing) {
			t.Errorf("have %+v", b)
		}
		if _, err := json.Marshal(b); err != nil {
			t.Errorf("the state cannot hold it: %v", err)
		}
	})
}
