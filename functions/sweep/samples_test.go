package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/functions/internal/sampletest"
)

func TestEverySampleEventIsATickOrIsRefusedByName(t *testing.T) {
	for _, row := range sampletest.Rows() {
		t.Run(row.File, func(t *testing.T) {
			raw, err := row.Read()
			if err != nil {
				t.Fatal(err)
			}
			f := newFixture(time.Second)
			sum, err := f.Handle(withRequest("req-1"), raw)
			if slices.Contains(row.Owners, sampletest.Sweep) {
				if err != nil || sum.Looked != 1 {
					t.Errorf("looked at %d groups, %v; want the one there is", sum.Looked, err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), "decode event: ") || sum.Looked != 0 || f.world.runs != 0 {
				t.Errorf("looked at %d groups in %d runs, %v; want a refusal", sum.Looked, f.world.runs, err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, row := range sampletest.Rows() {
		raw, err := row.Read()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"trigger":"manual","groups":["web"],"shard":1,"shards":2}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := decode(raw)
		if err != nil {
			return
		}
		r := e.request("run", 0, 1)
		if r.Shards < 1 || r.Shard < 0 || r.Shard >= r.Shards || r.Trigger == "" || slices.Contains(r.Groups, "") || (r.Groups != nil && len(r.Groups) == 0) {
			t.Errorf("a request that nobody can mean: %+v", r)
		}
		// What is asked for must be the same on a repeat, which Lambda may deliver.
		again, err := decode(raw)
		if err != nil || again.at != e.at || again.trigger != e.trigger || !slices.Equal(again.groups, e.groups) {
			t.Errorf("a repeat asks for something else: %+v, %v", again, err)
		}
	})
}
