package notify

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

//go:embed templates/*.tmpl
var templates embed.FS

// How long the text of a notice may be in a message, in bytes; a longer one is cut and says so. A chat message stays readable,
// and every message stays under the 256 KB of SNS. Source: SNS API reference, Publish.
const (
	plainTextMax = 64 << 10
	chatTextMax  = 3 << 10
)

// Marks that end a text that was cut.
const (
	cutMark  = " [cut; the whole text is in the sweep's log]"
	cutShort = "..."
)

// Message is a notice made ready for people.
type Message struct {
	Notice
	Guide Guide
	// Heading is one line: the group and the condition. It may hold any characters of the group's name.
	Heading string
	// Plain is the whole message as plain text, Chat the same in the Markdown of chat programs, with &, < and > escaped.
	Plain, Chat string
}

// facts are what the templates see.
type facts struct {
	Notice
	Guide
	Heading, Severity, Facts, DidNow, NextNow string
	SinceText, AtText                         string
}

// Render makes the message of a notice with the guide of its key.
func Render(n Notice, g Guide) (Message, error) {
	m := Message{Notice: n, Guide: g, Heading: oneLine(n.Group) + ": " + g.Title}
	f := facts{
		Notice: n, Guide: g, Heading: m.Heading, Severity: n.severity(), SinceText: clock(n.Since), AtText: clock(n.At),
		DidNow: prefix(n, "no call was made. In mode act: ", g.Did), NextNow: prefix(n, "it goes on looking and makes no call. In mode act: ", g.Next),
	}
	var err error
	f.Facts = cut(clean(n.Text), plainTextMax, cutMark)
	if m.Plain, err = execute("message.tmpl", f); err != nil {
		return Message{}, err
	}
	f.Facts = cut(clean(n.Text), chatTextMax, cutMark)
	m.Chat, err = execute("chat.tmpl", f)
	return m, err
}

func (n Notice) severity() string {
	if n.Urgent {
		return "urgent"
	}
	return "notice"
}

// prefix says that a mode makes no calls. The notice about a hold under such a mode says it already.
func prefix(n Notice, text, what string) string {
	if n.Key == guard.PagePausedWhileHeld || n.Mode != guard.ModeObserve && n.Mode != guard.ModeOff {
		return what
	}
	return "The mode is " + n.Mode + ": " + text + what
}

func execute(name string, data any) (string, error) {
	t, err := template.New(name).Funcs(template.FuncMap{
		"chat": chat, "code": code, "oneLine": oneLine, "cell": cell,
	}).ParseFS(templates, "templates/"+name)
	if err != nil {
		return "", fmt.Errorf("parse template: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("render message: %w", err)
	}
	return b.String(), nil
}

func clock(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05Z") }

// clean replaces what has no place in a text: broken characters, control characters but line ends and tabs, and those that end lines
// in some readers, turn the direction of writing or take no room.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && acts(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// acts says whether a character acts instead of being seen.
func acts(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// oneLine is clean without line ends and tabs.
func oneLine(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// chat keeps a text from being read as a mention, a link or an entity. Source: Slack API documentation, "Formatting text".
func chat(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// code is chat for a line inside a block of code, which nothing in the line may end.
func code(text string) string { return strings.ReplaceAll(chat(oneLine(text)), "```", "'''") }

// cell keeps a text from ending a cell of a Markdown table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// cut shortens a text to bytesMax, mark included, without splitting a character; a text that fits stays as it is.
func cut(text string, bytesMax int, mark string) string {
	if len(text) <= bytesMax {
		return text
	}
	keep := max(0, bytesMax-len(mark))
	for keep > 0 && !utf8.RuneStart(text[keep]) {
		keep--
	}
	return text[:keep] + mark
}

// Handbook is the page about all keys in Markdown, made from the same table as the messages.
func Handbook() (string, error) {
	names := Names{Group: "GROUP", Region: "REGION", Subject: "SUBJECT", StateTable: "TABLE"}
	return execute("handbook.tmpl", struct{ Guides []Guide }{Guides(names)})
}
