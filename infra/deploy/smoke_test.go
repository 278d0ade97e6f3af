package deploy_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// The address of an emulator into which the Guardian was deployed, and where the world listens, as the deployed functions were told.
const (
	smokeVariable = "HOLDFAST_SMOKE_ENDPOINT"
	worldVariable = "HOLDFAST_SMOKE_WORLD"
)

// TestSmoke asks a Guardian that somebody else deployed to mark a broken member; `make localstack-smoke` runs it.
func TestSmoke(t *testing.T) {
	b := newBench(t, smokeVariable, "deploy with `make localstack-deploy`, then run `make localstack-smoke`")
	b.newWorld(listenAt(os.Getenv(worldVariable)))
	b.set(guard.ModeParameter, guard.ModeAct)
	b.set(guard.LayerGroups+web, `{"confirm_sweeps":1,"boot_grace_seconds":0}`)
	b.markOne()
	if b.held(web) || b.held(orders) {
		t.Error("one broken member is held")
	}
}

// listenAt serves the world where the deployed functions look for it, which may be an address that containers reach.
func listenAt(address string) func(*world.Region) (string, func(), error) {
	const headerTimeout = 10 * time.Second
	return func(r *world.Region) (string, func(), error) {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return "", nil, fmt.Errorf("listen where %s says: %w", worldVariable, err)
		}
		s := &http.Server{Handler: r, ReadHeaderTimeout: headerTimeout}
		go func() { _ = s.Serve(l) }() // it ends when it is closed
		return "http://" + l.Addr().String(), func() { _ = s.Close() }, nil
	}
}
