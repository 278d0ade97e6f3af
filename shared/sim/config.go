package sim

import "time"

// Burst says how Auto Scaling deals with the backlog of Unhealthy members when ReplaceUnhealthy is resumed.
type Burst string

const (
	// BurstAll terminates the whole backlog at once. AWS documents that marked members are replaced "as soon as" the
	// process is resumed, and does not say whether the ten percent rule applies: this is the worst case.
	BurstAll Burst = "all"
	// BurstPaced terminates members that were marked by set-instance-health at once, and the ones that were marked
	// by Elastic Load Balancing or EC2 checks on the slow path.
	BurstPaced Burst = "paced"
)

// Config states the assumptions of one simulated Region. A zero field takes the default that its comment states.
type Config struct {
	// Start is the first instant of virtual time; the zero value means 2026-11-30T12:00:00Z.
	Start time.Time
	// Seed drives every random draw.
	Seed uint64
	// Region is the Region in names and ARNs; default us-east-1.
	Region string
	// Account is the account in ARNs; default 111122223333.
	Account string
	// ResumeBurst is what a resume of ReplaceUnhealthy does to the backlog; default BurstAll.
	ResumeBurst Burst
	// MarksRecover lets the periodic check of Auto Scaling set a member Healthy again that it marked Unhealthy
	// itself. Default false: such a mark stays until someone sets the member Healthy. Source: the user guide said
	// for years that health never recovers by itself; its newest text is silent. This is the worst case.
	MarksRecover bool
	// HealthCheckEvery is the period of the HealthCheck process; default 60 s. AWS does not publish it.
	HealthCheckEvery time.Duration
	// ReactAfter is how long Auto Scaling takes to act on a change; default 1 s. AWS says "immediately".
	ReactAfter time.Duration
	// StatusCheckDelay is how long an impaired machine goes unnoticed by the EC2 status check; default 3 min.
	// Source: the user guide says "a few minutes".
	StatusCheckDelay time.Duration
	// LaunchRetry is the wait after a failed launch; default 60 s.
	LaunchRetry time.Duration
	// BeatEvery is the heartbeat interval; default 15 s.
	BeatEvery time.Duration
	// BeatJitter is the widest random delay of one beat, 0 <= jitter < BeatEvery; default 2 s.
	BeatJitter time.Duration
	// Lean keeps neither timeline nor samples, for runs of which there are many. Nothing else changes.
	Lean bool
	// SampleEvery is the period of [Cloud.Samples]; default 30 s.
	SampleEvery time.Duration
}

func (c Config) withDefaults() Config {
	if c.Start.IsZero() {
		c.Start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	}
	c.Start = c.Start.UTC()
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.Account == "" {
		c.Account = "111122223333"
	}
	if c.ResumeBurst == "" {
		c.ResumeBurst = BurstAll
	}
	orDuration(&c.HealthCheckEvery, time.Minute)
	orDuration(&c.ReactAfter, time.Second)
	orDuration(&c.StatusCheckDelay, 3*time.Minute)
	orDuration(&c.LaunchRetry, time.Minute)
	orDuration(&c.BeatEvery, 15*time.Second)
	orDuration(&c.BeatJitter, 2*time.Second)
	orDuration(&c.SampleEvery, 30*time.Second)
	return c
}

func orDuration(d *time.Duration, fallback time.Duration) {
	if *d <= 0 {
		*d = fallback
	}
}

func orInt(n *int, fallback int) {
	if *n <= 0 {
		*n = fallback
	}
}
