package runner

import (
	"context"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Fleet reads Auto Scaling groups and their load balancer targets. Every read is complete or an error.
type Fleet interface {
	// Guarded lists every group that carries the opt-in tag, with members, suspensions and tags, without targets.
	Guarded(ctx context.Context) ([]guard.Group, error)
	// Group reads one group afresh, as Guarded does; fault.Gone if it does not exist.
	Group(ctx context.Context, name string) (guard.Group, error)
	// Details adds targets, foreign targets, opted-out members, activities and the instance refresh to a group. What could not
	// be read completely stands in the Reads (Group, Targets, Activities, OptOuts), and the group then has what could.
	Details(ctx context.Context, g guard.Group) (guard.Group, guard.Reads)
}

// Beats reads the heartbeats of a group's members by key. Every member has an entry: one without a row is the zero Beat, one that
// could not be read (also an unprocessed key after bounded retries) is Unreadable, and the error says that there was any. A row
// that was read and makes no sense is Unreadable with a Detail, and no error: one member's row must not blind its group.
type Beats interface {
	Beats(ctx context.Context, g guard.Group) (map[string]guard.Beat, error)
}

// Alarms reads alarms of every type by name. Each name has an answer: one that no answer named is guard.AlarmMissing, one whose
// call failed guard.AlarmUnread with the reason in Detail.
type Alarms interface {
	Alarms(ctx context.Context, names []string) map[string]guard.AlarmReading
}

// Queues reads the queue of a worker group.
type Queues interface {
	Queue(ctx context.Context, spec guard.QueueSpec) (guard.QueueReading, error)
}

// Policies reads the policy layers of the named groups and the one big switch.
type Policies interface {
	Policies(ctx context.Context, groups []string) PolicySet
}

// PolicySet is what Policies read. LastGood fields are empty: the runner fills them from the ledger.
type PolicySet struct {
	Switch   guard.Switch
	Defaults guard.Layer
	// Groups has, by group name, the layers declared and groups, in that order.
	Groups map[string][]guard.Layer
	// Others are the names of all other parameters that were read, in any order.
	Others []string
}

// Record is a group's item in the ledger.
type Record struct {
	// Version is the fence: a save succeeds only on the version that was loaded; 0 says that there is no item yet.
	Version int64
	State   guard.State
	// LastGood is the last valid content of the group's own policy layers, by layer name.
	LastGood map[string][]byte
	// Looked is what the look that wrote the state saw, for people.
	Looked Looked
	// Request is what an operator asked for; it is read only here, and written by the command line.
	Request guard.Request
}

// RegionRecord is the Region's one item in the ledger.
type RegionRecord struct {
	Version int64
	State   guard.RegionState
	// LastGoodDefaults and LastGoodMode are the last valid /holdfast/defaults and /holdfast/mode.
	LastGoodDefaults []byte
	LastGoodMode     string
	// Strays are the parameters that nobody reads, sorted by name.
	Strays []Stray
}

// ActionRecord is one item per action, kept for 30 days: the reservation, then its outcome.
type ActionRecord struct {
	ID, Group, Kind, Member string
	Processes               []string
	At                      time.Time
	// Outcome is guard.OutcomeReserved first, then done, unknown, refused, cancelled or withheld.
	Outcome, Detail string
	// Run is the id of the run that did it.
	Run string
}

// Reservation is one transaction: the group's new state, the Region's, and an action item for each mark. All or nothing.
type Reservation struct {
	Group   string // group ARN
	Record  Record
	Region  RegionRecord
	Actions []ActionRecord
	// Token makes a repeat of the same request the same transaction.
	Token string
}

// Ledger is the durable memory, shared by all paths. Loads are strongly consistent. A write that another writer overtook is
// fault.Conflict and changes nothing; one whose outcome cannot be told is fault.Unknown.
type Ledger interface {
	// Load reads a group's item; no item is the zero Record.
	Load(ctx context.Context, groupARN string) (Record, error)
	// Save writes a group's item on the condition that its version is still rec.Version, and returns the new version.
	Save(ctx context.Context, groupARN string, rec Record) (int64, error)
	// LoadRegion and SaveRegion do the same for the Region's item.
	LoadRegion(ctx context.Context) (RegionRecord, error)
	SaveRegion(ctx context.Context, rec RegionRecord) (int64, error)
	// Reserve writes all of a reservation or nothing, on the versions of its records; both versions grow by one.
	Reserve(ctx context.Context, r Reservation) error
	// PutAction writes or replaces one action item.
	PutAction(ctx context.Context, a ActionRecord) error
}

// Actor makes the calls that change something. A nil error says that AWS accepted the call; other answers are fault kinds.
type Actor interface {
	// Mark sets one member Unhealthy, grace respected, with the grace flag stated.
	Mark(ctx context.Context, member string) error
	// Restore sets one member Healthy.
	Restore(ctx context.Context, member string) error
	// Suspend and Resume take an explicit, non-empty list; an empty one is refused, because AWS reads it as all processes.
	Suspend(ctx context.Context, group string, processes []string) error
	Resume(ctx context.Context, group string, processes []string) error
}

// Reporter tells people and machines what happened.
type Reporter interface {
	// Page hands over one notice; an error says that it must be sent again.
	Page(ctx context.Context, n Notice) error
	// Report takes the record of one look at one group; it cannot fail the look.
	Report(ctx context.Context, r Report)
}

// Notice is a page about one group.
type Notice struct {
	GroupARN, Group string
	guard.Page
	// At is when it was decided; Mode is the group's policy mode.
	At   time.Time
	Mode string
}

// Report is the record of one look at one group.
type Report struct {
	Run     string    `json:"run"`
	Trigger string    `json:"trigger"`
	At      time.Time `json:"at"`
	Group   string    `json:"group"`
	ARN     string    `json:"arn"`
	// Verdict is what was decided last in this run, after the second look if there was one.
	Verdict guard.Verdict `json:"verdict"`
	// Calls are the calls that were made, in order, with their outcomes.
	Calls []Call `json:"calls,omitempty"`
	// Failure says why the look could not be completed, "" if it was.
	Failure string `json:"failure,omitempty"`
}

// Call is one call to AWS that would change, or changed, something.
type Call struct {
	guard.Action
	// Outcome is done, refused, unknown, cancelled or withheld; Error is what AWS said.
	Outcome string `json:"outcome"`
	Error   string `json:"error,omitempty"`
}
