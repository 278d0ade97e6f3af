package picture_test

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/picture"
	"github.com/holdfast-aws/holdfast/shared/sim/drive"
)

func alone(t *testing.T, name string, checks ...string) picture.Run {
	t.Helper()
	return picture.Run{
		Label: "AWS alone, " + checks[len(checks)-1] + " health checks", Story: story(t, name, drive.Options{Seed: 1, HealthChecks: checks}),
	}
}

func TestRunsAreComparedByTheSameNumbersEverywhere(t *testing.T) {
	run := alone(t, "brownout", "EC2", "ELB")
	if got, want := run.Cells(), []string{"8", "–", "32.0", "3.09", "6"}; !slices.Equal(got, want) {
		t.Errorf("have %q, want %q", got, want)
	}
	if got := alone(t, "single-broken", "EC2").Cells()[1]; got != "0 of 1" {
		t.Errorf("replaced %q, want 0 of 1", got)
	}
	var page bytes.Buffer
	if err := picture.Page(&page, picture.Input{How: "for a test", Cases: []picture.Case{{Name: "brownout", Runs: []picture.Run{run}}}}); err != nil {
		t.Fatal(err)
	}
	text := html.UnescapeString(page.String())
	for i, column := range picture.Columns() {
		if !strings.Contains(text, `<th scope="col">`+column.Name()+"</th>") || !strings.Contains(text, ">"+run.Cells()[i]+"</td>") {
			t.Errorf("the page lacks %q with %q", column.Name(), run.Cells()[i])
		}
	}
	if !strings.Contains(text, picture.Explanation()) || strings.Contains(text, "No setting of AWS alone") {
		t.Error("the page does not explain its numbers, or concludes from one incident")
	}
}

func TestNoSettingOfAWSAloneIsGoodInEveryIncident(t *testing.T) {
	elb, ec2 := []string{"EC2", "ELB"}, []string{"EC2"}
	cases := []picture.Case{
		{Name: "single-broken", Runs: []picture.Run{alone(t, "single-broken", ec2...), alone(t, "single-broken", elb...)}},
		{Name: "brownout", Runs: []picture.Run{alone(t, "brownout", elb...), alone(t, "brownout", ec2...)}},
	}
	const want = "No setting of AWS alone is good in both incidents: EC2 health checks left 1 broken in place in single-broken; " +
		"ELB health checks lost 8 healthy members in brownout."
	if got := picture.Contrast(cases); got != want {
		t.Errorf("have %q, want %q", got, want)
	}
	for name, some := range map[string][]picture.Case{"one incident": cases[:1], "none": nil, "an incident in which one is good": {cases[1], cases[1]}} {
		if got := picture.Contrast(some); got != "" {
			t.Errorf("%s: concludes %q", name, got)
		}
	}
}
