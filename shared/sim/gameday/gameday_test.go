package gameday_test

import (
	"testing"

	"github.com/holdfast-aws/holdfast/shared/sim/gameday"
)

func TestEveryDayCanBePlayed(t *testing.T) {
	for _, day := range gameday.Days() {
		for _, guardian := range []func() gameday.Guardian{
			gameday.Holdfast, func() gameday.Guardian { return gameday.Nobody() }, func() gameday.Guardian { return gameday.Nobody("EC2") },
			func() gameday.Guardian { return gameday.Nobody("EC2", "ELB") },
		} {
			for seed := range uint64(3) {
				g := guardian()
				m, err := gameday.Play(day, g, seed)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s %s %d: %+v", day.Name, g.Name(), seed, m)
			}
		}
	}
}
