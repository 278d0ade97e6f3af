package world

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// pageAsk is how a client asks for a page.
type pageAsk struct {
	operation string // "service:Operation"
	token     *string
	// asked is the client's page size, nil for the default.
	asked *int32
	// fallback and most are the operation's default and largest page size.
	fallback, most int
	// badToken is the error for a token that was never handed out.
	badToken error
}

// page cuts one page out of all items and returns the token of the next, nil on
// the last page. An injected fault may shorten or empty it.
func page[T any](s *Server, all []T, ask pageAsk) ([]T, *string, error) {
	size := ask.fallback
	if ask.asked != nil {
		size = int(*ask.asked)
	}
	if size < 1 || size > ask.most {
		return nil, nil, &wire.Error{
			Code:    "ValidationError",
			Message: fmt.Sprintf("page size %d is not between 1 and %d", size, ask.most),
		}
	}
	start, turn, ok := parseToken(aws.ToString(ask.token))
	if !ok || start > len(all) {
		return nil, nil, ask.badToken
	}
	empty, shorter := s.faults.pages(ask.operation)
	if empty {
		return nil, formatToken(start, turn+1), nil
	}
	if shorter > 0 {
		size = min(size, shorter)
	}
	end := min(start+size, len(all))
	if end == len(all) {
		return all[start:], nil, nil
	}
	return all[start:end], formatToken(end, 0), nil
}

// A token holds where the next page starts and how many empty pages came before
// it, so that no two pages in a row have the same token.
func formatToken(start, turn int) *string {
	return aws.String(fmt.Sprintf("page-%d-%d", start, turn))
}

func parseToken(token string) (start, turn int, ok bool) {
	if token == "" {
		return 0, 0, true
	}
	rest, ok := strings.CutPrefix(token, "page-")
	if !ok {
		return 0, 0, false
	}
	a, b, ok := strings.Cut(rest, "-")
	if !ok {
		return 0, 0, false
	}
	start, errA := strconv.Atoi(a)
	turn, errB := strconv.Atoi(b)
	return start, turn, errA == nil && errB == nil && start >= 0 && turn >= 0
}
