package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

// Reads that the SDK gave up on are tried again in so many further rounds, each with half as many at once as the one before, after a
// pause that doubles. Within a round, who was refused for the rate of calls pauses before the next read, and longer each time in a row.
const (
	roundsMax  = 3
	pauseFirst = time.Second
	pauseMax   = 8 * time.Second
)

// job is one read. It may be done again after it failed, and then goes on where it stopped.
type job struct {
	// kind, what and names are those of the Unread that comes of a failure: one for each name, or one without.
	kind, what string
	names      []string
	do         func(context.Context) error
}

// pool does jobs and keeps what could not be read.
type pool struct {
	o Options

	mu sync.Mutex
	// denied has, by operation, why it is not allowed at all: it is not asked for again and again.
	denied map[string]denial
	unread []audit.Unread
}

// denial is a reason with the kinds that are unread for it: one operation may serve two.
type denial struct {
	why   string
	kinds map[string]bool
}

func newPool(o Options) *pool { return &pool{o: o, denied: map[string]denial{}} }

// run does the jobs of a stage. It returns when each of them has succeeded or is unread.
func (p *pool) run(ctx context.Context, stage string, jobs []job) {
	t := &tally{stage: stage, total: len(jobs), tell: p.o.Progress}
	left, width := p.round(ctx, jobs, p.o.Concurrency, t), p.o.Concurrency
	for n := range roundsMax {
		if len(left) == 0 || p.o.Sleep(ctx, pauseFirst<<n) != nil {
			break
		}
		again := make([]job, 0, len(left))
		for _, f := range left {
			again = append(again, f.job)
		}
		width = max(1, width/2)
		left = p.round(ctx, again, width, t)
	}
	for _, f := range left {
		p.fail(f.job, f.err)
		t.ended()
	}
}

// failure is a job that may be tried again.
type failure struct {
	job job
	err error
}

// round does each job once, width of them at a time, and returns those to be tried again, in their order.
func (p *pool) round(ctx context.Context, jobs []job, width int, t *tally) []failure {
	failed := make([]error, len(jobs))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(width, len(jobs)) {
		workers.Go(func() {
			pause := pauseFirst
			for i := range next {
				failed[i] = p.once(ctx, jobs[i])
				switch {
				case failed[i] == nil:
					t.ended()
					pause = pauseFirst
				case errors.Is(failed[i], fault.Throttled):
					// Who is told to stop waiting finds the context ended at the next read.
					_ = p.o.Sleep(ctx, pause)
					pause = min(2*pause, pauseMax)
				}
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	workers.Wait()
	var left []failure
	for i, err := range failed {
		if err != nil {
			left = append(left, failure{jobs[i], err})
		}
	}
	return left
}

// once does a job. What no repetition can mend is unread at once, and is no error.
func (p *pool) once(ctx context.Context, j job) error {
	p.mu.Lock()
	d, denied := p.denied[j.what]
	if denied {
		d.kinds[j.kind] = true
	}
	p.mu.Unlock()
	if denied {
		return nil
	}
	err := ctx.Err()
	if err == nil {
		err = j.do(ctx)
	}
	switch {
	case err == nil:
		return nil
	case awserr.Denied(err):
		p.mu.Lock()
		if _, known := p.denied[j.what]; !known {
			p.denied[j.what] = denial{why(err), map[string]bool{}}
		}
		p.denied[j.what].kinds[j.kind] = true
		p.mu.Unlock()
		return nil
	}
	for _, mendable := range []error{fault.Throttled, fault.Unknown, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, mendable) {
			return err
		}
	}
	p.fail(j, err)
	return nil
}

func (p *pool) fail(j job, err error) {
	names := j.names
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		p.add(audit.Unread{Kind: j.kind, Name: name, What: j.what, Why: why(err)})
	}
}

func (p *pool) add(u audit.Unread) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unread = append(p.unread, u)
}

// all is what could not be read, in a fixed order. What is denied stands once, without a name.
func (p *pool) all() []audit.Unread {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []audit.Unread
	for what, d := range p.denied {
		for kind := range d.kinds {
			out = append(out, audit.Unread{Kind: kind, What: what, Why: d.why})
		}
	}
	out = append(out, p.unread...)
	slices.SortFunc(out, func(a, b audit.Unread) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.What, b.What), cmp.Compare(a.Why, b.Why))
	})
	return slices.Compact(out)
}

// why is an error in AWS's words, without what differs from one try to the next.
func why(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return fmt.Sprintf("%s: %s", api.ErrorCode(), api.ErrorMessage())
	}
	return err.Error()
}

// tally counts for the progress.
type tally struct {
	mu          sync.Mutex
	stage       string
	done, total int
	tell        func(Progress)
}

func (t *tally) ended() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done++
	t.tell(Progress{Stage: t.stage, Done: t.done, Total: t.total})
}
