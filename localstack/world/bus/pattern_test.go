package bus_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/holdfast-aws/holdfast/localstack/world/bus"
)

const alarm = `{"version":"0","source":"aws.cloudwatch","detail-type":"CloudWatch Alarm State Change","account":"111122223333",
"resources":["arn:aws:cloudwatch:us-east-1:111122223333:alarm:dep-orders-db"],
"detail":{"alarmName":"dep-orders-db","threshold":300,"half":0.5,"nothing":null,"on":true,"empty":[],"words":["red","blue"],
"state":{"value":"ALARM"},"metrics":[{"id":"m1","period":60},{"id":"m2","period":300}]}}`

func TestPatternsMeetWhatTheyDescribe(t *testing.T) {
	cases := []struct {
		name    string
		pattern string
		want    bool
	}{
		{"an exact source", `{"source":["aws.cloudwatch"]}`, true},
		{"one of several", `{"source":["aws.ec2","aws.cloudwatch"]}`, true},
		{"another source", `{"source":["aws.ec2"]}`, false},
		{"all fields must match", `{"source":["aws.cloudwatch"],"account":["999999999999"]}`, false},
		{"a nested field", `{"detail":{"state":{"value":["ALARM"]}}}`, true},
		{"another nested value", `{"detail":{"state":{"value":["OK"]}}}`, false},
		{"case counts", `{"detail":{"state":{"value":["alarm"]}}}`, false},
		{"case does not count", `{"detail":{"state":{"value":[{"equals-ignore-case":"alarm"}]}}}`, true},
		{"a prefix", `{"detail":{"alarmName":[{"prefix":"dep-"}]}}`, true},
		{"another prefix", `{"detail":{"alarmName":[{"prefix":"svc-"}]}}`, false},
		{"a prefix in any case", `{"detail":{"alarmName":[{"prefix":{"equals-ignore-case":"DEP-"}}]}}`, true},
		{"a prefix of a number", `{"detail":{"threshold":[{"prefix":"3"}]}}`, false},
		{"a suffix", `{"detail":{"alarmName":[{"suffix":"-db"}]}}`, true},
		{"a prefix of an array's element", `{"resources":[{"prefix":"arn:aws:cloudwatch"}]}`, true},
		{"a wildcard", `{"detail":{"alarmName":[{"wildcard":"dep-*-db"}]}}`, true},
		{"a wildcard for nothing", `{"detail":{"alarmName":[{"wildcard":"*dep-orders-db*"}]}}`, true},
		{"a wildcard whose ends would overlap", `{"detail":{"alarmName":[{"wildcard":"dep-orders-db*db"}]}}`, false},
		{"a wildcard with the parts out of order", `{"detail":{"alarmName":[{"wildcard":"*orders*dep*"}]}}`, false},
		{"anything but", `{"detail":{"alarmName":[{"anything-but":"dep-orders-db"}]}}`, false},
		{"anything but another", `{"detail":{"alarmName":[{"anything-but":["a","b"]}]}}`, true},
		{"anything but a number", `{"detail":{"threshold":[{"anything-but":[300]}]}}`, false},
		{"anything but a prefix", `{"detail":{"alarmName":[{"anything-but":{"prefix":"dep-"}}]}}`, false},
		{"anything but several suffixes", `{"detail":{"alarmName":[{"anything-but":{"suffix":["-x","-y"]}}]}}`, true},
		{"anything but on an absent field", `{"detail":{"owner":[{"anything-but":"x"}]}}`, false},
		{"exists", `{"detail":{"alarmName":[{"exists":true}]}}`, true},
		{"exists, and is not there", `{"detail":{"owner":[{"exists":true}]}}`, false},
		{"does not exist", `{"detail":{"owner":[{"exists":false}]}}`, true},
		{"does not exist, and is there", `{"detail":{"alarmName":[{"exists":false}]}}`, false},
		{"does not exist below what does not exist", `{"detail":{"mute":{"by":[{"exists":false}]}}}`, true},
		{"absent or a value", `{"detail":{"owner":["x",{"exists":false}]}}`, true},
		{"a null that is there", `{"detail":{"nothing":[null]}}`, true},
		{"a null exists", `{"detail":{"nothing":[{"exists":true}]}}`, true},
		{"an empty array has no value", `{"detail":{"empty":[{"exists":true}]}}`, false},
		{"a boolean", `{"detail":{"on":[true]}}`, true},
		{"a boolean is no string", `{"detail":{"on":["true"]}}`, false},
		{"a number", `{"detail":{"threshold":[300]}}`, true},
		{"a number written in another way", `{"detail":{"threshold":[300.0]}}`, false},
		{"numeric equality", `{"detail":{"threshold":[{"numeric":["=",3.0e2]}]}}`, true},
		{"numeric range", `{"detail":{"threshold":[{"numeric":[">",0,"<=",300]}]}}`, true},
		{"numeric range, just outside", `{"detail":{"threshold":[{"numeric":[">",0,"<",300]}]}}`, false},
		{"numeric on a string", `{"detail":{"alarmName":[{"numeric":[">",0]}]}}`, false},
		{"an array's element", `{"detail":{"words":["blue"]}}`, true},
		{"no element", `{"detail":{"words":["green"]}}`, false},
		{"fields of one array element", `{"detail":{"metrics":{"id":["m2"],"period":[300]}}}`, true},
		{"fields of two array elements", `{"detail":{"metrics":{"id":["m1"],"period":[300]}}}`, false},
		{"a value where an object is", `{"detail":{"state":["ALARM"]}}`, false},
		{"an object where a value is", `{"detail":{"alarmName":{"x":["y"]}}}`, false},
		{"one of two alternatives", `{"detail":{"$or":[{"alarmName":["x"]},{"threshold":[{"numeric":[">",100]}]}]}}`, true},
		{"none of two alternatives", `{"detail":{"$or":[{"alarmName":["x"]},{"threshold":[1]}]}}`, false},
		{"an alternative and a field", `{"detail":{"on":[false],"$or":[{"alarmName":["dep-orders-db"]},{"threshold":[1]}]}}`, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			p, err := bus.ParsePattern(tc.pattern)
			if err != nil {
				t.Fatalf("parse: %v", err)
			}
			if got, err := p.Matches([]byte(alarm)); err != nil || got != tc.want {
				t.Errorf("pattern %s: %v, %v, want %v", tc.pattern, got, err, tc.want)
			}
		})
	}
}

func TestWrongPatternsAreRefused(t *testing.T) {
	for name, pattern := range map[string]string{
		"no JSON":                         `{"source":["a"]`,
		"two values":                      `{"source":["a"]} {}`,
		"no object":                       `["a"]`,
		"an empty object":                 `{}`,
		"an empty inner object":           `{"detail":{}}`,
		"an empty array":                  `{"source":[]}`,
		"a value outside an array":        `{"source":"a"}`,
		"an array in an array":            `{"source":[["a"]]}`,
		"an unknown operator":             `{"source":[{"starts-with":"a"}]}`,
		"two operators in one":            `{"source":[{"prefix":"a","suffix":"b"}]}`,
		"a prefix that is a number":       `{"source":[{"prefix":1}]}`,
		"an empty prefix":                 `{"source":[{"prefix":""}]}`,
		"exists with a string":            `{"source":[{"exists":"true"}]}`,
		"numeric without operator":        `{"detail":{"n":[{"numeric":[5]}]}}`,
		"numeric with an unknown one":     `{"detail":{"n":[{"numeric":["!=",5]}]}}`,
		"numeric with a string":           `{"detail":{"n":[{"numeric":["=","5"]}]}}`,
		"numeric with its bounds swapped": `{"detail":{"n":[{"numeric":[">",5,"<",1]}]}}`,
		"numeric out of range":            `{"detail":{"n":[{"numeric":["<",1e10]}]}}`,
		"anything but nothing":            `{"source":[{"anything-but":[]}]}`,
		"anything but a boolean":          `{"source":[{"anything-but":true}]}`,
		"anything but an unknown one":     `{"source":[{"anything-but":{"numeric":["=",1]}}]}`,
		"one alternative":                 `{"$or":[{"source":["a"]}]}`,
		"double wildcards":                `{"source":[{"wildcard":"a**b"}]}`,
	} {
		_, err := bus.ParsePattern(pattern)
		var invalid *types.InvalidEventPatternException
		if !errors.As(err, &invalid) {
			t.Errorf("%s: got %v, want an InvalidEventPatternException", name, err)
		}
	}
}
