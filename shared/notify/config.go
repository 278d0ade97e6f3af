package notify

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/holdfast-aws/holdfast/shared/config"
)

// Names of the environment variables. config.EnvStateTable and at least one of the four channels are required.
const (
	// EnvTopic and EnvChatTopic are ARNs of standard SNS topics: for plain text, and for Amazon Q Developer in chat applications.
	EnvTopic     = "HOLDFAST_NOTICE_TOPIC"
	EnvChatTopic = "HOLDFAST_CHAT_TOPIC"
	// EnvSlackSecret and EnvPagerDutySecret are names of parameters, never secrets themselves; see Secret.
	EnvSlackSecret     = "HOLDFAST_SLACK_SECRET"
	EnvPagerDutySecret = "HOLDFAST_PAGERDUTY_SECRET"
	// EnvPagerDutyURL is PagerDutyURL unless it is set.
	EnvPagerDutyURL = "HOLDFAST_PAGERDUTY_URL"
)

// Config is what the function that delivers notices needs to know of its surroundings; a channel that is not set is not used.
type Config struct {
	StateTable                   string
	Topic, ChatTopic             string
	SlackSecret, PagerDutySecret string
	PagerDutyURL                 string
}

// ConfigFromEnv reads the configuration through lookup, which is os.Getenv outside tests; an empty value counts as not set. The
// error joins everything that is wrong, each with the name of its variable; the Config is then the zero value.
func ConfigFromEnv(lookup func(string) string) (Config, error) {
	c := Config{
		StateTable: lookup(config.EnvStateTable), Topic: lookup(EnvTopic), ChatTopic: lookup(EnvChatTopic),
		SlackSecret: lookup(EnvSlackSecret), PagerDutySecret: lookup(EnvPagerDutySecret), PagerDutyURL: lookup(EnvPagerDutyURL),
	}
	if c.PagerDutyURL == "" {
		c.PagerDutyURL = PagerDutyURL
	}
	var errs []error
	if c.StateTable == "" {
		errs = append(errs, fmt.Errorf("%s: not set", config.EnvStateTable))
	}
	if c.Topic == "" && c.ChatTopic == "" && c.SlackSecret == "" && c.PagerDutySecret == "" {
		errs = append(errs, fmt.Errorf("%s, %s, %s, %s: none is set, so nobody would be told", EnvTopic, EnvChatTopic, EnvSlackSecret, EnvPagerDutySecret))
	}
	topicARN := regexp.MustCompile(`^arn:[a-z0-9-]+:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$`)
	for _, v := range []variable{{EnvTopic, c.Topic}, {EnvChatTopic, c.ChatTopic}} {
		if v.value != "" && !topicARN.MatchString(v.value) {
			errs = append(errs, fmt.Errorf("%s: %q, want the ARN of a standard topic", v.name, v.value))
		}
	}
	for _, v := range []variable{{EnvSlackSecret, c.SlackSecret}, {EnvPagerDutySecret, c.PagerDutySecret}} {
		if err := checkSecretName(v.value); v.value != "" && err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", v.name, err))
		}
	}
	if err := checkAddress(c.PagerDutyURL); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", EnvPagerDutyURL, err))
	}
	if len(errs) > 0 {
		return Config{}, errors.Join(errs...)
	}
	return c, nil
}

type variable struct{ name, value string }
