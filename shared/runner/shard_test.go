package runner_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/runner"
)

func TestAGroupHasAShardForAnyNumberOfShards(t *testing.T) {
	for _, shards := range []int{-1, 0, 1, 2, 7, 1 << 32, 1<<32 + 1, 1 << 62} {
		for i := range 20 {
			if s := runner.Shard(fmt.Sprintf("arn:%d", i), shards); s < 0 || s >= max(1, shards) {
				t.Errorf("shard %d of %d", s, shards)
			}
		}
	}
}
