package main

import (
	"context"
	"testing"

	"github.com/holdfast-aws/holdfast/functions/internal/sampletest"
	"github.com/holdfast-aws/holdfast/shared/notify"
)

func TestNoSampleEventOfAWSIsANotice(t *testing.T) {
	for _, row := range sampletest.Rows() {
		t.Run(row.File, func(t *testing.T) {
			raw, err := row.Read()
			if err != nil {
				t.Fatal(err)
			}
			w, h, _ := newWorld(t)
			if err := h.Handle(context.Background(), raw); err == nil {
				t.Error("no error")
			}
			if have := w.counts(); have != "sns 0 slack 0 pagerduty 0" {
				t.Errorf("told %s, want nobody", have)
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
	f.Add([]byte(`{"id":"e-1","source":"holdfast","detail-type":"Holdfast Notice","time":"2026-11-30T12:00:00Z","detail":{"group":"web","arn":"arn:aws:x","key":"held","text":"web is held","since":"2026-11-30T12:00:00Z"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := notify.Decode(raw)
		if err != nil {
			return
		}
		if n.ARN == "" || n.Group == "" || n.Key == "" || n.At.IsZero() || n.Since.IsZero() {
			t.Errorf("a notice that cannot be told: %+v", n)
		}
		if again, err := notify.Decode(raw); err != nil || again.Condition() != n.Condition() {
			t.Errorf("a repeat is another condition: %+v, %v", again.Condition(), err)
		}
	})
}
