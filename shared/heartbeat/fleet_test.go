package heartbeat_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
)

// throttling is a table that refuses a third of all writes at random. It keeps only the numbers of its rows, since an interpreter of
// expressions would take most of the time of a million calls; it refuses a number that does not grow, as the condition would.
type throttling struct {
	mu       sync.Mutex
	rand     *rand.Rand
	rows     map[string]int64
	under    map[string]bool
	refused  int64
	problems []string
}

func (x *throttling) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	key := in.Key["pk"].(*types.AttributeValueMemberS).Value
	x.enter(key, true)
	time.Sleep(5 * time.Millisecond) // what a write takes
	defer x.enter(key, false)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.rand.IntN(3) == 0 {
		x.refused++
		return nil, &smithy.GenericAPIError{Code: "ProvisionedThroughputExceededException", Message: "Rate exceeded"}
	}
	seq, err := strconv.ParseInt(in.ExpressionAttributeValues[":seq"].(*types.AttributeValueMemberN).Value, 10, 64)
	if err != nil || seq <= x.rows[key] {
		x.problems = append(x.problems, fmt.Sprintf("%s: seq %d after %d", key, seq, x.rows[key]))
	}
	x.rows[key] = seq
	return &dynamodb.UpdateItemOutput{}, nil
}

// enter notes that a call of one writer begins or ends.
func (x *throttling) enter(key string, begins bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if begins && x.under[key] {
		x.problems = append(x.problems, key+": two calls at once")
	}
	x.under[key] = begins
}

// TestTenThousandAgentsLoseNoBeat runs ten thousand agents for ten minutes of virtual time against one table that throttles a third of
// the writes. No beat may be late for the next, and no row may ever be older than an interval, its spread, and the waits of the tries.
func TestTenThousandAgentsLoseNoBeat(t *testing.T) {
	if raced {
		t.Skip("Go 1.26.8 crashes in runtime.(*timer).maybeRunChan when the race detector watches this many timers of one synctest bubble; the other tests of the agent run under it")
	}
	agents, minutes := 10_000, 10
	if testing.Short() {
		agents = 500
	}
	const every = 10 * time.Second
	const seed = 1
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		x := &throttling{rand: rand.New(rand.NewPCG(seed, 2)), rows: map[string]int64{}, under: map[string]bool{}}
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		all := make([]*heartbeat.Agent, agents)
		for i := range all {
			own := rand.New(rand.NewPCG(seed, uint64(i)))
			var mu sync.Mutex
			w, err := heartbeat.NewWriter(x, heartbeat.WriterOptions{Table: tableName, Key: key(fmt.Sprintf("i-%08d", i)), Boot: "b", Agent: "1"})
			must(t, err)
			all[i], err = heartbeat.New(heartbeat.Options{
				Connect: connect(w), Every: every,
				Random: func() float64 { mu.Lock(); defer mu.Unlock(); return own.Float64() },
			})
			must(t, err)
			wait.Go(func() { _ = all[i].Run(ctx) }) // the last beat may be throttled to the end
		}
		time.Sleep(time.Duration(minutes) * time.Minute)
		var beats, tries, overdue int64
		var oldest time.Duration
		least := int64(1 << 62)
		for _, a := range all {
			s := a.Stats()
			beats, tries, overdue = beats+s.Beats, tries+s.Tries, overdue+s.Overdue
			least, oldest = min(least, s.Beats), max(oldest, s.LastBeat)
		}
		x.mu.Lock()
		refused := x.refused
		x.mu.Unlock()
		t.Logf("%d beats in %d tries, %d refused; the fewest of one agent: %d; the oldest row: %s", beats, tries, refused, least, oldest)
		// A beat is due 11 s after the one before at the latest.
		if want := int64(minutes*60) * 10 / 110; overdue != 0 || least < want || beats < int64(agents)*want {
			t.Errorf("%d beats overdue, the fewest of one agent %d, want none and at least %d", overdue, least, want)
		}
		if oldest > 20*time.Second {
			t.Errorf("the oldest row is %s old", oldest)
		}
		if refused < tries/4 {
			t.Errorf("%d of %d tries were refused: the table did not throttle", refused, tries)
		}
		cancel()
		wait.Wait()
		if len(x.rows) != agents || len(x.problems) > 0 {
			t.Errorf("%d rows, want %d; %v", len(x.rows), agents, x.problems[:min(len(x.problems), 3)])
		}
	})
}
