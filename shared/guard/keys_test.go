package guard_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// TestEveryKeyIsAsWrittenDown compares all policy keys, with their built-in values, ranges, words and ceilings, with a file that a person reads when
// one of them changes.
func TestEveryKeyIsAsWrittenDown(t *testing.T) {
	golden := filepath.Join("testdata", "keys.golden")
	var out strings.Builder
	for _, k := range guard.Keys() {
		fmt.Fprintf(&out, "%s = %s; %s; least %d, most %d; words %q; defaults only %t; ceiling %q\n\t%s\n", k.Name, k.Default, k.Range(), k.Min, k.Max, k.Words, k.DefaultsOnly, k.Ceiling, k.Meaning)
	}
	built, err := json.MarshalIndent(guard.Defaults(), "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "%s\n", built)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the keys differ from %s; if that is meant, write it anew with -update:\n%s", golden, out.String())
	}
}
