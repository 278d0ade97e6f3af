package guard

import (
	"fmt"
	"strings"
	"time"
)

// clock prints a moment for people.
func clock(at Instant) string {
	if at == 0 {
		return "an unknown time"
	}
	return at.Time().Format("2006-01-02 15:04:05Z")
}

// span prints a length of time for people, in whole seconds, minutes, hours or days.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	case d >= time.Minute:
		return strings.TrimSuffix(d.Truncate(time.Minute).String(), "0s")
	}
	return d.Truncate(time.Second).String()
}

func suffix(detail string) string {
	if detail == "" {
		return ""
	}
	return ": " + detail
}

// listed prints a few names and says how many there are more.
func listed(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func (k *look) note(format string, args ...any) {
	k.v.Notes = append(k.v.Notes, fmt.Sprintf(format, args...))
}

// Counted prints a count with its noun, which takes an s in the plural.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// are and were are the verb of a count.
func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
