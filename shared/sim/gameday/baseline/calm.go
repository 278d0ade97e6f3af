package baseline

import (
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim"
)

// calm remembers that a look found nothing to do. Until something happens to a group the next ones would find the same, so they are left
// out: it saves most of the time that a quiet day takes.
type calm struct {
	// is says that the last look found all well and nothing to wait for.
	is bool
	// since is when it was first seen that something had happened.
	since   time.Time
	groups  []string
	changes []uint64
	never   bool // for tests: no look is left out
}

// still says whether nothing happened to any group since it was last asked, and all was well then.
func (c *calm) still(cloud *sim.Cloud) bool {
	if c.changes == nil {
		c.changes = make([]uint64, len(c.groups))
	}
	for n, group := range c.groups {
		if now := cloud.Changes(group); now != c.changes[n] {
			c.changes[n], c.since, c.is = now, cloud.Now(), false
		}
	}
	return c.is && !c.never
}
