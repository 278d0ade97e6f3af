//go:build holdfast_world

package clock

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// variable has the address of the clock: its answer to a GET is the time as RFC 3339 text.
const variable = "HOLDFAST_WORLD_CLOCK"

// askTimeout bounds one question to the clock.
const askTimeout = 10 * time.Second

// FromEnv returns the clock of the embedded AWS. It fails when no address is set, and when the address is not on this machine.
func FromEnv(lookup func(string) string) (func() time.Time, error) {
	address := lookup(variable)
	u, err := url.Parse(address)
	if err != nil || u.Hostname() != "127.0.0.1" && u.Hostname() != "::1" {
		return nil, fmt.Errorf("%s: %q, want an address of the embedded AWS on 127.0.0.1 or ::1", variable, address)
	}
	client := &http.Client{Timeout: askTimeout}
	return func() time.Time {
		now, err := ask(client, address)
		if err != nil {
			// The machine's time would be another time altogether: better no run at all.
			panic(fmt.Sprintf("clock of the embedded AWS: %v", err))
		}
		return now
	}, nil
}

func ask(client *http.Client, address string) (time.Time, error) {
	res, err := client.Get(address)
	if err != nil {
		return time.Time{}, err
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // it was only read
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, string(text))
}
