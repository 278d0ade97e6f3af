package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast-aws/holdfast/infra/example"
	"github.com/holdfast-aws/holdfast/infra/review"
	"github.com/holdfast-aws/holdfast/infra/stack"
	"github.com/holdfast-aws/holdfast/shared/audit"
)

// Names of the stacks.
const (
	GuardianStack = "Guardian"
	ExampleStack  = "Example"
)

// AgentFile is the heartbeat agent's binary below the folder of what was built.
const AgentFile = "heartbeat/holdfast-heartbeat"

// Files are what the app reads. Everything is required but Environment.
type Files struct {
	// CDK is cdk.json, Thresholds the register, CodeDir the folder of what `make build` builds.
	CDK, Thresholds, CodeDir string
	// Environment is added to the settings' environment and wins.
	Environment map[string]string
}

// Settings are the key "holdfast" of the context in cdk.json. Everything may be left out.
type Settings struct {
	// Stages puts a Guardian into each of several accounts and Regions; without any, there is one that fits all, and the example.
	Stages   []Stage  `json:"stages"`
	Guardian Guardian `json:"guardian"`
}

// Stage is an account and Region.
type Stage struct {
	Name    string `json:"name"`
	Account string `json:"account"`
	Region  string `json:"region"`
}

// Guardian has the settings of stack.GuardianProps that are words and numbers.
type Guardian struct {
	StateTable            string          `json:"state_table"`
	HeartbeatTable        string          `json:"heartbeat_table"`
	Adopt                 bool            `json:"adopt"`
	Shards                int             `json:"shards"`
	Defaults              json.RawMessage `json:"defaults,omitempty"`
	MemoryMB              int             `json:"memory_mb"`
	LogRetentionDays      int             `json:"log_retention_days"`
	NoReservedConcurrency bool            `json:"no_reserved_concurrency"`
	Emails                []string        `json:"emails"`
	ChatTopic             string          `json:"chat_topic"`
	SlackSecret           string          `json:"slack_secret"`
	PagerDutySecret       string          `json:"pagerduty_secret"`
	// Environment has more variables for every function, such as the addresses of emulators.
	Environment map[string]string `json:"environment"`
}

func (g Guardian) props(codeDir string) stack.GuardianProps {
	return stack.GuardianProps{
		CodeDir: codeDir, StateTableName: g.StateTable, HeartbeatTableName: g.HeartbeatTable, Adopt: g.Adopt, Shards: g.Shards,
		Defaults: string(g.Defaults), MemoryMB: g.MemoryMB, LogRetentionDays: g.LogRetentionDays, NoReservedConcurrency: g.NoReservedConcurrency,
		Emails: g.Emails, ChatTopicARN: g.ChatTopic, SlackSecret: g.SlackSecret, PagerDutySecret: g.PagerDutySecret, Environment: g.Environment,
	}
}

// settingsKey is the context's key of the settings.
const settingsKey = "holdfast"

// Context reads the context of cdk.json, which only CDK's command line does by itself: without it, a bare run and the tests would make
// other templates than a deploy.
func Context(path string) (map[string]any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read CDK settings: %w", err)
	}
	var f struct {
		Context map[string]any `json:"context"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("decode %s: %w", path, err)
	}
	return f.Context, nil
}

// settings are decoded strictly: a misspelt key would silently be a default.
func settings(context map[string]any) (Settings, error) {
	var s Settings
	text, err := json.Marshal(context[settingsKey])
	if err != nil {
		return s, fmt.Errorf("encode settings: %w", err)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&s); err != nil {
		return s, fmt.Errorf("decode settings %q of cdk.json: %w", settingsKey, err)
	}
	return s, nil
}

// Register reads the reviewed thresholds.
func Register(path string) (*review.Register, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read thresholds: %w", err)
	}
	return review.Parse(text)
}

// Thresholds is what the audit must know of the reviewed thresholds, one JSON object by service: the register without what only a review
// reads, so that as many services as can be fit into a parameter.
func Thresholds(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read thresholds: %w", err)
	}
	promises, err := audit.DecodePromises(text)
	if err != nil {
		return "", err
	}
	short, err := json.Marshal(promises)
	if err != nil {
		return "", fmt.Errorf("encode thresholds: %w", err)
	}
	return string(short), nil
}

// New declares the app's stacks. CDK panics on what it refuses.
func New(f Files) (awscdk.App, error) {
	context, err := Context(f.CDK)
	if err != nil {
		return nil, err
	}
	s, err := settings(context)
	if err != nil {
		return nil, err
	}
	register, err := Register(f.Thresholds)
	if err != nil {
		return nil, err
	}
	thresholds, err := Thresholds(f.Thresholds)
	if err != nil {
		return nil, err
	}
	app := awscdk.NewApp(&awscdk.AppProps{Context: &context})
	props := s.Guardian.props(f.CodeDir)
	props.AuditThresholds = thresholds
	props.Environment = map[string]string{}
	maps.Copy(props.Environment, s.Guardian.Environment)
	maps.Copy(props.Environment, f.Environment)
	for _, stage := range s.Stages {
		env := &awscdk.Environment{Account: jsii.String(stage.Account), Region: jsii.String(stage.Region)}
		scope := awscdk.NewStage(app, jsii.String(stage.Name), &awscdk.StageProps{Env: env})
		stack.NewGuardian(newStack(scope, GuardianStack), "Holdfast", props)
	}
	if len(s.Stages) == 0 {
		own := newStack(app, GuardianStack)
		guardian := stack.NewGuardian(own, "Holdfast", props)
		shown := newStack(app, ExampleStack)
		shown.AddStackDependency(own, jsii.String("instances write to its heartbeat table"))
		example.New(shown, example.Props{
			Register: register, AgentPath: filepath.Join(f.CodeDir, AgentFile), HeartbeatTableName: props.HeartbeatTableName, Topic: guardian.Topic,
		})
	}
	stack.Judge(app, register)
	return app, nil
}
