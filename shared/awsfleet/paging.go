package awsfleet

import (
	"fmt"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

// everyPage asks until no token is left. A page may be short or empty while there is one; that is no end. A token that comes
// back a second time would never end and is a partial read. What verb and object are read stands in front of the error.
func everyPage(what string, ask func(token *string) (next *string, err error)) error {
	seen := map[string]bool{}
	var token *string
	for {
		next, err := ask(token)
		if err != nil {
			return fmt.Errorf("%s: %w", what, awserr.Classify(err))
		}
		if next == nil || *next == "" {
			return nil
		}
		if seen[*next] {
			return fmt.Errorf("%s: %w: page token %q came back after %d pages", what, fault.Partial, *next, len(seen))
		}
		seen[*next] = true
		token = next
	}
}
