package runnertest

import (
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Scene is one world with processes that are to run at once, each started by its function.
type Scene struct {
	World     *World
	Processes []*Process
	// Start runs process i to its end.
	Start func(i int)
}

// Explored counts what an exploration did.
type Explored struct {
	// Schedules ran to their end, States are the different states that were met, Cut the schedules that ended in one met before.
	Schedules, States, Cut int
}

// branching says that the order of a call against other processes' calls can matter. The other calls commute with every call
// that a process makes, so their order is not tried:
//   - Details and Beats read targets, activities and heartbeats, which no call changes, unless the world changes by itself;
//     Alarms, Queue and Policies read what does not change at all;
//   - PutAction writes the list of actions, Page and Report hand over, and no process ever reads those.
//
// Reads of the group itself do not commute with marks and suspensions, so they do branch.
func (w *World) branching(op string) bool {
	switch op {
	case OpDetails, OpBeats:
		return w.Changing
	case opHappen:
		return true
	case OpGuarded, OpGroup, OpLoad, OpSave, OpLoadRegion, OpSaveRegion, OpReserve, guard.ActMark, guard.ActRestore, guard.ActSuspend, guard.ActResume:
		return true
	}
	return false
}

// Explore runs the scene in every order of its processes' calls: setup makes the scene anew for each schedule, and check judges
// the end of each. Two orders that lead to the same state, which is the world, the ledger and what each process was answered so
// far, have the same future, so only the first of them is followed. It stops when check returns false.
func Explore(setup func() Scene, check func(Scene, []string) bool) Explored {
	type choice struct {
		ready []int
		next  int
	}
	var out Explored
	var stack []choice
	seen := map[[sha256.Size]byte]bool{}
	for {
		scene, depth, cut := setup(), 0, false
		trace := scene.run(func(ready []int) int {
			if depth == len(stack) {
				state := scene.state(ready)
				if seen[state] {
					cut = true
					return -1
				}
				seen[state] = true
				stack = append(stack, choice{ready: ready})
			}
			c := stack[depth]
			depth++
			return c.ready[c.next]
		})
		if cut {
			out.Cut++
		} else {
			out.Schedules++
			if !check(scene, trace) {
				return out
			}
		}
		for len(stack) > 0 && stack[len(stack)-1].next+1 == len(stack[len(stack)-1].ready) {
			stack = stack[:len(stack)-1]
		}
		if len(stack) == 0 {
			out.States = len(seen)
			return out
		}
		stack[len(stack)-1].next++
	}
}

// Once runs the scene in one order: choose picks the next of the processes that are ready. It returns the calls in order.
func Once(scene Scene, choose func(ready []int) int) []string { return scene.run(choose) }

func (s Scene) state(ready []int) [sha256.Size]byte {
	world := s.World.fingerprint()
	all := slices.Clone(world[:])
	for _, p := range s.Processes {
		all = append(all, p.history[:]...)
	}
	for _, i := range ready {
		all = append(all, byte(i))
	}
	return sha256.Sum256(all)
}

type event struct {
	process int
	call    Call
	done    bool
}

// run starts all processes and grants one call at a time, in the order that choose says; a choice below 0 ends them all.
func (s Scene) run(choose func(ready []int) int) []string {
	events := make(chan event)
	grants := make([]chan bool, len(s.Processes))
	for i, p := range s.Processes {
		grants[i] = make(chan bool)
		own := p.Hook
		p.Hook = func(c Call) Effect {
			events <- event{process: i, call: c}
			if !<-grants[i] {
				return Effect{CrashBefore: true}
			}
			if own != nil {
				return own(c)
			}
			return Effect{}
		}
		go func() {
			s.Start(i)
			events <- event{process: i, done: true}
		}()
	}
	var trace []string
	waiting, running := map[int]Call{}, len(s.Processes)
	for {
		for ; running > 0; running-- {
			if e := <-events; !e.done {
				waiting[e.process] = e.call
			}
		}
		if len(waiting) == 0 {
			return trace
		}
		next := s.World.pick(waiting, choose)
		if next < 0 {
			for i := range waiting {
				grants[i] <- false
				running++
			}
			clear(waiting)
			choose = func([]int) int { return -1 }
			continue
		}
		trace = append(trace, s.Processes[next].Name+" "+waiting[next].Op)
		delete(waiting, next)
		grants[next] <- true
		running = 1
	}
}

// pick lets calls whose order cannot matter pass at once, and asks about the others.
func (w *World) pick(waiting map[int]Call, choose func(ready []int) int) int {
	ready := slices.Sorted(maps.Keys(waiting))
	for _, i := range ready {
		if !w.branching(waiting[i].Op) {
			return i
		}
	}
	if len(ready) == 1 {
		return ready[0]
	}
	return choose(ready)
}
