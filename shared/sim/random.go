package sim

import (
	"hash/fnv"
	"time"
)

// draw returns 64 random bits for one named purpose. The same seed, purpose and number give the same bits, whatever
// else was drawn: acting on one instance never changes the luck of another.
func (c *Cloud) draw(purpose string, n uint64) uint64 {
	return c.stream(purpose).draw(n)
}

// stream is what [Cloud.draw] draws from for one purpose.
type stream uint64

func (c *Cloud) stream(purpose string) stream {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose)) // hash writes never fail
	return stream(h.Sum64() ^ mix(c.cfg.Seed+0x9e3779b97f4a7c15))
}

func (s stream) draw(n uint64) uint64 { return mix(uint64(s) ^ mix(n+0x7f4a7c159e3779b9)) }

// mix is the finalizer of the SplitMix64 generator: each input bit changes about half of the output bits.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// drawDuration returns a random duration d with 0 <= d < below, in whole milliseconds.
func (c *Cloud) drawDuration(purpose string, n uint64, below time.Duration) time.Duration {
	return c.stream(purpose).duration(n, below)
}

func (s stream) duration(n uint64, below time.Duration) time.Duration {
	ms := uint64(below / time.Millisecond)
	if ms == 0 {
		return 0
	}
	return time.Duration(s.draw(n)%ms) * time.Millisecond
}

// newID returns the next random name: a prefix and 17 hexadecimal digits, as EC2 has them.
func (c *Cloud) newID(prefix string) string {
	c.names++
	return string(appendHex(append([]byte(prefix), '0'), c.draw("id "+prefix, c.names), 16))
}

// newUUID returns the next random identifier in the form of a version 4 UUID.
func (c *Cloud) newUUID() string {
	c.names++
	a, b := c.draw("uuid high", c.names), c.draw("uuid low", c.names)
	out := make([]byte, 0, 36)
	out = append(appendHex(out, a>>32, 8), '-')
	out = append(appendHex(out, a>>16, 4), '-', '4')
	out = append(appendHex(out, a, 3), '-', '8')
	out = append(appendHex(out, b>>48, 3), '-')
	return string(appendHex(out, b, 12))
}

// appendHex appends the lowest so many hexadecimal digits of a number.
func appendHex(to []byte, n uint64, digits int) []byte {
	for at := 4 * (digits - 1); at >= 0; at -= 4 {
		to = append(to, "0123456789abcdef"[n>>at&0xf])
	}
	return to
}
