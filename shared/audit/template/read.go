package template

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// Limits of a template's text in bytes. CloudFormation takes templates of at most 1 MB; a plan of a large estate has tens of megabytes.
const (
	YAMLBytesMax = 4 << 20
	JSONBytesMax = 64 << 20
)

// Read reads a template as an account to audit. The name is the file's, as the user wrote it: it becomes the account's source and stands
// in the place of every resource. The account's time is left zero, because a template has none; whoever asks sets it.
//
// An error says that the text is too large, is neither JSON nor YAML, or is no CloudFormation template and no Terraform plan; it begins
// with the name. What the template does not tell is no error: it is listed in the account's Unread.
func Read(name string, text []byte) (audit.Account, error) {
	a := audit.Account{Format: audit.Format, Source: name, Static: true, Groups: []audit.Group{}, TargetGroups: []audit.TargetGroup{}, Alarms: []audit.Alarm{}}
	if err := read(&a, bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))); err != nil {
		return audit.Account{}, fmt.Errorf("read template %s: %w", name, err)
	}
	a.Bound()
	return a, nil
}

func read(a *audit.Account, text []byte) error {
	if err := unreadable(text); err != nil {
		return err
	}
	root, err := parse(text)
	if err != nil {
		return err
	}
	switch {
	case root.get("planned_values") != nil, root.get("values") != nil && root.get("terraform_version") != nil:
		return readTerraform(a, root)
	case root.get("Resources") != nil && root.get("Resources").form == formMapping:
		return readCloudFormation(a, root)
	case root.get("groups") != nil && root.get("format") != nil:
		return errors.New("this is a saved audit, not a template: give it with --from")
	case root.get("resource_changes") != nil || root.get("terraform_version") != nil:
		return errors.New("this is Terraform's, but has no planned_values: make it with terraform show -json PLAN")
	}
	return fmt.Errorf("want a CloudFormation template (with Resources) or a Terraform plan (with planned_values, as terraform show -json writes it)")
}

// unreadable tells by the first bytes what is no text of ours.
func unreadable(text []byte) error {
	limit, what := YAMLBytesMax, "YAML"
	first := bytes.TrimSpace(text)
	if len(first) > 0 && first[0] == '{' {
		limit, what = JSONBytesMax, "JSON"
	}
	switch {
	case len(text) > limit:
		return fmt.Errorf("it has %d bytes, at most %d of %s are read", len(text), limit, what)
	case len(first) == 0:
		return errors.New("it is empty")
	case bytes.HasPrefix(text, []byte("PK\x03\x04")):
		return errors.New("this is a binary plan or an archive: make JSON of a plan with terraform show -json PLAN")
	case bytes.HasPrefix(first, []byte("resource \"")), bytes.HasPrefix(first, []byte("terraform {")), bytes.HasPrefix(first, []byte("provider \"")):
		return errors.New("this is Terraform's source: make a plan of it, and JSON of that with terraform show -json PLAN")
	case bytes.IndexByte(text, 0) >= 0:
		return errors.New("this is no text")
	}
	return nil
}
