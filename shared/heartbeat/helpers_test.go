package heartbeat_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/localstack/world/dynamo"
	"github.com/holdfast-aws/holdfast/shared/beats"
	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/heartbeat"
)

const (
	tableName = "heartbeats"
	groupARN  = "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:0c:autoScalingGroupName/web"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func key(id string) string { return heartbeat.Key("aws", "us-east-1", "111122223333", id) }

// store is a heartbeat table of the embedded AWS, called without a network. It counts calls that are under way at once.
type store struct {
	tables *dynamo.Tables

	// refuse, if it is set, says why a call fails; called before the write.
	refuse func(call int64) error
	// slow is how long a call takes.
	slow time.Duration
	// forgetful hands back no row when a condition fails, as some emulators do.
	forgetful bool

	calls, under atomic.Int64
	mu           sync.Mutex
	most         int64
	inputs       []*dynamodb.UpdateItemInput
	keep         bool
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{tables: dynamo.New(dynamo.Options{Now: time.Now})}
	_, err := s.tables.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String(tableName), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	must(t, err)
	return s
}

func (s *store) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	call := s.calls.Add(1)
	now := s.under.Add(1)
	defer s.under.Add(-1)
	s.mu.Lock()
	s.most = max(s.most, now)
	s.mu.Unlock()
	if s.keep {
		s.mu.Lock()
		s.inputs = append(s.inputs, in)
		s.mu.Unlock()
	}
	if s.slow > 0 {
		timer := time.NewTimer(s.slow)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.refuse != nil {
		if err := s.refuse(call); err != nil {
			return nil, err
		}
	}
	out, err := s.tables.UpdateItem(in)
	var ahead *types.ConditionalCheckFailedException
	if s.forgetful && errors.As(err, &ahead) {
		ahead.Item = nil
	}
	return out, err
}

// BatchGetItem lets Holdfast's own reader read the rows, so that both sides are tested against each other.
func (s *store) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return s.tables.BatchGetItem(in)
}

// beat reads the row of an instance as Holdfast does.
func (s *store) beat(t *testing.T, id string) guard.Beat {
	t.Helper()
	found, err := beats.New(s, beats.Options{Table: tableName}).Beats(t.Context(), guard.Group{ARN: groupARN, Name: "web", Members: []guard.Member{{ID: id}}})
	must(t, err)
	return found[id]
}

// says is a short form of a row for comparisons.
func (s *store) says(t *testing.T, id string) string {
	t.Helper()
	b := s.beat(t, id)
	if !b.Found {
		return "nothing"
	}
	return fmt.Sprint(b.Status, b.Failing)
}

func (s *store) writer(t *testing.T, id string, now func() time.Time) *heartbeat.Writer {
	t.Helper()
	w, err := heartbeat.NewWriter(s, heartbeat.WriterOptions{Table: tableName, Key: key(id), Boot: "b-1", Agent: "1.4.0", Now: now})
	must(t, err)
	return w
}

// connect makes the Connect of an Agent.
func connect(w *heartbeat.Writer) func(context.Context) (*heartbeat.Writer, error) {
	return func(context.Context) (*heartbeat.Writer, error) { return w, nil }
}

// switchable is a check whose answer the test sets.
type switchable struct {
	mu  sync.Mutex
	err error
}

func (s *switchable) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *switchable) run(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func check(name string, run func(context.Context) error) heartbeat.Check {
	return heartbeat.Check{Name: name, Run: run, Timeout: time.Second, Every: 5 * time.Second, Failures: 2}
}

// start runs an agent until the returned function ends it; that returns the error of Run. For use inside a synctest bubble.
func start(t *testing.T, o heartbeat.Options) (*heartbeat.Agent, func() error) {
	t.Helper()
	if o.Random == nil {
		o.Random = func() float64 { return 0.5 }
	}
	agent, err := heartbeat.New(o)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- agent.Run(ctx) }()
	return agent, func() error {
		cancel()
		return <-done
	}
}

// keyOf is the partition key of a call.
func keyOf(in *dynamodb.UpdateItemInput) *string {
	s, ok := in.Key["pk"].(*types.AttributeValueMemberS)
	if !ok {
		return nil
	}
	return &s.Value
}
