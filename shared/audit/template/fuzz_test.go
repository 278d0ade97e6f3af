package template_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/audit"
	"github.com/holdfast-aws/holdfast/shared/audit/template"
)

// bombs are texts that are small and come to much.
func bombs() map[string]string {
	var aliases, merges, ifs, joins, chain strings.Builder
	aliases.WriteString("Resources: {G: {Type: \"AWS::AutoScaling::AutoScalingGroup\", Properties: {Tags: *a29}}}\n")
	fmt.Fprintf(&merges, "m0: &m0 {a: 1, b: 2}\n")
	fmt.Fprintf(&joins, "J: &j0 {\"Fn::Join\": [\"\", [%q]]}\n", strings.Repeat("x", 10_000))
	aliasList := "A: &a0 [x, x]\n"
	for i := 1; i < 30; i++ {
		aliasList += fmt.Sprintf("A%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
		fmt.Fprintf(&merges, "m%d: &m%d {<<: [*m%d, *m%d]}\n", i, i, i-1, i-1)
		fmt.Fprintf(&joins, "J%d: &j%d {\"Fn::Join\": [\"\", [*j%d, *j%d]]}\n", i, i, i-1, i-1)
	}
	for i := range 60 {
		ifs.WriteString(`{"Fn::If": ["C", 1, `)
		fmt.Fprintf(&chain, "  C%d: !Or [!Condition C%d, !Condition C%d]\n", i, i+1, i+1)
	}
	group := "Resources:\n  G: {Type: \"AWS::AutoScaling::AutoScalingGroup\", Properties: {MinSize: %s}}\n"
	return map[string]string{
		"aliases":    aliasList + aliases.String(),
		"merges":     merges.String() + fmt.Sprintf(group, "*m29"),
		"joins":      joins.String() + fmt.Sprintf(group, "*j29"),
		"conditions": "Conditions:\n" + chain.String() + fmt.Sprintf(group, "!If [C0, 1, 2]"),
		"ifs":        `{"Resources": {"G": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": {"MinSize": ` + ifs.String() + "2" + strings.Repeat("]}", 60) + `}}}}`,
		"long text many times": "x: &x \"" + strings.Repeat("${AWS::Region}", 20_000) + "\"\nResources:\n  G:\n    Type: AWS::AutoScaling::AutoScalingGroup\n    Properties:\n      Tags:\n" +
			strings.Repeat("      - {\"Fn::Sub\": *x}\n", 5_000),
	}
}

func TestSmallTextsThatComeToMuchEnd(t *testing.T) {
	for name, text := range bombs() {
		t.Run(name, func(t *testing.T) {
			a, err := template.Read("bomb", []byte(text))
			if err == nil && len(a.Groups) > 1 {
				t.Errorf("there are %d groups", len(a.Groups))
			}
			t.Log(err)
		})
	}
	for _, name := range []string{"aliases", "merges", "joins"} {
		if _, err := template.Read("bomb", []byte(bombs()[name])); err == nil || !strings.Contains(err.Error(), "comes to more than 1000000 values") {
			t.Errorf("%s: the error is %v, want the limit", name, err)
		}
	}
}

// FuzzRead looks for texts that panic, hang or give an account that breaks its own promises.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"web.yaml", "plan.json"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(resource(`"MinSize": 1`, `"Protocol": "TCP"`))
	for name, text := range bombs() {
		if name == "merges" || name == "ifs" || name == "conditions" { // the others take long on purpose
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := template.Read("x", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "read template x: ") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		if !a.Static || a.Format != audit.Format {
			t.Errorf("account is %+v", a)
		}
		for _, g := range a.Groups {
			if g.Name == "" || g.Where == "" {
				t.Errorf("a group without a name or a place: %+v", g)
			}
		}
		for _, u := range a.Unread {
			if u.Kind == "" || u.What == "" || u.Why == "" {
				t.Errorf("an unread entry that says too little: %+v", u)
			}
		}
		if _, err := json.Marshal(a); err != nil {
			t.Error(err)
		}
	})
}
