package picture_test

import (
	"os"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/picture"
	"github.com/holdfast-aws/holdfast/shared/sim"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

// TestTheReadmesPicturesAreTheBrownoutOfToday keeps the README's two pictures what the simulator gives.
func TestTheReadmesPicturesAreTheBrownoutOfToday(t *testing.T) {
	incident, ok := sim.Find("brownout")
	if !ok {
		t.Fatal("the brownout is gone")
	}
	for name, guarded := range map[string]bool{"brownout-alone": false, "brownout-holdfast": true} {
		r, err := drive.Run(t.Context(), incident, drive.Options{Guarded: guarded, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		label := "AWS alone: " + r.Headline()
		if guarded {
			label = "with Holdfast: " + r.Headline()
		}
		svg, err := picture.Standalone(name, label, r.Story)
		if err != nil {
			t.Fatal(err)
		}
		file := "../../../docs/" + name + ".svg"
		if *update {
			if err := os.WriteFile(file, []byte(svg), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if svg != string(want) {
			t.Errorf("%s is not what is drawn today; look at it, then run with -update", file)
		}
		if strings.Contains(svg, "http:") && !strings.Contains(svg, "http://www.w3.org/2000/svg") || strings.Contains(svg, "https:") {
			t.Errorf("%s asks for something outside", file)
		}
	}
}
