package localstack_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// service is one container as far as the rules below read it.
type service struct {
	Image       string            `yaml:"image"`
	Profiles    []string          `yaml:"profiles"`
	Ports       []string          `yaml:"ports"`
	Environment map[string]string `yaml:"environment"`
}

func services(t *testing.T) map[string]service {
	t.Helper()
	raw, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]service `yaml:"services"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Services) != 2 {
		t.Fatalf("%d services", len(file.Services))
	}
	return file.Services
}

func TestEveryContainerIsPinnedAndOnLoopbackOnly(t *testing.T) {
	pinned := regexp.MustCompile(`^localstack/localstack:\d+\.\d+\.\d+$`)
	for name, s := range services(t) {
		if !pinned.MatchString(s.Image) {
			t.Errorf("%s: image %q has no exact version", name, s.Image)
		}
		if len(s.Ports) == 0 {
			t.Errorf("%s: no port", name)
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s: port %s is open to others", name, p)
			}
		}
		if len(s.Profiles) != 1 || s.Profiles[0] != name {
			t.Errorf("%s is in the profiles %q", name, s.Profiles)
		}
	}
}

func TestOnlyOneProfileNeedsAToken(t *testing.T) {
	all := services(t)
	if all["localstack"].Environment["LOCALSTACK_AUTH_TOKEN"] == "" {
		t.Error("the profile localstack passes no token on")
	}
	if _, ok := all["community"].Environment["LOCALSTACK_AUTH_TOKEN"]; ok {
		t.Error("the profile community passes a token on")
	}
	raw, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// Compose fills in variables before it looks at profiles: a required one would be required of both.
	if strings.Contains(string(raw), ":?") {
		t.Error("a variable is required whatever the profile")
	}
}

func TestTheTokenIsAskedForFirst(t *testing.T) {
	raw, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, up, _ := strings.Cut(string(raw), "localstack-up: ##")
	check, start := strings.Index(up, "LOCALSTACK_AUTH_TOKEN is not set"), strings.Index(up, "$(COMPOSE)")
	if check < 0 || start < 0 || check > start {
		t.Errorf("make localstack-up asks for the token at %d and starts the container at %d", check, start)
	}
}

func TestAProfileThatIsNoneIsRefused(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skipf("no make: %v", err)
	}
	t.Setenv("MAKEFLAGS", "") // those of a make that runs this test are not meant
	for _, target := range []string{"up", "deploy", "smoke", "down"} {
		for profile, good := range map[string]bool{
			"localstack": true, "community": true, "": false, "local": false, "localstack community": false, "community;true": false,
		} {
			text, err := exec.CommandContext(t.Context(), "make", "-n", "-C", "..", "localstack-"+target, "PROFILE="+profile).CombinedOutput()
			told := strings.Contains(string(text), `PROFILE is "`+profile+`", want localstack or community`)
			if good == told || good != (err == nil) {
				t.Errorf("make localstack-%s PROFILE=%q: %v\n%s", target, profile, err, text)
			}
		}
	}
}
