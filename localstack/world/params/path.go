package params

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

// maxPage is the page size, and its upper bound. Source: SDK doc comment of GetParametersByPath.
const maxPage = 10

// cursor is what a page token says: where to go on, and which page that is.
type cursor struct {
	path string
	last string // the last name seen; empty before the first
	page int
}

func (c cursor) token() *string {
	text := strings.Join([]string{strconv.Itoa(c.page), c.path, c.last}, "\n")
	return aws.String(base64.RawURLEncoding.EncodeToString([]byte(text)))
}

func readCursor(token *string, path string) (cursor, error) {
	if token == nil {
		return cursor{path: path}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(*token)
	parts := strings.Split(string(text), "\n")
	if err != nil || len(parts) != 3 || parts[1] != path {
		return cursor{}, &types.InvalidNextToken{Message: aws.String("The specified token isn't valid.")}
	}
	page, err := strconv.Atoi(parts[0])
	if err != nil {
		return cursor{}, &types.InvalidNextToken{Message: aws.String("The specified token isn't valid.")}
	}
	return cursor{path: path, last: parts[2], page: page}, nil
}

// GetParametersByPath reads one page of the parameters below a path, at most ten, in the order of their names. A
// page may be short or even empty while NextToken is set: only a missing token is the end. Errors:
// InvalidNextToken, ValidationException, AccessDeniedException (injected).
func (s *Store) GetParametersByPath(in *ssm.GetParametersByPathInput) (*ssm.GetParametersByPathOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := aws.ToString(in.Path)
	if !strings.HasPrefix(path, "/") {
		return nil, validation("The parameter doesn't meet the parameter name requirements. The parameter name must begin with a forward slash \"/\".")
	}
	if len(in.ParameterFilters) > 0 {
		return nil, validation("parameter filters are not part of the embedded Parameter Store")
	}
	size := maxPage
	if in.MaxResults != nil {
		size = int(*in.MaxResults)
	}
	if size < 1 || size > maxPage {
		return nil, validation("1 validation error detected: Value '%d' at 'maxResults' failed to satisfy constraint: Member must have value between 1 and %d", size, maxPage)
	}
	if err := s.allowed("GetParametersByPath", path); err != nil {
		return nil, err
	}
	at, err := readCursor(in.NextToken, path)
	if err != nil {
		return nil, err
	}
	if s.hooks.PageSize != nil {
		if n := s.hooks.PageSize(path, at.page); n >= 0 {
			size = min(size, n)
		}
	}
	names := s.below(path, aws.ToBool(in.Recursive))
	from, found := slices.BinarySearch(names, at.last)
	if found {
		from++
	}
	out := &ssm.GetParametersByPathOutput{Parameters: []types.Parameter{}}
	to := min(from+size, len(names))
	for _, name := range names[from:to] {
		p := s.params[name]
		out.Parameters = append(out.Parameters, *s.show(p, p.latest(), aws.ToBool(in.WithDecryption)))
		at.last = name
	}
	if to < len(names) {
		at.page++
		out.NextToken = at.token()
	}
	return out, nil
}

func (s *Store) below(path string, recursive bool) []string {
	prefix := strings.TrimSuffix(path, "/") + "/"
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.params)) {
		rest, ok := strings.CutPrefix(name, prefix)
		if ok && (recursive || !strings.Contains(rest, "/")) {
			names = append(names, name)
		}
	}
	return names
}
