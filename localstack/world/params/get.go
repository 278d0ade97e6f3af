package params

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

// maxNames bounds GetParameters. Source: SDK doc comment of GetParameters.
const maxNames = 10

// GetParameter reads the newest version, or the one in "name:version"; the name may be an ARN. Errors:
// ParameterNotFound, ParameterVersionNotFound, AccessDeniedException (injected).
func (s *Store) GetParameter(in *ssm.GetParameterInput) (*ssm.GetParameterOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, selector := split(aws.ToString(in.Name))
	if name == "" {
		return nil, validation("1 validation error detected: Value at 'name' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	if err := s.allowed("GetParameter", name); err != nil {
		return nil, err
	}
	p, err := s.find(name, selector, aws.ToBool(in.WithDecryption))
	if err != nil {
		return nil, err
	}
	return &ssm.GetParameterOutput{Parameter: p}, nil
}

// GetParameters reads up to ten names. Those that do not exist come back in InvalidParameters, without error;
// one denied name denies the whole call.
func (s *Store) GetParameters(in *ssm.GetParametersInput) (*ssm.GetParametersOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(in.Names) < 1 || len(in.Names) > maxNames {
		return nil, validation("1 validation error detected: Value at 'names' failed to satisfy constraint: Member must have length between 1 and %d, but has %d", maxNames, len(in.Names))
	}
	out := &ssm.GetParametersOutput{Parameters: []types.Parameter{}, InvalidParameters: []string{}}
	seen := make(map[string]bool)
	for _, full := range in.Names {
		if seen[full] {
			return nil, validation("GetParameters does not allow duplicate names: %s", full)
		}
		seen[full] = true
		name, selector := split(full)
		if err := s.allowed("GetParameters", name); err != nil {
			return nil, err
		}
		p, err := s.find(name, selector, aws.ToBool(in.WithDecryption))
		if err != nil {
			out.InvalidParameters = append(out.InvalidParameters, full)
			continue
		}
		out.Parameters = append(out.Parameters, *p)
	}
	return out, nil
}

// split takes a selector and the ARN around it off a name.
func split(full string) (name, selector string) {
	if strings.HasPrefix(full, "arn:") {
		_, rest, _ := strings.Cut(full, ":parameter")
		full = rest
	}
	name, selector, _ = strings.Cut(full, ":")
	return name, selector
}

func (s *Store) find(name, selector string, decrypt bool) (*types.Parameter, error) {
	p, ok := s.params[name]
	if !ok && strings.HasPrefix(name, "/") {
		p, ok = s.params[name[1:]] // an ARN shows a plain name with a slash before it
	}
	if !ok {
		return nil, notFound(name)
	}
	if selector == "" {
		return s.show(p, p.latest(), decrypt), nil
	}
	number, err := strconv.ParseInt(selector, 10, 64)
	for _, v := range p.versions {
		if err == nil && v.number == number {
			shown := s.show(p, v, decrypt)
			shown.Selector = aws.String(":" + selector)
			return shown, nil
		}
	}
	return nil, &types.ParameterVersionNotFound{Message: aws.String("Systems Manager could not find version " + selector + " of " + name + ".")}
}

func (s *Store) show(p *parameter, v version, decrypt bool) *types.Parameter {
	value := v.value
	if v.kind == types.ParameterTypeSecureString && !decrypt {
		sum := sha256.Sum256([]byte(p.name + "\x00" + v.value))
		value = "AQICAH" + base64.StdEncoding.EncodeToString(sum[:])
	}
	return &types.Parameter{
		Name: aws.String(p.name), ARN: aws.String(s.arn(p.name)), Value: aws.String(value), Type: v.kind,
		Version: v.number, LastModifiedDate: aws.Time(v.at), DataType: aws.String(v.data),
	}
}
