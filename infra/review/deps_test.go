package review_test

import (
	"os/exec"
	"strings"
	"testing"
)

func TestNoFunctionIsBuiltFromTheCDK(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./functions/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Fatalf("only %d packages: %q", len(packages), packages)
	}
	for _, name := range packages {
		if strings.Contains(name, "aws-cdk") || strings.Contains(name, "jsii") || strings.Contains(name, "/holdfast/infra/") {
			t.Errorf("the functions need %s", name)
		}
	}
}
