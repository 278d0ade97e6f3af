package params

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"
)

// Options configure a Store.
type Options struct {
	// Now is the clock that dates the versions. Required.
	Now func() time.Time
	// Region and Account appear in ARNs. Empty means us-east-1 and 111122223333.
	Region, Account string
	// OnChange is called after each change, outside the lock, in the order of the changes of one caller. It is
	// what the "Parameter Store Change" event is made from. May be nil.
	OnChange func(Change)
}

// Change is one change of a parameter. It encodes to the detail of the "Parameter Store Change" event, which has
// neither the value nor the version; ARN is that event's only resource.
type Change struct {
	// Operation is Create, Update or Delete.
	Operation   string `json:"operation"`
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	ARN         string `json:"-"`
}

// Hooks inject what a healthy store shows only now and then. They run under the store's lock, so they must not
// call back. A nil hook injects nothing.
type Hooks struct {
	// Denied refuses an operation on a name with AccessDeniedException. For GetParametersByPath the name is the
	// path, because that is what AWS authorises: children are not asked for.
	Denied func(operation, name string) bool
	// PageSize bounds page number page (0 is the first) of a GetParametersByPath; 0 makes it empty with a token
	// to go on. A negative number leaves the page alone.
	PageSize func(path string, page int) int
}

// Store is the whole of one account's Parameter Store in one Region. It is safe for concurrent use.
type Store struct {
	opts Options

	mu     sync.Mutex
	hooks  Hooks
	params map[string]*parameter
}

// parameter is a name with its versions, oldest first.
type parameter struct {
	name        string
	description string
	pattern     string
	tier        types.ParameterTier
	versions    []version
}

type version struct {
	number int64
	value  string
	kind   types.ParameterType
	data   string
	at     time.Time
}

func (p *parameter) latest() version { return p.versions[len(p.versions)-1] }

// New returns an empty Store.
func New(opts Options) *Store {
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Account == "" {
		opts.Account = "111122223333"
	}
	return &Store{opts: opts, params: make(map[string]*parameter)}
}

// SetHooks replaces the fault hooks.
func (s *Store) SetHooks(h Hooks) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = h
}

// Value returns the newest value of a name, decrypted; ok is false if there is none. No hook applies.
func (s *Store) Value(name string) (value string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.params[name]
	if !ok {
		return "", false
	}
	return p.latest().value, true
}

func (s *Store) arn(name string) string {
	// A name that is a path begins with the slash that also separates it from the resource type.
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	return fmt.Sprintf("arn:aws:ssm:%s:%s:parameter%s", s.opts.Region, s.opts.Account, name)
}

func (s *Store) changed(operation string, p *parameter) Change {
	return Change{
		Operation: operation, Name: p.name, Type: string(p.latest().kind), Description: p.description, ARN: s.arn(p.name),
	}
}

func (s *Store) tell(c Change) {
	if s.opts.OnChange != nil {
		s.opts.OnChange(c)
	}
}

// allowed applies the Denied hook.
func (s *Store) allowed(operation, name string) error {
	if s.hooks.Denied == nil || !s.hooks.Denied(operation, name) {
		return nil
	}
	return &smithy.GenericAPIError{
		Code: "AccessDeniedException",
		Message: fmt.Sprintf("User is not authorized to perform: ssm:%s on resource: %s because no identity-based policy allows the ssm:%s action",
			operation, s.arn(name), operation),
		Fault: smithy.FaultClient,
	}
}

// validation is the error of a request that is wrong in itself. The SDK models no type for it.
func validation(format string, args ...any) error {
	return &smithy.GenericAPIError{
		Code: "ValidationException", Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient,
	}
}

func notFound(name string) error {
	return &types.ParameterNotFound{Message: aws.String(fmt.Sprintf("Parameter %s not found.", name))}
}
