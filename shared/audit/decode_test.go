package audit_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

func TestADumpIsReadStrictly(t *testing.T) {
	good := string(read(t, "rules", "HF006", "broken.json"))
	for _, c := range []struct{ name, from, to, says string }{
		{"no JSON", `{`, `[`, "decode dump"},
		{"another format", `"format": 1`, `"format": 2`, "format 2, want 1"},
		{"no format", `"format": 1,`, ``, `no format number, want "format": 1`},
		{"a key that nobody knows", `"grace_seconds"`, `"grace"`, `unknown field "grace"`},
		{"a key that stands twice", `"min": 4,`, `"min": 4, "min": 5,`, `key "min" stands twice`},
		{"a number that is a word", `"min": 4`, `"min": "4"`, "min"},
		{"a fraction of a second", `"grace_seconds": 300`, `"grace_seconds": 300.5`, "grace_seconds"},
		{"no time", `"at": "2026-11-30T12:00:00Z",`, ``, `"at" is not stated`},
		{"a group without a name", `"name": "web"`, `"name": ""`, "group without a name"},
		{"a group with a control character", `"name": "web"`, `"name": "we\u001bb"`, `group "we\x1bb": a name with a control character`},
		{"a negative grace", `"grace_seconds": 300`, `"grace_seconds": -300`, `group "web": grace_seconds -300, want 0 to 1000000`},
		{"an interval that overflows", `"interval_seconds": 10`, `"interval_seconds": 10000000000`, `target-group "web-tg": interval_seconds 10000000000, want 0 to 1000000`},
		{"a percentage above 100", `"fail_open_percent": -1`, `"fail_open_percent": 101`, `target-group "web-tg": fail_open_percent 101, want -1 to 100`},
		{"zones that do not add up", `"zone_count": 2`, `"zone_count": 3`, `group "web": zone_count 3, but zones lists 2`},
		{"a heartbeat from tomorrow", `"beat_age_seconds": 5`, `"beat_age_seconds": -2`, "beat_age_seconds -2"},
		{"an alarm of tomorrow", `"since": "2026-11-20T08:00:00Z"`, `"since": "2026-12-20T08:00:00Z"`, `alarm "db-down": time 2026-12-20T08:00:00Z is after the dump's`},
		{"two alarms of one name", `"name": "holdfast-no-sweep"`, `"name": "db-down"`, `alarm "db-down" stands twice`},
		{"a status check without an id", `"id": "asc-0123456789abcdef0"`, `"id": ""`, "status-check"},
		{"a topic without an ARN", `"arn": "arn:aws:sns:eu-west-1:111122223333:holdfast-pages"`, `"arn": ""`, "want an ARN"},
		{"a target group without an id", `"id": "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web-tg/0123456789abcdef"`, `"id": ""`, "target-group without a name"},
		{"fewer targets than none", `"healthy": 4`, `"healthy": -4`, `-4 targets in state "healthy"`},
		{"a request of less than nothing", `"longest_request_seconds": 12.5`, `"longest_request_seconds": -1`, "longest_request_seconds -1"},
		{"a process without a name", `"members"`, `"suspended": [{"process": "", "reason": ""}], "members"`, "suspended process"},
		{"a member twice", `"id": "i-0a000000000000002"`, `"id": "i-0a000000000000001"`, `group "web": member "i-0a000000000000001" stands twice`},
		{"a process twice", `"members"`, `"suspended": [{"process": "Launch", "reason": ""}, {"process": "Launch", "reason": ""}], "members"`, `suspended process "Launch" stands twice`},
		{"a key in another case", `"min": 4,`, `"Min": 4,`, `key "Min" is not known, want "min"`},
		{"a key that stands twice in two cases", `"min": 4,`, `"min": 4, "MIN": 5,`, `key "MIN" is not known, want "min"`},
		{"a topic twice", `"topics": [`, `"topics": [{"arn": "arn:aws:sns:eu-west-1:111122223333:holdfast-pages"},`, `topic "arn:aws:sns:eu-west-1:111122223333:holdfast-pages" stands twice`},
		{"a status check's association twice", `"status_checks": [`, `"status_checks": [{"id": "asc-1", "tag_key": "a", "tag_value": "b"}, {"id": "asc-1", "tag_key": "a", "tag_value": "b"},`, `status-check "asc-1", tag a = b stands twice`},
		{"a member without an id", `"id": "i-0a000000000000001"`, `"id": ""`, `group "web": member ""`},
		{"an age that overflows", `"alarm_max_age_seconds": 86400`, `"alarm_max_age_seconds": 10000000000`, "alarm_max_age_seconds 10000000000"},
		{"a target group with a control character", `"name": "web-tg"`, `"name": "web\u0007"`, "control character"},
	} {
		if !strings.Contains(good, c.from) {
			t.Fatalf("%s: the dump has no %s", c.name, c.from)
		}
		_, err := audit.DecodeAccount([]byte(strings.Replace(good, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: have %v, want %q", c.name, err, c.says)
		}
	}
	for name, text := range map[string]string{"two values": good + good, "nothing": "", "depth": strings.Repeat("[", 1_000_000)} {
		if _, err := audit.DecodeAccount([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestEverythingThatIsWrongWithADumpIsSaidAtOnce(t *testing.T) {
	_, err := audit.DecodeAccount([]byte(`{"format": 1, "source": "account", "groups": [{"name": "", "min": -1}], "target_groups": [], "alarms": [], "guardian": {"installed": false}}`))
	for _, want := range []string{"at", "without a name", "min -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestADumpSurvivesWritingAndReading(t *testing.T) {
	for _, r := range audit.Rules() {
		for _, name := range []string{"broken.json", "inside.json"} {
			a := dump(t, "rules", r.ID, name)
			text, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			again, err := audit.DecodeAccount(text)
			if err != nil {
				t.Fatal(err)
			}
			if second, err := json.Marshal(again); err != nil || string(second) != string(text) {
				t.Errorf("%s %s is another after writing and reading: %v", r.ID, name, err)
			}
		}
	}
}

// TestNoneAndUnknownStayApart holds for lists where "none" and "unknown" differ.
func TestNoneAndUnknownStayApart(t *testing.T) {
	g := audit.Group{Name: "g", HealthCheckTypes: []string{}, TargetGroups: []string{}}
	text, err := json.Marshal(audit.Account{Format: audit.Format, At: time.Unix(1, 0), Groups: []audit.Group{g}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := audit.DecodeAccount(text)
	if err != nil {
		t.Fatal(err)
	}
	if have := a.Groups[0]; have.TargetGroups == nil || have.HealthCheckTypes == nil || have.LatticeGroups != nil {
		t.Errorf("target groups %v, types %v, lattice groups %v", have.TargetGroups, have.HealthCheckTypes, have.LatticeGroups)
	}
}

func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

func hour(n int) time.Duration { return time.Duration(n) * time.Hour }

func TestAcknowledgementsAreReadStrictly(t *testing.T) {
	entry := func(fields string) string { return `{"acknowledgements": [{` + fields + `}]}` }
	const good = `"rule": "HF003", "name": "web", "reason": "batch only", "by": "ops", "until": "2027-01-01"`
	for _, c := range []struct{ name, text, says string }{
		{"none", `{"acknowledgements": []}`, ""},
		{"a good one", entry(good), ""},
		{"a day a year ahead", entry(strings.Replace(good, "2027-01-01", "2027-11-30", 1)), ""},
		{"a day a year and a day ahead", entry(strings.Replace(good, "2027-01-01", "2027-12-01", 1)), "acknowledgement 1, rule HF003, name \"web\": until 2027-12-01 is more than a year ahead, want 2027-11-30 at the latest"},
		{"a day of the past", entry(strings.Replace(good, "2027-01-01", "2020-01-01", 1)), ""},
		{"no day", entry(strings.Replace(good, "2027-01-01", "soon", 1)), `until "soon" is no day, want YYYY-MM-DD`},
		{"no such day", entry(strings.Replace(good, "2027-01-01", "2027-02-30", 1)), `rule HF003, name "web": until "2027-02-30"`},
		{"no reason", entry(strings.Replace(good, "batch only", " ", 1)), `rule HF003, name "web": reason is not stated`},
		{"nobody", entry(strings.Replace(good, `"by": "ops", `, "", 1)), "by is not stated"},
		{"no end", entry(strings.Replace(good, `, "until": "2027-01-01"`, "", 1)), "until is not stated"},
		{"no name", entry(strings.Replace(good, `"web"`, `""`, 1)), "name is not stated"},
		{"an unknown rule", entry(strings.Replace(good, "HF003", "HF999", 1)), `rule "HF999" is not known`},
		{"an unknown key", entry(good + `, "note": "x"`), `unknown field "note"`},
		{"a key that stands twice", entry(good + `, "by": "x"`), `key "by" stands twice`},
		{"the same twice", `{"acknowledgements": [{` + good + `}, {` + good + `}]}`, "acknowledgement 2, rule HF003, name \"web\": stands twice"},
		{"two parts of one resource", `{"acknowledgements": [{` + good + `, "part": "a"}, {` + good + `, "part": "b"}]}`, ""},
		{"a list alone", `[{` + good + `}]`, "decode acknowledgements"},
		{"an empty object", `{}`, `want an object with the key "acknowledgements"`},
		{"nothing", ``, "decode acknowledgements"},
		{"two values", `{"acknowledgements": []} {}`, "more than one JSON value"},
	} {
		_, err := audit.DecodeAcknowledgements([]byte(c.text), noon())
		if (err == nil) != (c.says == "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: have %v, want %q", c.name, err, c.says)
		}
	}
}

func TestAcknowledgementsHoldUntilTheirDay(t *testing.T) {
	a := dump(t, "rules", "HF003", "broken.json")
	o := options(t)
	ack := func(rule, name, until string) audit.Acknowledgement {
		return audit.Acknowledgement{Rule: rule, Name: name, Reason: "known", By: "ops", Until: until}
	}
	for _, c := range []struct {
		name                  string
		acks                  []audit.Acknowledgement
		acknowledged          string
		expired, unused, find int
	}{
		{"none", nil, "", 0, 0, 1},
		{"the day after", []audit.Acknowledgement{ack("HF003", "web", "2026-12-01")}, "web", 0, 0, 1},
		{"the day itself is over", []audit.Acknowledgement{ack("HF003", "web", "2026-11-30")}, "", 1, 0, 1},
		{"a day that is none", []audit.Acknowledgement{ack("HF003", "web", "never")}, "", 1, 0, 1},
		{"for every resource", []audit.Acknowledgement{ack("HF003", "*", "2026-12-01")}, "*", 0, 0, 1},
		{"the name itself is preferred", []audit.Acknowledgement{ack("HF003", "*", "2026-12-01"), ack("HF003", "web", "2026-12-01")}, "web", 0, 0, 1},
		{"in either order", []audit.Acknowledgement{ack("HF003", "web", "2026-12-01"), ack("HF003", "*", "2026-12-01")}, "web", 0, 0, 1},
		{"over, but all are accepted", []audit.Acknowledgement{ack("HF003", "web", "2026-11-01"), ack("HF003", "*", "2026-12-01")}, "*", 1, 0, 1},
		{"another rule", []audit.Acknowledgement{ack("HF001", "web", "2026-12-01")}, "", 0, 1, 1},
		{"another group", []audit.Acknowledgement{ack("HF003", "api", "2026-12-01")}, "", 0, 1, 1},
	} {
		o.Acknowledgements = c.acks
		r := audit.Judge(a, o)
		found := of(r, "HF003")
		have := ""
		if len(found) == 1 && found[0].Acknowledged != nil {
			have = found[0].Acknowledged.Name
		}
		if len(found) != c.find || have != c.acknowledged || len(r.Expired) != c.expired || len(r.Unused) != c.unused {
			t.Errorf("%s: %d findings, acknowledged by %q, %d expired, %d unused", c.name, len(found), have, len(r.Expired), len(r.Unused))
		}
	}
}

func TestAnAccountWithoutATimeLeavesNothingAcknowledged(t *testing.T) {
	a := dump(t, "rules", "HF003", "broken.json")
	a.At = time.Time{}
	o := options(t)
	o.Acknowledgements = []audit.Acknowledgement{{Rule: "HF003", Name: "web", Reason: "known", By: "ops", Until: "2026-12-01"}}
	if r := audit.Judge(a, o); of(r, "HF003")[0].Acknowledged != nil || len(r.Expired) != 1 {
		t.Error("an acknowledgement holds without a time")
	}
}

func TestPromisesAreReadFromReviewedThresholds(t *testing.T) {
	const good = `{"web": {"handler_timeout_ms": 1, "dependency_timeout_ms": 2, "restart_seconds": 3, "recovery_objective_seconds": 4, "fail_open_percent": 5, "health_check_types": ["EC2"], "review": {"by": "x"}}}`
	p, err := audit.DecodePromises([]byte(good))
	want := audit.Promise{HandlerTimeoutMS: 1, DependencyTimeoutMS: 2, RestartSeconds: 3, RecoveryObjectiveSeconds: 4, FailOpenPercent: 5, HealthCheckTypes: []string{"EC2"}}
	if err != nil || !reflect.DeepEqual(p["web"], want) || len(p) != 1 {
		t.Errorf("have %v, %v", p, err)
	}
	for _, c := range []struct{ name, from, to, says string }{
		{"a number that is missing", `"restart_seconds": 3, `, ``, `thresholds of "web": restart_seconds is not stated`},
		{"a number that is a word", `"restart_seconds": 3`, `"restart_seconds": "3"`, "restart_seconds"},
		{"a number below 0", `"restart_seconds": 3`, `"restart_seconds": -3`, "restart_seconds -3, want 0 to"},
		{"a service without a name", `"web"`, `""`, "without a name"},
		{"a key that stands twice", `"restart_seconds": 3`, `"restart_seconds": 3, "restart_seconds": 4`, "stands twice"},
		{"a number that is null", `"restart_seconds": 3`, `"restart_seconds": null`, "restart_seconds is not stated"},
		{"types that are null", `["EC2"]`, `null`, "health_check_types is not stated"},
		{"a percentage above 100", `"fail_open_percent": 5`, `"fail_open_percent": 101`, "fail_open_percent 101, want 0 to 100"},
		{"a type that nobody knows", `["EC2"]`, `["EC2", "elb"]`, `health_check_types: "elb" is not known, want EC2, EBS, ELB, VPC_LATTICE`},
		{"a key twice in two cases", `"restart_seconds": 3`, `"restart_seconds": 3, "Restart_Seconds": 4`, "differ in case only"},
		{"nothing", good, `null`, "want an object with a key for each service"},
		{"a list", `{"web"`, `[{"web"`, "decode thresholds"},
	} {
		if _, err := audit.DecodePromises([]byte(strings.Replace(good, c.from, c.to, 1))); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: have %v, want %q", c.name, err, c.says)
		}
	}
	if !slices.Equal(options(t).Promises["reviewed"].HealthCheckTypes, []string{"EC2", "ELB"}) {
		t.Error("the test's own thresholds are not read")
	}
}

func TestAByteOrderMarkIsTakenInEveryFile(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	if _, err := audit.DecodeAccount(append([]byte(mark), read(t, "rules", "HF006", "broken.json")...)); err != nil {
		t.Errorf("dump: %v", err)
	}
	if p, err := audit.DecodePromises(append([]byte(mark), read(t, "thresholds.json")...)); err != nil || len(p) == 0 {
		t.Errorf("thresholds: %v", err)
	}
	if _, err := audit.DecodeAcknowledgements([]byte(mark+`{"acknowledgements": []}`), noon()); err != nil {
		t.Errorf("acknowledgements: %v", err)
	}
}

func TestTagsOfADumpMayDifferInCaseOnly(t *testing.T) {
	a, err := audit.DecodeAccount([]byte(`{"format": 1, "at": "2026-11-30T12:00:00Z", "groups": [{"name": "g", "tags": {"Name": "a", "name": "b"}}]}`))
	if err != nil || len(a.Groups[0].Tags) != 2 {
		t.Errorf("have %v, %v", a.Groups, err)
	}
}

func TestADumpAtTheEdgesOfItsNumbersIsTaken(t *testing.T) {
	good := string(read(t, "rules", "HF006", "broken.json"))
	for _, c := range []struct{ name, from, to string }{
		{"zones that are only counted", "\"zones\": [\n    \"eu-west-1a\",\n    \"eu-west-1b\"\n   ],", ""},
		{"no age of alarms", `"alarm_max_age_seconds": 86400`, `"alarm_max_age_seconds": 0`},
		{"the longest age of alarms", `"alarm_max_age_seconds": 86400`, `"alarm_max_age_seconds": 1000000000`},
		{"the longest request", `"longest_request_seconds": 12.5`, `"longest_request_seconds": 1000000`},
		{"a request of no time", `"longest_request_seconds": 12.5`, `"longest_request_seconds": 0`},
		{"the longest interval", `"interval_seconds": 10`, `"interval_seconds": 1000000`},
		{"an alarm that is an hour ahead", `"since": "2026-11-20T08:00:00Z"`, `"since": "2026-11-30T13:00:00Z"`},
	} {
		if !strings.Contains(good, c.from) {
			t.Fatalf("%s: the dump has no %s", c.name, c.from)
		}
		if _, err := audit.DecodeAccount([]byte(strings.Replace(good, c.from, c.to, 1))); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
