package strict_test

import (
	"testing"

	"github.com/holdfast-aws/holdfast/functions/internal/strict"
)

func TestObject(t *testing.T) {
	for name, test := range map[string]struct {
		raw string
		ok  bool
	}{
		"an empty object":                 {`{}`, true},
		"known keys":                      {` {"groups": ["a"], "shard": 1} `, true},
		"a key in other letters":          {`{"Groups": ["a"]}`, false},
		"a key twice":                     {`{"groups": ["a"], "groups": ["b"]}`, false},
		"a key twice in other letters":    {`{"groups": ["a"], "GROUPS": null}`, false},
		"a letter that folds to another":  {`{"group\u017f": ["a"]}`, false},
		"an escaped key that is the same": {`{"groups": ["a"], "\u0067roups": ["b"]}`, false},
		"an unknown key":                  {`{"group": "a"}`, false},
		"a null":                          {`{"groups": null}`, false},
		"a wrong type":                    {`{"groups": "a"}`, false},
		"two values":                      {`{} {}`, false},
		"a list":                          {`[]`, false},
		"null":                            {`null`, false},
		"nothing":                         {``, false},
		"half an object":                  {`{"groups": ["a"]`, false},
		"a number too large":              {`{"shard": 1e309}`, false},
		"a number with a fraction":        {`{"shard": 1.5}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			var into struct {
				Groups []string `json:"groups"`
				Shard  int      `json:"shard"`
			}
			if err := strict.Object([]byte(test.raw), &into, "groups", "shard"); (err == nil) != test.ok {
				t.Errorf("%s: %v, want accepted %v", test.raw, err, test.ok)
			}
		})
	}
}
