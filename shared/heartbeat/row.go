package heartbeat

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// What a row may say.
const (
	StatusOK       = "ok"
	StatusFailing  = "failing"
	StatusDraining = "draining"
)

// Attributes are the names of all attributes that a beat touches, the key first. The policy of an instance role lists the same.
func Attributes() []string {
	return []string{"pk", "beat", "seq", "boot", "status", "failing", "agent", "expires"}
}

// Key is the partition key of an instance's row: its ARN, because that is what IAM can fence.
func Key(partition, region, account, instance string) string {
	return fmt.Sprintf("arn:%s:ec2:%s:%s:instance/%s", partition, region, account, instance)
}

// isKey says whether a text looks like the ARN of an instance.
func isKey(key string) bool {
	parts := strings.SplitN(key, ":", 6)
	return len(parts) == 6 && parts[0] == "arn" && parts[1] != "" && parts[2] == "ec2" && parts[3] != "" && parts[4] != "" &&
		strings.HasPrefix(parts[5], "instance/i-")
}

// Report is what a beat says.
type Report struct {
	// Status is one of StatusOK, StatusFailing and StatusDraining.
	Status string
	// Failing are the names of the failing checks; may be nil.
	Failing []string
}

func (r Report) equal(other Report) bool {
	return r.Status == other.Status && strings.Join(r.Failing, "\n") == strings.Join(other.Failing, "\n")
}

// row is one beat of one writer.
type row struct {
	table, key, boot, agent string
	report                  Report
	at                      time.Time
	seq                     int64
	life                    time.Duration
}

// update is the call that writes the row: every attribute at once, and only over an older beat. An earlier call that was given up
// and arrives late is refused by that condition. Source: SDK doc comments of UpdateItem.
func (r row) update() *dynamodb.UpdateItemInput {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	number := func(n int64) types.AttributeValue {
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
	}
	failing := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	for _, name := range r.report.Failing {
		failing.Value = append(failing.Value, text(name))
	}
	return &dynamodb.UpdateItemInput{
		TableName: aws.String(r.table),
		Key:       map[string]types.AttributeValue{"pk": text(r.key)},
		UpdateExpression: aws.String("SET #beat = :beat, #seq = :seq, #boot = :boot, #status = :status, #failing = :failing, " +
			"#agent = :agent, #expires = :expires"),
		ConditionExpression: aws.String("attribute_not_exists(#seq) OR #seq < :seq"),
		ExpressionAttributeNames: map[string]string{
			"#beat": "beat", "#seq": "seq", "#boot": "boot", "#status": "status", "#failing": "failing", "#agent": "agent", "#expires": "expires",
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":beat": number(r.at.UnixMilli()), ":seq": number(r.seq), ":boot": text(r.boot), ":status": text(r.report.Status),
			":failing": failing, ":agent": text(r.agent), ":expires": number(r.at.Add(r.life).Unix()),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// storedSeq is the sequence number of a row that was handed back.
func storedSeq(item map[string]types.AttributeValue) (int64, bool) {
	n, ok := item["seq"].(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	seq, err := strconv.ParseInt(n.Value, 10, 64)
	return seq, err == nil && seq >= 0
}
