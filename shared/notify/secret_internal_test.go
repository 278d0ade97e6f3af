package notify

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestASecretPrintsAsSomethingElse is inside the package, because nothing outside it can hold a secret.
func TestASecretPrintsAsSomethingElse(t *testing.T) {
	s := secret("https://hooks.example.test/services/T000/XTOKENX?key=XTOKENX9")
	holder := struct{ S secret }{s}
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("secret", "secret", s, "holder", holder)
	slog.New(slog.NewTextHandler(&log, nil)).Info("secret", "secret", s, "holder", fmt.Sprint(holder))
	for name, text := range map[string]string{
		"printed": fmt.Sprintf("%v %s %q %+v %#v", s, s, s, holder, holder), "encoded": string(encoded), "logged": log.String(),
	} {
		if strings.Contains(text, "XTOKENX") || !strings.Contains(text, hidden) {
			t.Errorf("%s: %s", name, text)
		}
	}
	for text, want := range map[string]string{
		"at " + string(s): "at " + hidden, "no XTOKENX9 of T000": "no " + hidden + " of T000", "services": hidden, "nothing": "nothing",
	} {
		if have := s.maskIn(text); have != want {
			t.Errorf("%q is masked as %q, want %q", text, have, want)
		}
	}
	escaped := secret("https://hooks.example.test/a%2Bb0123456/%ff%fe0123456?sig=Zm9v%2Fpart+01234")
	for _, text := range []string{"a%2Bb0123456", "a+b0123456", "A%2bB0123456", "Zm9v/part 01234", "zm9v%2fpart+01234", "Zm9v%252Fpart%2B01234", "%ff%fe0123456"} {
		if have := escaped.maskIn("no " + text + "!"); have != "no "+hidden+"!" {
			t.Errorf("%q is masked as %q", text, have)
		}
	}
	if have := secret(`key<"1">`).maskIn(`{"bad":"key\u003c\"1\"\u003e"}`); have != `{"bad":"`+hidden+`"}` {
		t.Errorf("a secret as JSON writes it is masked as %q", have)
	}
	if have := secret("").maskIn("text"); have != "text" {
		t.Errorf("an empty secret hides %q", have)
	}
}
