package sample_test

import (
	"testing"
	"time"

	sample "github.com/holdfast-aws/holdfast/.ci/mutate/testdata/sample"
)

func TestJudge(t *testing.T) {
	if got := sample.Judge(10, time.Minute); got != (sample.Level{High: true, Of: 10}) {
		t.Errorf("have %+v", got)
	}
	if got := sample.Judge(9, time.Minute); got != (sample.Level{Of: 9}) {
		t.Errorf("have %+v", got)
	}
}
