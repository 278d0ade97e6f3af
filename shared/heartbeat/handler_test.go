package heartbeat_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
)

// health is the status of /health.
func health(a *heartbeat.Agent) int { return ask(a.Health(nil), "").Code }

func ask(h http.Handler, authorization string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// said is the status in a call.
func said(in *dynamodb.UpdateItemInput) string {
	s, ok := in.ExpressionAttributeValues[":status"].(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return s.Value
}

func TestHealthSaysNothingButItsStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		disk := &switchable{}
		agent, stop := start(t, heartbeat.Options{Connect: connect(s.writer(t, "i-0a", nil)), Checks: []heartbeat.Check{check("disk", disk.run)}})
		for _, step := range []struct {
			err  error
			want int
		}{{nil, 200}, {errors.New("secret-host.internal is full"), 503}} {
			disk.set(step.err)
			time.Sleep(20 * time.Second)
			server := httptest.NewUnstartedServer(agent.Health(nil)) // headers as they leave the server, without a network
			w := ask(server.Config.Handler, "")
			if w.Code != step.want || w.Body.Len() != 0 {
				t.Errorf("status %d, body %q; want %d without a body", w.Code, w.Body, step.want)
			}
			for name, values := range w.Header() {
				if name != "Cache-Control" && name != "Content-Length" {
					t.Errorf("header %s: %v", name, values)
				}
			}
		}
		must(t, stop())
	})
}

func TestTheProbeTravelsTheApplicationsPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		agent, stop := start(t, heartbeat.Options{Connect: connect(s.writer(t, "i-0a", nil))})
		time.Sleep(time.Second)
		pool := make(chan struct{}, 2)
		through := agent.Health(func(ctx context.Context) error {
			select {
			case pool <- struct{}{}:
				<-pool
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if code := ask(through, "").Code; code != 200 {
			t.Errorf("%d with a free worker", code)
		}
		pool <- struct{}{}
		pool <- struct{}{}
		began := time.Now()
		if code := ask(through, "").Code; code != 503 || time.Since(began) != 2*time.Second {
			t.Errorf("%d after %s with an exhausted pool, want 503 after the handler's 2s", code, time.Since(began))
		}
		began = time.Now()
		deaf := agent.Health(func(context.Context) error { time.Sleep(time.Minute); return nil })
		if code := ask(deaf, "").Code; code != 503 || time.Since(began) != 2*time.Second {
			t.Errorf("%d after %s behind a path that heeds no context", code, time.Since(began))
		}
		if code := ask(agent.Health(func(context.Context) error { panic("no") }), "").Code; code != 503 {
			t.Errorf("%d behind a path that panics", code)
		}
		time.Sleep(2 * time.Minute)
		must(t, stop())
	})
}

func TestDebugNeedsItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		agent, stop := start(t, heartbeat.Options{Connect: connect(s.writer(t, "i-0a", nil))})
		time.Sleep(time.Second)
		for _, c := range []struct {
			name, token, header string
			want                int
		}{
			{"no token is set", "", "Bearer ", 404},
			{"no header", "correct-horse-battery", "", 401},
			{"another token", "correct-horse-battery", "Bearer correct-horse-batterx", 401},
			{"a part of the token", "correct-horse-battery", "Bearer correct-horse", 401},
			{"another scheme", "correct-horse-battery", "Basic correct-horse-battery", 401},
			{"the token without a scheme", "correct-horse-battery", "correct-horse-battery", 401},
			{"an empty token", "correct-horse-battery", "Bearer ", 401},
			{"the token", "correct-horse-battery", "Bearer correct-horse-battery", 200},
		} {
			w := ask(agent.Debug(c.token), c.header)
			if w.Code != c.want || (c.want != 200 && w.Body.Len() != 0) {
				t.Errorf("%s: %d with %d bytes, want %d", c.name, w.Code, w.Body.Len(), c.want)
			}
		}
		must(t, stop())
	})
}

func TestDebugTellsResultsAgesAndTheLastError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.refuse = func(call int64) error {
			if call == 3 {
				return errors.New("no such host")
			}
			return nil
		}
		db := check("db", func(context.Context) error { return errors.New("connection refused") })
		db.Dependency = true
		soft := check("cache", func(context.Context) error { time.Sleep(100 * time.Millisecond); return nil })
		soft.Soft = true
		agent, stop := start(t, heartbeat.Options{
			Connect: connect(s.writer(t, "i-0a", nil)), Checks: []heartbeat.Check{check("disk", func(context.Context) error { return nil }), db, soft},
		})
		time.Sleep(61 * time.Second)
		var body struct {
			Status   string
			Serves   bool
			Beats    int
			Error    string  `json:"last_write_error"`
			ErrorAge float64 `json:"last_write_error_age_seconds"`
			Checks   []struct {
				Name, Kind, Detail string
				Failing            bool
				FailedInRow        int     `json:"failed_in_row"`
				Age                float64 `json:"age_seconds"`
				Took               float64 `json:"took_seconds"`
			}
		}
		must(t, json.Unmarshal(ask(agent.Debug("correct-horse-battery"), "Bearer correct-horse-battery").Body.Bytes(), &body))
		if body.Status != "failing" || !body.Serves || body.Beats < 5 || !strings.Contains(body.Error, "no such host") || body.ErrorAge < 30 {
			t.Errorf("body %+v", body)
		}
		if len(body.Checks) != 3 || body.Checks[1].Kind != "dependency" || !body.Checks[1].Failing || body.Checks[1].Detail != "connection refused" ||
			body.Checks[1].FailedInRow != 13 || body.Checks[1].Age != 1 || body.Checks[2].Kind != "soft" || body.Checks[2].Took != 0.1 || body.Checks[0].Kind != "hard" {
			t.Errorf("checks %+v", body.Checks)
		}
		must(t, stop())
	})
}
