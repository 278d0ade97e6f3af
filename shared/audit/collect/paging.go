package collect

import (
	"fmt"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

// pager follows pages. It keeps its place when a page fails, so that a repetition goes on there. A page may be short or empty while
// there is a token; a token that comes back a second time would never end.
type pager struct {
	token *string
	seen  map[string]bool
	over  bool
}

// each asks for the pages that are left.
func (p *pager) each(ask func(token *string) (next *string, err error)) error {
	for !p.over {
		if err := p.one(ask); err != nil {
			return err
		}
	}
	return nil
}

// one asks for the next page.
func (p *pager) one(ask func(token *string) (next *string, err error)) error {
	next, err := ask(p.token)
	if err != nil {
		return awserr.Classify(err)
	}
	if next == nil || *next == "" {
		p.over = true
		return nil
	}
	if p.seen[*next] {
		return fmt.Errorf("%w: page token %q came back", fault.Partial, *next)
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[*next] = true
	p.token = next
	return nil
}
