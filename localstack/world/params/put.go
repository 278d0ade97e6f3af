package params

import (
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

// Limits of a parameter. Source: SDK doc comment of PutParameter; AWS user guide, "Parameter tiers".
const (
	maxName          = 1011 // characters, without the rest of the ARN
	maxLevels        = 15
	maxStandardBytes = 4096
	maxAdvancedBytes = 8192
	maxVersions      = 100
)

// PutParameter creates a parameter or, with Overwrite, adds a version. Errors: ParameterAlreadyExists,
// ParameterPatternMismatchException, InvalidAllowedPatternException, HierarchyLevelLimitExceededException,
// HierarchyTypeMismatchException, ValidationException.
//
// AllowedPattern, Description and Type of an existing parameter stay when a request leaves them out. For the
// pattern the AWS documentation does not say so; a caller must check a value again when it reads it.
func (s *Store) PutParameter(in *ssm.PutParameterInput) (*ssm.PutParameterOutput, error) {
	s.mu.Lock()
	out, change, err := s.put(in)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	s.tell(change)
	return out, nil
}

func (s *Store) put(in *ssm.PutParameterInput) (*ssm.PutParameterOutput, Change, error) {
	name := aws.ToString(in.Name)
	if err := checkName(name); err != nil {
		return nil, Change{}, err
	}
	if err := s.allowed("PutParameter", name); err != nil {
		return nil, Change{}, err
	}
	old, exists := s.params[name]
	p := &parameter{name: name, tier: types.ParameterTierStandard}
	operation := "Create"
	if exists {
		copied := *old
		p, operation = &copied, "Update"
	}
	if err := p.read(in, exists); err != nil {
		return nil, Change{}, err
	}
	v := version{number: 1, value: *in.Value, kind: in.Type, data: aws.ToString(in.DataType), at: s.opts.Now()}
	if v.data == "" {
		v.data = "text"
	}
	if exists {
		v.number = old.latest().number + 1
		if v.kind == "" {
			v.kind = old.latest().kind
		}
	}
	p.versions = append(p.versions[:len(p.versions):len(p.versions)], v)
	if len(p.versions) > maxVersions {
		p.versions = p.versions[1:]
	}
	s.params[name] = p
	return &ssm.PutParameterOutput{Version: v.number, Tier: p.tier}, s.changed(operation, p), nil
}

// read checks the request against what is there and takes over all but the value.
func (p *parameter) read(in *ssm.PutParameterInput, exists bool) error {
	if aws.ToString(in.Value) == "" {
		return validation("1 validation error detected: Value at 'value' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	if exists && !aws.ToBool(in.Overwrite) {
		return &types.ParameterAlreadyExists{Message: aws.String("The parameter already exists. To overwrite this value, set the overwrite option in the request to true.")}
	}
	if aws.ToBool(in.Overwrite) && len(in.Tags) > 0 {
		return validation("Invalid request: tags and overwrite can't be used together. To create a parameter with tags, please remove overwrite flag. To update tags for an existing parameter, please use AddTagsToResource or RemoveTagsFromResource.")
	}
	if aws.ToString(in.Policies) != "" {
		return validation("parameter policies are not part of the embedded Parameter Store")
	}
	if err := p.checkType(in.Type, exists); err != nil {
		return err
	}
	if in.Tier == types.ParameterTierAdvanced {
		p.tier = types.ParameterTierAdvanced
	}
	if in.Tier == types.ParameterTierIntelligentTiering && len(*in.Value) > maxStandardBytes {
		p.tier = types.ParameterTierAdvanced
	}
	limit := maxStandardBytes
	if p.tier == types.ParameterTierAdvanced {
		limit = maxAdvancedBytes
	}
	if len(*in.Value) > limit {
		return validation("%s tier parameters support a maximum parameter value of %d characters.", p.tier, limit)
	}
	if in.Description != nil {
		p.description = *in.Description
	}
	if in.AllowedPattern != nil {
		p.pattern = *in.AllowedPattern
	}
	return p.checkPattern(*in.Value)
}

func (p *parameter) checkType(kind types.ParameterType, exists bool) error {
	switch kind {
	case types.ParameterTypeString, types.ParameterTypeStringList, types.ParameterTypeSecureString:
		if exists && kind != p.latest().kind {
			return &types.HierarchyTypeMismatchException{Message: aws.String("The parameter type cannot be changed from " +
				string(p.latest().kind) + " to " + string(kind) + ".")}
		}
		return nil
	case "":
		if exists {
			return nil
		}
		return validation("A parameter type is required when you create a parameter.")
	}
	return &types.UnsupportedParameterType{Message: aws.String("The parameter type isn't supported: " + string(kind))}
}

func (p *parameter) checkPattern(value string) error {
	if p.pattern == "" {
		return nil
	}
	pattern, err := regexp.Compile(p.pattern)
	if err != nil {
		return &types.InvalidAllowedPatternException{Message: aws.String("The request does not meet the regular expression requirement: " + p.pattern)}
	}
	if !pattern.MatchString(value) {
		return &types.ParameterPatternMismatchException{Message: aws.String("Parameter value, cannot be validated against allowedPattern: " + p.pattern)}
	}
	return nil
}

func checkName(name string) error {
	switch {
	case name == "" || len(name) > maxName:
		return validation("Parameter name must be between 1 and %d characters long.", maxName)
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/") != "":
		return validation("Parameter name: can't contain a character other than letters, numbers and the symbols . - _ and /: %q.", name)
	case strings.Contains(name, "/") && (name[0] != '/' || strings.HasSuffix(name, "/") || strings.Contains(name, "//")):
		return validation("Parameter name must be a fully qualified name: %q.", name)
	case strings.Count(name, "/") > maxLevels:
		return &types.HierarchyLevelLimitExceededException{Message: aws.String("A hierarchy can have a maximum of 15 levels: " + name)}
	}
	lower := strings.ToLower(strings.TrimPrefix(name, "/"))
	if strings.HasPrefix(lower, "aws") || strings.HasPrefix(lower, "ssm") {
		return validation("Parameter name: can't be prefixed with \"aws\" or \"ssm\" (case-insensitive).")
	}
	return nil
}

// DeleteParameter removes a parameter and its history. It returns ParameterNotFound for a name that is not there.
func (s *Store) DeleteParameter(in *ssm.DeleteParameterInput) (*ssm.DeleteParameterOutput, error) {
	name := aws.ToString(in.Name)
	s.mu.Lock()
	p, exists := s.params[name]
	err := s.allowed("DeleteParameter", name)
	if err == nil && exists {
		delete(s.params, name)
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case !exists:
		return nil, notFound(name)
	}
	s.tell(s.changed("Delete", p))
	return &ssm.DeleteParameterOutput{}, nil
}
