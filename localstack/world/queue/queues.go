package queue

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// Options configure a Queues.
type Options struct {
	// Now is the clock of delays and visibility timeouts. Required.
	Now func() time.Time
	// Region and Account appear in ARNs and URLs. Empty means us-east-1 and 111122223333.
	Region, Account string
	// BaseURL begins every queue URL, without a slash at its end; empty means the real address of SQS.
	BaseURL string
}

// Queues is the whole of one account's SQS in one Region. It is safe for concurrent use.
type Queues struct {
	opts Options

	mu     sync.Mutex
	queues map[string]*queue
	issued int
}

type queue struct {
	name       string
	attributes map[string]string
	created    time.Time
	messages   []*message
	depth      *int // what a simulator says instead of the number of visible messages
}

type message struct {
	id       string
	body     string
	values   map[string]types.MessageAttributeValue
	sent     time.Time
	visible  time.Time // hidden before
	first    time.Time
	receives int
	receipt  string // of the last receive
}

// New returns a Queues without a queue.
func New(opts Options) *Queues {
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Account == "" {
		opts.Account = "111122223333"
	}
	if opts.BaseURL == "" {
		opts.BaseURL = "https://sqs." + opts.Region + ".amazonaws.com"
	}
	return &Queues{opts: opts, queues: make(map[string]*queue)}
}

// Create makes a queue with the default attributes and returns its URL; an existing one is left alone.
func (q *Queues) Create(name string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.queues[name]; !ok {
		q.queues[name] = &queue{name: name, attributes: defaults(), created: q.opts.Now()}
	}
	return q.url(name)
}

// ARN returns the ARN of a queue of this name.
func (q *Queues) ARN(name string) string {
	return fmt.Sprintf("arn:aws:sqs:%s:%s:%s", q.opts.Region, q.opts.Account, name)
}

// Deliver puts a message into the queue with this ARN, as another AWS service does. The attributes become string
// message attributes. It returns QueueDoesNotExist for an ARN that names no queue here.
func (q *Queues) Deliver(arn, body string, attributes map[string]string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	name := arn[strings.LastIndex(arn, ":")+1:]
	to, ok := q.queues[name]
	if !ok || arn != q.ARN(name) {
		return notExist()
	}
	values := make(map[string]types.MessageAttributeValue, len(attributes))
	for k, v := range attributes {
		values[k] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(v)}
	}
	q.add(to, body, values)
	return nil
}

// Bodies returns the bodies of all messages in a queue, hidden ones too, oldest first.
func (q *Queues) Bodies(name string) []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	from, ok := q.queues[name]
	if !ok {
		return nil
	}
	var out []string
	for _, m := range from.messages {
		out = append(out, m.body)
	}
	return out
}

// SetDepth makes a queue report so many visible messages whatever it holds, so that a simulated backlog of
// thousands needs no messages. A negative depth ends that. A queue that does not exist is QueueDoesNotExist.
func (q *Queues) SetDepth(name string, depth int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	of, ok := q.queues[name]
	if !ok {
		return notExist()
	}
	of.depth = nil
	if depth >= 0 {
		of.depth = &depth
	}
	return nil
}

func (q *Queues) url(name string) string { return q.opts.BaseURL + "/" + q.opts.Account + "/" + name }

// find takes the queue's name from the end of its URL, whatever host a client reached it under.
func (q *Queues) find(url *string) (*queue, error) {
	text := aws.ToString(url)
	found, ok := q.queues[text[strings.LastIndex(text, "/")+1:]]
	if !ok {
		return nil, notExist()
	}
	return found, nil
}

func (q *Queues) add(to *queue, body string, values map[string]types.MessageAttributeValue) *message {
	q.issued++
	now := q.opts.Now()
	m := &message{
		id: fmt.Sprintf("00000000-0000-4000-8000-%012d", q.issued), body: body, values: maps.Clone(values),
		sent: now, visible: now,
	}
	to.messages = append(to.messages, m)
	return m
}

func sumOf(text string) *string {
	sum := md5.Sum([]byte(text))
	return aws.String(hex.EncodeToString(sum[:]))
}

func notExist() error {
	return &types.QueueDoesNotExist{Message: aws.String("The specified queue does not exist.")}
}

// invalid is the error of a request that is wrong in itself. The SDK models no type for these codes.
func invalid(code, format string, args ...any) error {
	return &smithy.GenericAPIError{Code: code, Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient}
}
