package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/holdfast-aws/holdfast/functions/internal/sampletest"
	"github.com/holdfast-aws/holdfast/functions/internal/tick"
)

func TestEverySampleEventIsATickOrIsRefusedByName(t *testing.T) {
	for _, row := range sampletest.Rows() {
		t.Run(row.File, func(t *testing.T) {
			raw, err := row.Read()
			if err != nil {
				t.Fatal(err)
			}
			f := newFixture(t)
			f.put(t, `{"sources":[{"name":"auth","type":"http","url":"http://auth.internal/up"}]}`)
			s, err := f.Handle(lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"}), raw)
			if slices.Contains(row.Owners, sampletest.Probe) {
				if err != nil || s.Sources != 1 || len(f.wires.asked) != 1 {
					t.Errorf("asked %v, %v; want the one source", f.wires.asked, err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), "decode event: ") || len(f.wires.asked) != 0 {
				t.Errorf("asked %v, %v; want a refusal", f.wires.asked, err)
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
	f.Fuzz(func(t *testing.T, raw []byte) {
		at, err := tick.Decode(raw)
		if err != nil {
			return
		}
		if again, err := tick.Decode(raw); err != nil || !again.Equal(at) {
			t.Errorf("a repeat is due at %v, %v, not at %v", again, err, at)
		}
	})
}
