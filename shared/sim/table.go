package sim

import "fmt"

// SetTableThrottle lets the guardian's tables refuse a share of all reads and writes, 0 to 1; 0 ends it. Which call is refused is drawn from
// the seed. It is for drivers to ask [Cloud.TableRefuses]; heartbeats that are on their way are not touched by it.
func (c *Cloud) SetTableThrottle(share float64) error {
	if share < 0 || share > 1 {
		return fmt.Errorf("set table throttle %v: %w", share, ErrInvalid)
	}
	was := c.throttle
	c.throttle = share
	for _, g := range c.groups {
		g.changes++
	}
	switch {
	case was == 0 && share > 0:
		c.record(Event{Kind: EventBreak, Text: "tables are throttled"})
	case was > 0 && share == 0:
		c.record(Event{Kind: EventRepair, Text: "tables are throttled"})
	}
	return nil
}

// TableThrottle is the share of calls to the guardian's tables that are refused.
func (c *Cloud) TableThrottle() float64 { return c.throttle }

// TableRefuses says whether the next call to a table is refused.
func (c *Cloud) TableRefuses() bool {
	if c.throttle == 0 {
		return false
	}
	c.tableCalls++
	const whole = 1 << 20
	return c.draw("table call", c.tableCalls)%whole < uint64(c.throttle*whole)
}
