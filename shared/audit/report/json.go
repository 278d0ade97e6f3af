package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"

	"github.com/holdfast-aws/holdfast/shared/audit"
)

// JSON writes the report as it is, indented, for programs. Hidden characters are written as JSON's own escapes, so that the values stay
// the same and a terminal shows them. An error is one of writing.
func JSON(w io.Writer, r audit.Report) error { return encode(w, r, "report") }

func encode(w io.Writer, v any, what string) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", what, err)
	}
	if _, err := io.WriteString(w, escaped(string(text))+"\n"); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

// escaped writes hidden characters as escapes of JSON, which stand in its strings only.
func escaped(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}
