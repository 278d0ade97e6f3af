package runner

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-aws/holdfast/shared/fault"
	"github.com/holdfast-aws/holdfast/shared/guard"
)

// Ports are what a Runner needs of the world; all but Queues are required.
type Ports struct {
	Fleet    Fleet
	Beats    Beats
	Alarms   Alarms
	Queues   Queues
	Policies Policies
	Ledger   Ledger
	Actor    Actor
	Reporter Reporter
}

// Options are a Runner's settings.
type Options struct {
	// Now is the guard's clock; required.
	Now func() time.Time
	// SweepInterval is the time between scheduled sweeps; above 0.
	SweepInterval time.Duration
	// Concurrency is how many groups are looked at at once; 1 or more.
	Concurrency int
	// Margin is kept of the context's deadline for the last ledger writes; 0 or more.
	Margin time.Duration
	// Resolve lays the layers of a policy as guard.Resolve does; nil means guard.Resolve itself. A simulation of very many runs
	// remembers its answers.
	Resolve func([]guard.Layer, guard.Switch) guard.Resolution
}

// Runner looks at groups and acts on what guard.Decide says. It keeps nothing between runs.
type Runner struct {
	p Ports
	o Options
}

// New checks the ports and options and returns a Runner.
func New(p Ports, o Options) (*Runner, error) {
	var errs []error
	for _, port := range []struct {
		name    string
		missing bool
	}{
		{"fleet", p.Fleet == nil}, {"beats", p.Beats == nil}, {"alarms", p.Alarms == nil}, {"policies", p.Policies == nil},
		{"ledger", p.Ledger == nil}, {"actor", p.Actor == nil}, {"reporter", p.Reporter == nil},
	} {
		if port.missing {
			errs = append(errs, fmt.Errorf("port %s is missing", port.name))
		}
	}
	if o.Now == nil {
		errs = append(errs, errors.New("option now is missing"))
	}
	if o.SweepInterval <= 0 {
		errs = append(errs, fmt.Errorf("option sweep interval: %s, want above 0", o.SweepInterval))
	}
	if o.Concurrency < 1 {
		errs = append(errs, fmt.Errorf("option concurrency: %d, want 1 or more", o.Concurrency))
	}
	if o.Margin < 0 {
		errs = append(errs, fmt.Errorf("option margin: %s, want 0 or more", o.Margin))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if o.Resolve == nil {
		o.Resolve = guard.Resolve
	}
	return &Runner{p: p, o: o}, nil
}

// Triggers of a run.
const (
	TriggerSweep  = "sweep"
	TriggerAlarm  = "alarm"
	TriggerManual = "manual"
)

// Request says what to look at.
type Request struct {
	// Run names the run in records; it makes repeated writes of one run the same write.
	Run string
	// Trigger is sweep, alarm or manual; it changes nothing but the record.
	Trigger string
	// Groups are names; empty looks at every guarded group of the shard.
	Groups []string
	// Alarms narrow the look to the groups of the shard whose policy depends on one of them, and to Groups. A group whose policy
	// cannot be read, and has no last good content, is left to the next sweep.
	Alarms []string
	// Shard of Shards; 0 Shards means one. A group belongs to the shard to which its ARN hashes.
	Shard, Shards int
}

func (r Request) validate() error {
	switch {
	case r.Run == "":
		return errors.New("request: run is empty")
	case r.Trigger != TriggerSweep && r.Trigger != TriggerAlarm && r.Trigger != TriggerManual:
		return fmt.Errorf("request: trigger %q, want sweep, alarm or manual", r.Trigger)
	case r.Shards < 0 || r.Shard < 0 || r.Shard >= max(1, r.Shards):
		return fmt.Errorf("request: shard %d of %d", r.Shard, r.Shards)
	}
	return nil
}

// Summary is what came of a run.
type Summary struct {
	Run string `json:"run"`
	// Looked counts groups that were looked at, Failed those whose look could not be completed, LostRaces those that another
	// runner looked at first.
	Looked    int           `json:"looked"`
	Failed    int           `json:"failed"`
	LostRaces int           `json:"lost_races"`
	Groups    []GroupResult `json:"groups"`
}

// GroupResult is what came of one group.
type GroupResult struct {
	Group   string `json:"group"`
	Mode    string `json:"mode"`
	Failure string `json:"failure,omitempty"`
}

// Run looks at the groups of a request and acts. A group that fails is in the summary and does not stop the others; an error is
// returned only for a bad request, or when the groups could not be listed at all.
func (r *Runner) Run(ctx context.Context, req Request) (Summary, error) {
	if err := req.validate(); err != nil {
		return Summary{}, err
	}
	work, cancel := r.workContext(ctx)
	defer cancel()
	all, err := r.p.Fleet.Guarded(work)
	if err != nil {
		return Summary{Run: req.Run}, fmt.Errorf("list guarded groups: %w", err)
	}
	sw := &sweep{Runner: r, ctx: ctx, work: work, req: req, start: r.o.Now()}
	if sw.region.load(work, r.p.Ledger); sw.region.readErr != "" {
		sw.regionFailed("read the Region's item: " + sw.region.readErr)
	}
	groups := chosen(all, req)
	if _, bounded := ctx.Deadline(); bounded {
		groups = inTurn(groups, sw.start)
	}
	sw.lookups(groups)
	sw.inParallel(sw.prepare)
	sw.dependents()
	sw.readAlarms()
	sw.inParallel(sw.group)
	sw.missing(all)
	sw.vanished(all)
	sw.tellStrays(all)
	sw.saveRegion()
	return sw.summary(), nil
}

// workContext keeps the margin of the deadline for what must still be written.
func (r *Runner) workContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok && r.o.Margin > 0 {
		return context.WithDeadline(ctx, end.Add(-r.o.Margin))
	}
	return ctx, func() {}
}

// Shard is the shard of a group: its ARN's FNV-1a hash modulo shards.
func Shard(arn string, shards int) int {
	if shards <= 1 {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(arn)) // a hash never fails
	return int(uint64(h.Sum32()) % uint64(shards))
}

func chosen(all []guard.Group, req Request) []guard.Group {
	left := func(g guard.Group) bool {
		ofShard := (len(req.Groups) == 0 || len(req.Alarms) > 0) && Shard(g.ARN, req.Shards) == req.Shard
		return !ofShard && !slices.Contains(req.Groups, g.Name)
	}
	if !slices.ContainsFunc(all, left) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), left)
}

// inTurn starts each minute with another group, so that a deadline that cuts a run short does not leave out the same ones again and
// again. The step between starts has no factor in common with most counts, which spreads what is cut over all groups.
func inTurn(groups []guard.Group, at time.Time) []guard.Group {
	if len(groups) == 0 {
		return groups
	}
	const step = 7919
	first := int(at.Unix()/60%1_000_000) * step % len(groups)
	return append(slices.Clone(groups[first:]), groups[:first]...)
}

// sweep is one run under way.
type sweep struct {
	*Runner
	// ctx has the whole deadline, work the deadline less the margin.
	ctx, work context.Context
	req       Request
	start     time.Time
	region    regionBox
	jobs      []*job

	// marking is held from a decision to mark until its reservation, so that the groups of one run pass the Region's budget one
	// after the other.
	marking sync.Mutex

	mu       sync.Mutex
	extra    []GroupResult
	deltas   []guard.RegionDelta
	returns  []returned
	answered []answered

	// others are parameters that belong to no group of this run; strays are what is known of those that nobody reads, to be kept if strayed.
	others         []string
	strays         []Stray
	unreadPolicies bool
	strayed        bool
}

// job is one group of a run.
type job struct {
	*sweep
	base   guard.Group
	layers []guard.Layer
	// rec is the group's item as last loaded or written; readErr says why it could not be loaded.
	rec     Record
	readErr string
	// looked is what the next write keeps for people.
	looked Looked
	res    guard.Resolution
	policy guard.Policy
	alarms map[string]guard.AlarmReading
	report Report
	// closed says that the ledger refused a write, so that nothing more may be written in this run.
	closed bool
	// learned is what our calls have shown, to be put on top of whatever state is there at the last write.
	learned []func(guard.State) guard.State
	// lostRace says that nothing of this run counted; overtaken that another runner wrote after our first write.
	lostRace, overtaken bool
}

// lookups reads the policies and makes a job of each group.
func (s *sweep) lookups(groups []guard.Group) {
	names := make([]string, 0, len(groups))
	for _, g := range groups {
		names = append(names, g.Name)
	}
	if len(names) == 0 {
		return
	}
	set := s.p.Policies.Policies(s.work, names)
	s.region.policies(set)
	s.others, s.unreadPolicies = set.Others, set.Defaults.ReadError != ""
	s.jobs = make([]*job, 0, len(groups))
	for i := range groups {
		g := &groups[i]
		of := set.Groups[g.Name]
		j := &job{sweep: s, base: *g, layers: append(append(make([]guard.Layer, 0, 1+len(of)), set.Defaults), of...)}
		j.report.Run, j.report.Trigger, j.report.At, j.report.Group, j.report.ARN = s.req.Run, s.req.Trigger, s.start, g.Name, g.ARN
		s.jobs = append(s.jobs, j)
	}
}

// inParallel runs a phase over all jobs, a few at once; a panic in one is that group's failure.
func (s *sweep) inParallel(phase func(*job)) {
	if s.o.Concurrency == 1 {
		for _, j := range s.jobs {
			j.guarded(phase)
		}
		return
	}
	slots := make(chan struct{}, s.o.Concurrency)
	var wg sync.WaitGroup
	for _, j := range s.jobs {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() {
				<-slots
				wg.Done()
			}()
			j.guarded(phase)
		}()
	}
	wg.Wait()
}

// guarded runs a phase of one group; a panic in it is the group's failure.
func (j *job) guarded(phase func(*job)) {
	defer func() {
		if p := recover(); p != nil {
			j.fail(fmt.Errorf("panic: %v", p))
			j.closed = true
		}
	}()
	phase(j)
}

func (j *job) fail(err error) {
	if j.report.Failure != "" {
		j.report.Failure += "; "
	}
	j.report.Failure += err.Error()
}

// alarmNames are the alarms of a policy.
func alarmNames(p guard.Policy) []string {
	var out []string
	for _, d := range p.Dependencies {
		out = append(out, d.Alarm)
	}
	return out
}

// dependents leaves, in a request that names alarms, the groups that depend on one of them, that are named, or that have failed
// already and must be told.
func (s *sweep) dependents() {
	if len(s.req.Alarms) == 0 {
		return
	}
	s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool {
		depends := slices.ContainsFunc(alarmNames(j.policy), func(name string) bool { return slices.Contains(s.req.Alarms, name) })
		return !depends && j.report.Failure == "" && !slices.Contains(s.req.Groups, j.base.Name)
	})
}

// readAlarms reads the alarms of all groups together, each once.
func (s *sweep) readAlarms() {
	var names []string
	for _, j := range s.jobs {
		for i := range j.policy.Dependencies {
			names = append(names, j.policy.Dependencies[i].Alarm)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return
	}
	read := s.p.Alarms.Alarms(s.work, names)
	for _, j := range s.jobs {
		j.alarms = read
	}
}

// prepare loads the group's item and lays its policy.
func (s *sweep) prepare(j *job) {
	j.load()
	j.resolve()
}

func (j *job) load() {
	rec, err := j.p.Ledger.Load(j.work, j.base.ARN)
	if err != nil {
		j.readErr = "ledger: " + err.Error()
		return
	}
	j.rec, j.readErr = rec, ""
}

func (j *job) resolve() {
	layers := j.layers // the job's own, as are their last good contents
	defaults, sw := j.region.lastGood()
	for i := range layers {
		if layers[i].Name == guard.LayerDefaults {
			layers[i].LastGood = defaults
		} else {
			layers[i].LastGood = j.rec.LastGood[layers[i].Name]
		}
	}
	j.res = j.o.Resolve(layers, sw)
	j.policy = j.res.Policy
	j.region.good(j.res)
}

// isConflict says that another writer was first.
func isConflict(err error) bool { return errors.Is(err, fault.Conflict) }
