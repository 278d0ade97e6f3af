package dynamo

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Options configure a Tables.
type Options struct {
	// Now is the clock; it dates tables and ends the life of request tokens. Required.
	Now func() time.Time
	// Region and Account appear in ARNs. Empty means us-east-1 and 111122223333.
	Region, Account string
	// PageBytes bounds what one Query or Scan reads before it filters; 0 means 1 MB, as on AWS.
	PageBytes int
}

// Hooks inject the faults that a healthy table never shows. They run under the table's lock, so they must not
// call back. A nil hook injects nothing.
type Hooks struct {
	// Unprocessed makes BatchGetItem hand this key back in UnprocessedKeys.
	Unprocessed func(table string, key Item) bool
	// Refuse makes a write of this key fail with the given transaction reason code: TransactionConflict,
	// ThrottlingError or ProvisionedThroughputExceeded. The empty string lets it pass. A plain write gets the
	// exception that corresponds to it.
	Refuse func(table string, key Item) string
}

// Tables is the whole of one account's DynamoDB in one Region. It is safe for concurrent use.
type Tables struct {
	opts     Options
	reserved map[string]bool

	mu     sync.Mutex
	hooks  Hooks
	tables map[string]*table
	tokens map[string]doneTransaction
}

// New returns an empty Tables.
func New(opts Options) *Tables {
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Account == "" {
		opts.Account = "111122223333"
	}
	if opts.PageBytes == 0 {
		opts.PageBytes = 1 << 20
	}
	return &Tables{
		opts:     opts,
		reserved: reservedWords(),
		tables:   make(map[string]*table),
		tokens:   make(map[string]doneTransaction),
	}
}

// SetHooks replaces the fault hooks.
func (t *Tables) SetHooks(h Hooks) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hooks = h
}

// Put writes an item as some other client would: no condition and no charge to the counted usage. It is how a
// simulator delivers heartbeats. It returns the same errors as PutItem for a wrong key or a size over 400 KB.
func (t *Tables) Put(tableName string, item Item) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	tb, err := t.table(&tableName)
	if err != nil {
		return err
	}
	clean, err := normalizeItem(item, 0)
	if err != nil {
		return err
	}
	id, err := tb.itemID(clean)
	if err != nil {
		return err
	}
	if size := ItemSize(clean); size > maxItemBytes {
		return errItemSize()
	}
	tb.set(id, clean)
	return nil
}

// Remove deletes the item with this key, as TTL or another client would; no such item is no error.
func (t *Tables) Remove(tableName string, key Item) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	tb, err := t.table(&tableName)
	if err != nil {
		return err
	}
	id, _, err := tb.keyID(key)
	if err != nil {
		return err
	}
	tb.set(id, nil)
	return nil
}

// Items returns a copy of every item of a table, ordered by key; nil for a table that does not exist.
func (t *Tables) Items(tableName string) []Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	tb, err := t.table(&tableName)
	if err != nil {
		return nil
	}
	var out []Item
	for _, row := range tb.all() {
		out = append(out, CopyItem(row))
	}
	return out
}

// Usage counts the capacity units that a table's requests consumed.
type Usage struct{ ReadUnits, WriteUnits float64 }

// Usage returns what was consumed on a table since it was created; zero for a table that does not exist.
func (t *Tables) Usage(tableName string) Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tb, err := t.table(&tableName); err == nil {
		return tb.usage
	}
	return Usage{}
}

// table finds a table by name or ARN.
func (t *Tables) table(name *string) (*table, error) {
	if name == nil || *name == "" {
		return nil, validation("1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null")
	}
	plain := *name
	if strings.HasPrefix(plain, "arn:") {
		_, plain, _ = strings.Cut(plain, ":table/")
	}
	tb, ok := t.tables[plain]
	if !ok {
		return nil, notFound("Requested resource not found")
	}
	return tb, nil
}

func (t *Tables) arn(name string) string {
	return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", t.opts.Region, t.opts.Account, name)
}

// refusal is the plain-write form of a reason code from Hooks.Refuse.
func refusal(code string) error {
	message := reasonMessage(code)
	switch code {
	case reasonConflict:
		return &types.TransactionConflictException{Message: &message}
	case reasonThroughput:
		return &types.ProvisionedThroughputExceededException{Message: &message}
	default:
		return &types.ThrottlingException{Message: &message}
	}
}
