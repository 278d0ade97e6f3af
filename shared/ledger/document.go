package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

const (
	// loadTries bounds how often a load starts again because the state was replaced while its parts were read.
	loadTries = 3
	// partLife is the fallback for parts that no later save removed. It is long because parts of a state in force must
	// outlive any time for which Holdfast may be switched off.
	partLife = 365 * 24 * time.Hour
)

// document is one versioned content on its way into the table: a head item, and parts if it is too large for one.
type document struct {
	key
	// version is what was loaded; the head gets the one after it.
	version int64
	// write names this one write, so that its author knows it again.
	write string
	data  []byte
}

func newDocument(k key, version int64, content any) (document, error) {
	data, err := pack(content)
	return document{key: k, version: version, data: data}, err
}

func (d document) split() bool { return len(d.data) > PartBytesMax }

func (d document) head() item {
	head := d.item()
	head[attrVersion] = number(d.version + 1)
	head[attrWrite] = text(d.write)
	if d.split() {
		head[attrParts] = number(int64(len(split(d.data))))
		return head
	}
	head[attrData] = &types.AttributeValueMemberB{Value: d.data}
	return head
}

// partPrefix has the version in a fixed width, so that older parts are one span, and the write, so that two writers of one
// version never mix their parts.
func partPrefix(sk string, version int64, write string) string {
	return fmt.Sprintf("%s#%020d#%s#", sk, version, write)
}

// condition lets a head in only on the version that was loaded.
func (d document) condition() (expression string, names map[string]string, values map[string]types.AttributeValue) {
	names = map[string]string{"#version": attrVersion}
	if d.version == 0 {
		return "attribute_not_exists(#version)", names, nil
	}
	return "#version = :loaded", names, map[string]types.AttributeValue{":loaded": number(d.version)}
}

// putParts writes the parts of a split document. Until the head names them they mean nothing, so a failure changes nothing.
func (l *Ledger) putParts(ctx context.Context, d document) error {
	if !d.split() {
		return nil
	}
	prefix, expires := partPrefix(d.sk, d.version+1, d.write), l.now().Add(partLife).Unix()
	for n, data := range split(d.data) {
		part := key{d.pk, fmt.Sprintf("%s%04d", prefix, n)}.item()
		part[attrData] = &types.AttributeValueMemberB{Value: data}
		part[attrExpires] = number(expires)
		if _, err := l.api.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(l.table), Item: part}); err != nil {
			return fmt.Errorf("write part %d: %w", n, awserr.Classify(err))
		}
	}
	return nil
}

// put writes parts, then the head on its condition, then removes what the version before left.
func (l *Ledger) put(ctx context.Context, d document) (int64, error) {
	if err := l.putParts(ctx, d); err != nil {
		return 0, err
	}
	expression, names, values := d.condition()
	out, err := l.api.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(l.table), Item: d.head(),
		ConditionExpression: aws.String(expression), ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValues:                        types.ReturnValueAllOld,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return d.version + 1, l.settle(ctx, d, failed.Item, err)
	}
	if err != nil {
		return 0, awserr.Classify(err)
	}
	if _, wasSplit := out.Attributes[attrParts]; wasSplit || d.split() {
		l.removeOldParts(ctx, d)
	}
	return d.version + 1, nil
}

// settle tells a lost race from our own write whose first reply was lost and whose retry by the client then met it. If others
// wrote twice meanwhile, ours cannot be seen any more and the answer is a conflict; the caller then loads what came of it.
func (l *Ledger) settle(ctx context.Context, d document, found item, cause error) error {
	if len(found) == 0 {
		items, err := l.query(ctx, span{d.pk, d.sk, d.sk}, false)
		if err != nil {
			return fmt.Errorf("read back: %w: %w", fault.Unknown, err)
		}
		if len(items) > 0 {
			found = items[0]
		}
	}
	if found.text(attrWrite) == d.write {
		return nil
	}
	return awserr.Classify(cause)
}

// removeOldParts removes the parts of all versions before the one just written. It cannot fail the save that has succeeded:
// what it leaves is removed by a later save, or expires.
func (l *Ledger) removeOldParts(ctx context.Context, d document) {
	old, err := l.query(ctx, span{d.pk, d.sk + "#", fmt.Sprintf("%s#%020d", d.sk, d.version+1)}, true)
	if err != nil {
		return
	}
	for _, i := range old {
		in := &dynamodb.DeleteItemInput{TableName: aws.String(l.table), Key: key{d.pk, i.text(attrSK)}.item()}
		if _, err := l.api.DeleteItem(ctx, in); err != nil {
			return
		}
	}
}

// load reads a document into content and returns its version, with the other items of the span from..sk by sort key. No head
// is version 0.
func (l *Ledger) load(ctx context.Context, k key, from string, content any) (int64, map[string]item, error) {
	var gap error
	for range loadTries {
		list, err := l.query(ctx, span{k.pk, from, k.sk}, false)
		if err != nil {
			return 0, nil, err
		}
		items := make(map[string]item, len(list))
		for _, i := range list {
			items[i.text(attrSK)] = i
		}
		head, ok := items[k.sk]
		if !ok {
			return 0, items, nil
		}
		version, err := head.number(attrVersion)
		if err != nil {
			return 0, nil, err
		}
		data, err := l.content(ctx, k, head)
		if errors.Is(err, fault.Partial) {
			gap = err // it may have been replaced meanwhile: look again
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		return version, items, unpack(data, content)
	}
	return 0, nil, gap
}

// content returns what a head holds or names.
func (l *Ledger) content(ctx context.Context, k key, head item) ([]byte, error) {
	parts, err := head.number(attrParts)
	if err != nil {
		return nil, err
	}
	if parts == 0 {
		return head.bytes(attrData), nil
	}
	version, err := head.number(attrVersion)
	if err != nil {
		return nil, err
	}
	prefix := partPrefix(k.sk, version, head.text(attrWrite))
	list, err := l.query(ctx, span{k.pk, prefix, prefix + "~"}, false)
	if err != nil {
		return nil, err
	}
	if int64(len(list)) != parts {
		return nil, fmt.Errorf("read parts: %w: version %d has %d of %d", fault.Partial, version, len(list), parts)
	}
	var data strings.Builder
	for _, part := range list {
		data.Write(part.bytes(attrData))
	}
	return []byte(data.String()), nil
}
