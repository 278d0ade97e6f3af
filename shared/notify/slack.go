package notify

import (
	"context"
	"net/http"
)

// slack is a channel over an incoming webhook.
type slack struct {
	client  *http.Client
	address Secret
}

// NewSlack returns the channel "slack": an incoming webhook of Slack, or of a program that takes the same {"text": …}. The
// webhook's address is the secret; it must be HTTPS. Source: Slack API documentation, "Sending messages using incoming webhooks".
func NewSlack(client *http.Client, address Secret) Channel {
	return slack{client: client, address: address}
}

func (slack) Name() string { return "slack" }

func (slack) Wants(Notice) bool { return true }

func (s slack) Send(ctx context.Context, m Message) error {
	address, err := s.address.read(ctx)
	if err != nil {
		return err
	}
	return post{client: s.client, address: address, private: true, body: map[string]string{"text": m.Chat}}.send(ctx)
}
