package baseline

import (
	"fmt"
	"math"
	"time"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

// Envoy is the rule of Envoy's outlier detection, as a replacer.
//
// Its evidence is what becomes of real requests, and is relative: once every interval a host goes whose success rate is below the mean of
// its pool less SuccessFactor standard deviations, if at least MinHosts hosts have enough requests to tell; and a host that fails
// Consecutive requests in a row goes at any time. No host goes when more than MaxPercent of the pool would be out with it. A host is out
// for BaseTime times the number of times that it was ejected, at most MaxTime.
//
// Source: Envoy, documentation and API of outlier detection, and its default settings: interval 10 s, SuccessFactor 1.9, MinHosts 5
// with 100 requests each, Consecutive 5, MaxPercent 10 tested after adding the host, always_eject_one_host off, BaseTime 30 s, MaxTime
// 300 s.
//
// In the original an ejected host gets no requests for a while and nobody replaces it: that would be Auto Scaling with EC2 checks
// once more. Here an ejection terminates the host, so that its relative evidence and its limit can be compared with those of the others; a
// host that is out counts until it is gone, and at least for its ejection time. Every host is taken to get 100 requests an interval, and
// failures to fall evenly: a host fails five in a row when one such run is expected among a hundred. Left out: panic mode, which
// sends requests to hosts whose active health checks fail, and the detectors for gateway errors and failure percentage, which are the same
// evidence or off.
type Envoy struct {
	// SuccessFactor is in standard deviations.
	SuccessFactor float64
	MinHosts      int
	Consecutive   int
	MaxPercent    int
	// AlwaysOne lets one host go in a pool in which MaxPercent is less than one.
	AlwaysOne         bool
	BaseTime, MaxTime time.Duration
}

// DefaultEnvoy is the rule with its default numbers.
func DefaultEnvoy() Envoy {
	return Envoy{SuccessFactor: 1.9, MinHosts: 5, Consecutive: 5, MaxPercent: 10, BaseTime: 30 * time.Second, MaxTime: 300 * time.Second}
}

// requestsPerInterval is what success_rate_request_volume asks for at least.
const requestsPerInterval = 100

// rounding keeps rates that are all the same from being below their own mean.
const rounding = 1e-9

// EnvoyMemory is what the proxy remembers; the zero value is one that just started.
type EnvoyMemory struct {
	// Out is until when a host is ejected at least.
	Out map[string]time.Time
}

// Threshold is the success rate below which a host is an outlier, in the unit of the rates; false when there are too few rates to tell.
func (r Envoy) Threshold(rates []float64) (float64, bool) {
	if len(rates) < r.MinHosts {
		return 0, false
	}
	mean, variance := 0.0, 0.0
	for _, rate := range rates {
		mean += rate / float64(len(rates))
	}
	for _, rate := range rates {
		variance += (rate - mean) * (rate - mean) / float64(len(rates))
	}
	return mean - r.SuccessFactor*math.Sqrt(variance), true
}

// EjectionTime is how long a host is out at its nth ejection.
func (r Envoy) EjectionTime(nth int) time.Duration {
	return min(time.Duration(nth)*r.BaseTime, r.MaxTime)
}

// FailsInARow says whether a host with this success rate, 0 to 1, is expected to fail Consecutive of an interval's requests in a row.
func (r Envoy) FailsInARow(success float64) bool {
	fails := 1 - success
	runs := math.Pow(fails, float64(r.Consecutive)) * (1 + float64(requestsPerInterval-r.Consecutive)*success)
	return runs >= 1
}

// room is how many more hosts of a pool of so many may be ejected.
func (r Envoy) room(hosts, out int) int {
	room := hosts*r.MaxPercent/100 - out
	if r.AlwaysOne && out == 0 {
		room = max(room, 1)
	}
	return max(0, room)
}

// Decide ejects pool by pool.
func (r Envoy) Decide(o Observation, m *EnvoyMemory) Action {
	if m.Out == nil {
		m.Out = map[string]time.Time{}
	}
	var a Action
	o.pools(func(_ string, machines []Machine) { r.pool(&a, o.Now, m, machines) })
	for id, until := range m.Out {
		if until.Before(o.Now) {
			delete(m.Out, id)
		}
	}
	return a
}

func (r Envoy) pool(a *Action, now time.Time, m *EnvoyMemory, machines []Machine) {
	hosts, out := 0, 0
	var rates []float64
	for _, n := range machines {
		if n.Pending || n.Readiness == Unseen {
			continue
		}
		hosts++
		if n.Leaving || n.Marked || m.Out[n.ID].After(now) {
			out++
			continue
		}
		if n.Routed {
			rates = append(rates, n.Success)
		}
	}
	threshold, tells := r.Threshold(rates)
	room := r.room(hosts, out)
	for _, n := range machines {
		if n.Pending || n.Leaving || n.Marked || !n.Routed || m.Out[n.ID].After(now) {
			continue
		}
		if !r.FailsInARow(n.Success) && (!tells || n.Success > threshold-rounding) {
			continue
		}
		if room == 0 {
			a.Why = fmt.Sprintf("%d of %d hosts are out, at most %d %%", out, hosts, r.MaxPercent)
			continue
		}
		room--
		out++
		m.Out[n.ID] = now.Add(r.EjectionTime(1))
		a.Replace = append(a.Replace, n.ID)
	}
}

// Guardian puts the rule on watch, at its interval of 10 s.
func (r Envoy) Guardian() gameday.Guardian {
	memory := &EnvoyMemory{}
	return &watch{
		name: "envoy-10-percent", period: 10 * time.Second, silence: nodeSilence, requests: true,
		decide: func(o Observation) Action { return r.Decide(o, memory) },
	}
}
