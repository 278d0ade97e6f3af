package world

import (
	"strings"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// pastAnswersMax bounds the memory of the server. It is many times what one
// sweep of the guardian over a few groups asks.
const pastAnswersMax = 4096

// past remembers the answers to reads, so that a stale read can be served: what
// the same question was answered earlier.
type past struct {
	mu      sync.Mutex
	answers []pastAnswer
}

type pastAnswer struct {
	question string
	at       time.Time
	resp     wire.Response
}

// question has the Content-Type in it, because an old answer has to be in the
// protocol of the request.
func question(req request) string { return req.name() + "\n" + req.media + "\n" + string(req.body) }

// isRead tells a read by the verb AWS gives it. Only reads can be stale.
func isRead(operation string) bool {
	for _, verb := range []string{"Describe", "Get", "BatchGet", "Query", "List", "Scan"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}

func (p *past) keep(req request, resp wire.Response) {
	if !isRead(req.operation) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers = append(p.answers, pastAnswer{question: question(req), at: req.at, resp: resp})
	if len(p.answers) > pastAnswersMax {
		p.answers = append([]pastAnswer(nil), p.answers[len(p.answers)-pastAnswersMax/2:]...)
	}
}

// before returns the newest answer to the same question that is not newer than
// the limit.
func (p *past) before(req request, limit time.Time) (wire.Response, bool) {
	if !isRead(req.operation) {
		return wire.Response{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	q := question(req)
	for i := len(p.answers) - 1; i >= 0; i-- {
		if a := p.answers[i]; a.question == q && !a.at.After(limit) {
			return a.resp, true
		}
	}
	return wire.Response{}, false
}
