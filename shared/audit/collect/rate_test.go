package collect_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/audit/collect"
)

// bucket lets so many calls a second through, and so many at once, and refuses the others as AWS does.
type bucket struct {
	next      http.Handler
	rate, max float64

	mu           sync.Mutex
	tokens       float64
	last         time.Time
	all, refused int
}

func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if !b.last.IsZero() {
		b.tokens = min(b.max, b.tokens+now.Sub(b.last).Seconds()*b.rate)
	}
	b.last = now
	b.all++
	if b.tokens < 1 {
		b.refused++
		return false
	}
	b.tokens--
	return true
}

// ServeHTTP refuses only calls of the services whose answers are XML, which are nearly all.
func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.Header.Get("Content-Type"), "form") || b.take() {
		b.next.ServeHTTP(w, r)
		return
	}
	w.WriteHeader(http.StatusBadRequest)
	_, _ = fmt.Fprint(w, "<ErrorResponse><Error><Type>Sender</Type><Code>Throttling</Code><Message>Rate exceeded</Message></Error><RequestId>r</RequestId></ErrorResponse>")
}

// TestMeasureAnAccountOfTenCallsASecond measures what becomes of a reading that is faster than it may be; it takes two minutes.
func TestMeasureAnAccountOfTenCallsASecond(t *testing.T) {
	if os.Getenv("HOLDFAST_MEASURE") == "" {
		t.Skip("HOLDFAST_MEASURE is not set")
	}
	const groups = 150
	l := newLab(t)
	l.many(t, groups)
	b := &bucket{next: l, rate: 10, max: 20, tokens: 20}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	sdk := l.sdk.Copy()
	sdk.BaseEndpoint = aws.String(server.URL)
	api, err := collect.FromSDK(sdk, collect.Sources{StateTable: world.StateTable, HeartbeatTable: world.HeartbeatTable, Now: l.Clock.Now})
	must(t, err)
	began := time.Now()
	a, err := collect.Read(t.Context(), api, collect.Options{Now: l.Clock.Now})
	must(t, err)
	whole(t, a, groups)
	t.Logf("%s: %d calls, %d of them refused", time.Since(began).Round(time.Second), b.all, b.refused)
}
