package ledger

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// API is what the ledger needs of the DynamoDB client. Its client may retry: a save that was done and then reports a failed
// condition to its own retry is recognised, and a reservation carries its own token.
type API interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Options configure a Ledger; both are required.
type Options struct {
	// Table is the name or ARN of the state table.
	Table string
	// Now is the clock; it only dates the fallback expiry of split contents.
	Now func() time.Time
}

// Ledger is a runner.Ledger over a DynamoDB table. It is safe for concurrent use.
type Ledger struct {
	api   API
	table string
	now   func() time.Time
}

// New returns a ledger over a table. It makes no call; an error says which option is missing.
func New(api API, o Options) (*Ledger, error) {
	var errs []error
	if api == nil {
		errs = append(errs, errors.New("ledger: no client"))
	}
	if o.Table == "" {
		errs = append(errs, errors.New("ledger: no table"))
	}
	if o.Now == nil {
		errs = append(errs, errors.New("ledger: no clock"))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &Ledger{api: api, table: o.Table, now: o.Now}, nil
}

// Sort keys, and the partition of the Region's item.
const (
	sortState   = "state"
	sortRequest = "request"
	sortBudget  = "budget"
	regionKey   = "region"
)

// groupContent and regionContent are the stored forms; the version and the request stand beside them.
type groupContent struct {
	State    guard.State       `json:"state"`
	LastGood map[string][]byte `json:"last_good,omitempty"`
	Looked   runner.Looked     `json:"looked,omitzero"`
}

type regionContent struct {
	State    guard.RegionState `json:"state"`
	Defaults []byte            `json:"defaults,omitempty"`
	Mode     string            `json:"mode,omitempty"`
	Strays   []runner.Stray    `json:"strays,omitempty"`
}

func groupKey(arn string) key { return key{pk: arn, sk: sortState} }

func budgetKey() key { return key{pk: regionKey, sk: sortBudget} }

// Load reads a group's state and its operator request in one strongly consistent query; no item is the zero Record. A state
// of which a part is missing is fault.Partial.
func (l *Ledger) Load(ctx context.Context, groupARN string) (runner.Record, error) {
	var content groupContent
	version, items, err := l.load(ctx, groupKey(groupARN), sortRequest, &content)
	if err != nil {
		return runner.Record{}, fmt.Errorf("load state: %w", err)
	}
	rec := runner.Record{Version: version, State: content.State, LastGood: content.LastGood, Looked: content.Looked}
	if q, ok := items[sortRequest]; ok {
		if err := json.Unmarshal([]byte(q.text(attrJSON)), &rec.Request); err != nil {
			return runner.Record{}, fmt.Errorf("load state: decode request: %w", err)
		}
	}
	return rec, nil
}

// Save writes a group's state if its version is still rec.Version and returns the new version; fault.Conflict if another
// writer was faster, fault.Unknown if the outcome cannot be told. The record's Request is not written.
func (l *Ledger) Save(ctx context.Context, groupARN string, rec runner.Record) (int64, error) {
	v, err := l.save(ctx, groupKey(groupARN), rec.Version, contentOfGroup(rec))
	if err != nil {
		return 0, fmt.Errorf("save state: %w", err)
	}
	return v, nil
}

// LoadRegion reads the Region's item as Load does.
func (l *Ledger) LoadRegion(ctx context.Context) (runner.RegionRecord, error) {
	var content regionContent
	version, _, err := l.load(ctx, budgetKey(), sortBudget, &content)
	if err != nil {
		return runner.RegionRecord{}, fmt.Errorf("load region: %w", err)
	}
	return runner.RegionRecord{
		Version: version, State: content.State, LastGoodDefaults: content.Defaults, LastGoodMode: content.Mode, Strays: content.Strays,
	}, nil
}

// SaveRegion writes the Region's item as Save does.
func (l *Ledger) SaveRegion(ctx context.Context, rec runner.RegionRecord) (int64, error) {
	v, err := l.save(ctx, budgetKey(), rec.Version, contentOfRegion(rec))
	if err != nil {
		return 0, fmt.Errorf("save region: %w", err)
	}
	return v, nil
}

func contentOfGroup(rec runner.Record) groupContent {
	return groupContent{State: rec.State, LastGood: rec.LastGood, Looked: rec.Looked}
}

func contentOfRegion(rec runner.RegionRecord) regionContent {
	return regionContent{State: rec.State, Defaults: rec.LastGoodDefaults, Mode: rec.LastGoodMode, Strays: rec.Strays}
}

// save makes a document of some content and writes it under a write id of its own.
func (l *Ledger) save(ctx context.Context, k key, version int64, content any) (int64, error) {
	doc, err := newDocument(k, version, content)
	if err != nil {
		return 0, err
	}
	doc.write = rand.Text()
	return l.put(ctx, doc)
}
