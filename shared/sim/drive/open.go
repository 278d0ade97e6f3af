package drive

import (
	"github.com/holdfast-aws/holdfast/shared/runner"
	"github.com/holdfast-aws/holdfast/shared/sim"
)

// World is what package runner reads of a simulated Region and does to it, without policies, memory and people.
type World interface {
	runner.Fleet
	runner.Beats
	runner.Alarms
	runner.Actor
}

// OpenShared is [Open] for those who look often: as long as nothing happens in the simulator they are given the same values again, which
// nobody may change. Heartbeats are good until the next ones are asked for.
func OpenShared(cloud *sim.Cloud) World { return &ports{cloud: cloud, kept: new(answers)} }

// Open gives the runner's view of a simulated Region. It is not safe for concurrent use, as the cloud is not.
func Open(cloud *sim.Cloud) World { return &ports{cloud: cloud} }
