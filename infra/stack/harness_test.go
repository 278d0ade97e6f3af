package stack_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/infra/app"
	"github.com/holdfast-aws/holdfast/infra/review"
	"github.com/holdfast-aws/holdfast/infra/stack"
)

// All tests of this package share one process of the CDK's own runtime, and one synth of the app. It is not safe for concurrent use: no
// test that calls the CDK is parallel.
func TestMain(m *testing.M) {
	if err := os.Setenv("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20"); err != nil {
		panic(err)
	}
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// template is a CloudFormation template as far as tests read it.
type template struct {
	Resources map[string]resource
	Outputs   map[string]any
	text      string
}

type resource struct {
	Type                                string
	Properties                          map[string]any
	DeletionPolicy, UpdateReplacePolicy string
}

// of lists the logical ids of a type, sorted.
func (t template) of(kind string) []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(t.Resources)) {
		if t.Resources[id].Type == kind {
			ids = append(ids, id)
		}
	}
	return ids
}

func (t template) properties(kind string) []map[string]any {
	var out []map[string]any
	for _, id := range t.of(kind) {
		out = append(out, t.Resources[id].Properties)
	}
	return out
}

// text is a value as JSON, so that intrinsic functions can be compared and searched.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

const (
	cdkFile        = "../../cdk.json"
	thresholdsFile = "../thresholds.json"
)

// stubs makes a folder that looks like build/: a constant bootstrap for each function and a constant agent, so that asset hashes are
// constant too.
func stubs() (string, error) {
	dir, err := os.MkdirTemp("", "stub")
	if err != nil {
		return "", err
	}
	files := []string{app.AgentFile}
	for _, name := range stack.Functions() {
		files = append(files, filepath.Join(name, "bootstrap"))
	}
	for _, file := range files {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte("stub "+filepath.Dir(file)), 0o755); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// synthesized is the app as a deploy would see it, with every validation on.
var synthesized = sync.OnceValues(func() (map[string]template, error) {
	dir, err := stubs()
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	var out map[string]template
	err = try(func() error {
		a, err := app.New(app.Files{CDK: cdkFile, Thresholds: thresholdsFile, CodeDir: dir})
		if err != nil {
			return err
		}
		out, err = templates(a.Synth(nil).Directory())
		return err
	})
	return out, err
})

// templates reads every template of a cloud assembly, by the stack's name in the app.
func templates(dir *string) (map[string]template, error) {
	files, err := filepath.Glob(filepath.Join(*dir, "*.template.json"))
	if err != nil {
		return nil, err
	}
	out := map[string]template{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		t := template{text: string(raw)}
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, fmt.Errorf("decode %s: %w", file, err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".template.json")] = t
	}
	return out, nil
}

// guardian is the template of the Guardian as the app has it.
func guardian(t *testing.T) template {
	t.Helper()
	return appStack(t, app.GuardianStack)
}

// needNode skips a test on a machine without Node, which the CDK runs on.
func needNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not there, and the CDK runs on it")
	}
}

func appStack(t *testing.T, name string) template {
	t.Helper()
	needNode(t)
	all, err := synthesized()
	if err != nil {
		t.Fatalf("synth: %v", err)
	}
	s, ok := all[name]
	if !ok {
		t.Fatalf("no stack %s in %q", name, slices.Sorted(maps.Keys(all)))
	}
	return s
}

// try makes an error of a panic of the CDK.
func try(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return f()
}

// synth builds one stack and returns its template, without CDK's own validation, which is slow and tested once. The rules of
// Holdfast hold nevertheless.
func synth(t *testing.T, build func(awscdk.Stack)) (template, error) {
	t.Helper()
	var out template
	err := try(func() error {
		s := newStack(t)
		build(s)
		raw, err := json.Marshal(assertions.Template_FromStack(s, nil).ToJSON())
		if err != nil {
			return err
		}
		out.text = string(raw)
		return json.Unmarshal(raw, &out)
	})
	return out, err
}

func newApp(t *testing.T) awscdk.App {
	t.Helper()
	needNode(t)
	context, err := app.Context(cdkFile)
	if err != nil {
		t.Fatal(err)
	}
	return awscdk.NewApp(&awscdk.AppProps{Context: &context, BuiltinCloudFormationValidation: jsii.Bool(false)})
}

func newStack(t *testing.T) awscdk.Stack {
	t.Helper()
	return awscdk.NewStack(newApp(t), jsii.String("T"), nil)
}

func register(t *testing.T) *review.Register {
	t.Helper()
	r, err := app.Register(thresholdsFile)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// code is a folder of stub functions for the life of a test.
func code(t *testing.T) string {
	t.Helper()
	needNode(t)
	dir, err := stubs()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a temporary folder
	return dir
}
