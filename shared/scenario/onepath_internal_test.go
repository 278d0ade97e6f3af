package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/guard"
	"github.com/holdfast-aws/holdfast/shared/memledger"
	"github.com/holdfast-aws/holdfast/shared/runner"
)

// witness is the stated world that remembers what it answered, so that the inputs of guard.Decide can be put together again.
type witness struct {
	*world
	interval time.Duration
	set      runner.PolicySet
	alarms   map[string]guard.AlarmReading
	records  map[string]runner.Record
	unread   map[string]string
	region   runner.RegionRecord
	// inputs are all that was decided on, first and second looks.
	inputs []guard.Input
	// strayed are looks whose verdict is not that of the input as put together here.
	strayed []string
}

// diary is the ledger of a witness.
type diary struct {
	*memledger.Ledger
	w *witness
}

func (d *diary) Load(ctx context.Context, arn string) (runner.Record, error) {
	rec, err := d.Ledger.Load(ctx, arn)
	d.w.records[arn] = rec
	if delete(d.w.unread, arn); err != nil {
		d.w.unread[arn] = err.Error()
	}
	return rec, err
}

func (d *diary) LoadRegion(ctx context.Context) (runner.RegionRecord, error) {
	rec, err := d.Ledger.LoadRegion(ctx)
	d.w.region = rec
	return rec, err
}

func (w *witness) Policies(ctx context.Context, groups []string) runner.PolicySet {
	w.set = w.world.Policies(ctx, groups)
	return w.set
}

func (w *witness) Alarms(ctx context.Context, names []string) map[string]guard.AlarmReading {
	w.alarms = w.world.Alarms(ctx, names)
	return w.alarms
}

// Details begins a look; Beats, which comes next, completes it.
func (w *witness) Details(ctx context.Context, g guard.Group) (guard.Group, guard.Reads) {
	out, reads := w.world.Details(ctx, g)
	w.inputs = append(w.inputs, guard.Input{Now: w.now, SweepInterval: w.interval, Group: out, Reads: reads})
	return out, reads
}

func (w *witness) Beats(ctx context.Context, g guard.Group) (map[string]guard.Beat, error) {
	beats, err := w.world.Beats(ctx, g)
	in := &w.inputs[len(w.inputs)-1]
	if err != nil {
		in.Reads.Heartbeats = err.Error()
	}
	in.Group.Members = slices.Clone(in.Group.Members)
	for i := range in.Group.Members {
		in.Group.Members[i].Beat = beats[in.Group.Members[i].ID]
	}
	w.complete(in)
	return beats, err
}

// complete adds the policy, the alarms and the memory.
func (w *witness) complete(in *guard.Input) {
	rec := w.records[in.Group.ARN]
	layers := append([]guard.Layer{w.set.Defaults}, w.set.Groups[in.Group.Name]...)
	for i := range layers {
		layers[i].LastGood = rec.LastGood[layers[i].Name]
	}
	r := guard.Resolve(layers, w.set.Switch)
	in.Policy, in.Problems, in.Request = r.Policy, r.Problems, rec.Request
	if in.Reads.State = w.unread[in.Group.ARN]; in.Reads.State == "" {
		in.State = guard.Prepare(rec.State, r.Policy)
	}
	in.Region = w.region.State
	for _, d := range r.Policy.Dependencies {
		in.Group.Dependencies = append(in.Group.Dependencies, guard.DependencyReading{Dependency: d, AlarmReading: w.alarms[d.Alarm]})
	}
	if r.Policy.Kind == guard.KindWorker && r.Policy.Queue != nil {
		q := w.place(in.Group.Name).view().queue
		in.Group.Queue = &q
	}
}

// Report checks that what was put together is what was decided on: the last look must count the same members and triggers. What it
// adds to the Region's item is seen by the groups after it.
func (w *witness) Report(ctx context.Context, r runner.Report) {
	w.world.Report(ctx, r)
	for i := len(w.inputs) - 1; i >= 0; i-- {
		if w.inputs[i].Group.ARN != r.ARN {
			continue
		}
		v := guard.Decide(w.inputs[i])
		if v.Members != r.Verdict.Members || !slices.Equal(v.Triggers, r.Verdict.Triggers) {
			w.strayed = append(w.strayed, fmt.Sprintf("%s at %s: %+v %+v, the run had %+v %+v", r.Group, r.At, v.Members, v.Triggers, r.Verdict.Members, r.Verdict.Triggers))
		}
		break
	}
	w.region.State, _ = guard.MergeRegion(w.region.State, r.Verdict.Region, w.now)
}

// bytesOf is a whole verdict, with what it leaves for the ledger.
func bytesOf(t *testing.T, in guard.Input, mode string) string {
	t.Helper()
	in.Policy.Mode = mode
	v := guard.Decide(in)
	text, err := json.Marshal(struct {
		Verdict guard.Verdict
		State   guard.State
		Region  guard.RegionDelta
	}{v, v.State, v.Region})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// decisions replays a case in mode act and returns every input that was decided on.
func decisions(t *testing.T, s *Scenario) []guard.Input {
	t.Helper()
	ctx := context.Background()
	w := &witness{interval: s.Interval, records: map[string]runner.Record{}, unread: map[string]string{}}
	w.world = &world{now: Start(), ledger: memledger.New(), mode: guard.ModeAct}
	for i, g := range s.Groups {
		w.places = append(w.places, &place{stated: newStated(g, i)})
	}
	if err := w.seed(ctx, s); err != nil {
		t.Fatal(err)
	}
	ports := runner.Ports{Fleet: w, Beats: w, Alarms: w, Queues: w, Policies: w, Ledger: &diary{w.ledger, w}, Actor: w, Reporter: w}
	r, err := runner.New(ports, runner.Options{Now: func() time.Time { return w.now }, SweepInterval: s.Interval, Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := &player{s: s, w: w.world, r: r, result: Result{Scenario: s}, sweeps: make([]int, len(s.Groups))}
	for _, step := range s.Steps {
		if err := p.step(ctx, step); err != nil {
			t.Fatal(err)
		}
	}
	if p.result.Failed() {
		t.Fatalf("%s is not met when its world is watched", s.Name)
	}
	for _, stray := range w.strayed {
		t.Errorf("%s, %s", s.Name, stray)
	}
	return w.inputs
}

func TestAV19ActAndObserveGiveTheSameVerdictBytesForEveryInputOfEveryCase(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil || len(files) < 95 {
		t.Fatalf("%d cases, %v; want 95 or more", len(files), err)
	}
	compared, acting := 0, 0
	for _, file := range files {
		s, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, in := range decisions(t, s) {
			if in.Policy.Mode != guard.ModeAct {
				continue // the case itself asks for another mode
			}
			act, observe := bytesOf(t, in, guard.ModeAct), bytesOf(t, in, guard.ModeObserve)
			if act != observe {
				t.Errorf("%s, decision %d at %s:\nact     %s\nobserve %s", s.Name, i, in.Now, act, observe)
			}
			compared++
			if len(guard.Decide(in).Actions) > 0 {
				acting++
			}
		}
	}
	t.Logf("%d inputs compared, %d of them with actions", compared, acting)
	if acting < 95 {
		t.Errorf("only %d of the inputs led to an action", acting)
	}
}
