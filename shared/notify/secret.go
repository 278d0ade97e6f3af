package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/holdfast-aws/holdfast/shared/awserr"
	"github.com/holdfast-aws/holdfast/shared/fault"
)

// hidden stands wherever a secret would be printed.
const hidden = "[secret]"

// secret is a text that prints as something else, whoever prints it. Only a conversion to string shows it.
type secret string

func (secret) String() string { return hidden }

func (secret) GoString() string { return hidden }

func (secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

func (secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// secretPartMin is how long a part of a secret address must be to be hidden by itself; shorter ones are ordinary words.
const secretPartMin = 8

// maskIn replaces the secret wherever it stands in a text, and the longer parts of one that is an address, each as it is, with its
// escapes of an address undone or made, and as JSON writes it, whatever the case of letters.
func (s secret) maskIn(text string) string {
	if s == "" {
		return text
	}
	parts := []string{string(s)}
	if u, err := url.Parse(string(s)); err == nil {
		for _, raw := range []string{u.Path, u.EscapedPath(), u.RawQuery} {
			parts = append(parts, strings.FieldsFunc(raw, func(r rune) bool { return strings.ContainsRune("/?&=", r) })...)
		}
	}
	var forms []string
	for i, part := range parts {
		if i == 0 || len(part) >= secretPartMin {
			forms = append(forms, spellings(part)...)
		}
	}
	slices.SortStableFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may be a part of another
	for _, form := range forms {
		text = regexp.MustCompile("(?i)"+regexp.QuoteMeta(form)).ReplaceAllLiteralString(text, hidden)
	}
	return text
}

// spellings are the forms in which a text may come back.
func spellings(text string) []string {
	all := []string{text, url.QueryEscape(text), url.PathEscape(text)}
	if plain, err := url.QueryUnescape(text); err == nil {
		all = append(all, plain)
	}
	if plain, err := url.PathUnescape(text); err == nil {
		all = append(all, plain)
	}
	if quoted, err := json.Marshal(text); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	// Bytes that are no text cannot be looked for by a pattern, and never reach a line: oneLine replaces them.
	return slices.DeleteFunc(all, func(form string) bool { return form == "" || !utf8.ValidString(form) })
}

// SecretAPI is what reading a secret needs of the SSM client.
type SecretAPI interface {
	GetParameter(context.Context, *ssm.GetParameterInput, ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
}

// Secret is where a secret is kept: the name of an SSM SecureString, or "/aws/reference/secretsmanager/NAME" for one of Secrets
// Manager, whose whole value it then is. Source: Systems Manager user guide, "Referencing AWS Secrets Manager secrets".
type Secret struct {
	API  SecretAPI
	Name string
}

// read gets the secret anew each time, so that one that was changed is in force at once. A parameter that is no SecureString is
// refused, because it may have been read by many.
func (s Secret) read(ctx context.Context) (secret, error) {
	out, err := s.API.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(s.Name), WithDecryption: aws.Bool(true)})
	if err != nil {
		return "", fmt.Errorf("get secret %s: %w", s.Name, awserr.Classify(err))
	}
	if out.Parameter == nil || aws.ToString(out.Parameter.Value) == "" {
		return "", fmt.Errorf("get secret %s: %w: it has no value", s.Name, fault.Refused)
	}
	if out.Parameter.Type != types.ParameterTypeSecureString {
		return "", fmt.Errorf("get secret %s: %w: it is a %s, want a SecureString", s.Name, fault.Refused, out.Parameter.Type)
	}
	return secret(strings.TrimSpace(*out.Parameter.Value)), nil
}

// policyPath is where the sweep reads every parameter, decrypted: a secret there would be read by it, and a key that it may not
// use would make every policy unreadable.
const policyPath = "/holdfast/"

// checkSecretName refuses what is no name, without showing it, because a secret may have been put in its place; and names that the
// sweep would read. Source for the characters: Systems Manager API reference, PutParameter.
func checkSecretName(name string) error {
	switch {
	case !regexp.MustCompile(`^/[A-Za-z0-9_.+=@/-]{1,1000}$`).MatchString(name):
		return errors.New("want the name of a parameter, with a slash first, and never the secret itself")
	case strings.HasPrefix(name, policyPath):
		return fmt.Errorf("no secret below %s, where the sweep reads its policies", policyPath)
	}
	return nil
}
