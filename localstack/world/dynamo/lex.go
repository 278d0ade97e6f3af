package dynamo

import "strings"

// tokenKind tells the parser what a token may stand for.
type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenName  // #name
	tokenValue // :value
	tokenIndex // digits
	tokenSymbol
)

type token struct {
	kind tokenKind
	text string
	at   int // byte offset in the expression
}

// lex splits an expression into tokens; ok is false at a byte that no expression may hold.
func lex(text string) (tokens []token, bad token, ok bool) {
	for i := 0; i < len(text); {
		c := text[i]
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			i++
			continue
		}
		t := next(text, i)
		if t.text == "" {
			return nil, token{text: text[i : i+1], at: i}, false
		}
		tokens = append(tokens, t)
		i += len(t.text)
	}
	return append(tokens, token{kind: tokenEnd, text: "<EOF>", at: len(text)}), token{}, true
}

func next(text string, at int) token {
	rest := text[at:]
	switch c := rest[0]; {
	case c == '#' || c == ':':
		if n := wordLength(rest[1:]); n > 0 {
			kind := tokenName
			if c == ':' {
				kind = tokenValue
			}
			return token{kind, rest[:n+1], at}
		}
	case c >= '0' && c <= '9':
		n := 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		return token{tokenIndex, rest[:n], at}
	case wordLength(rest[:1]) == 1:
		return token{tokenWord, rest[:wordLength(rest)], at}
	case len(rest) > 1 && (rest[:2] == "<>" || rest[:2] == "<=" || rest[:2] == ">="):
		return token{tokenSymbol, rest[:2], at}
	case strings.IndexByte("=<>()[],.+-", c) >= 0:
		return token{tokenSymbol, rest[:1], at}
	}
	return token{}
}

// wordLength counts the leading bytes that a name without placeholder may hold.
func wordLength(text string) int {
	n := 0
	for n < len(text) {
		c := text[n] | 0x20 // folds the letters to lower case; digits and '_' are compared on the byte itself
		if (c < 'a' || c > 'z') && (text[n] < '0' || text[n] > '9') && text[n] != '_' {
			break
		}
		n++
	}
	return n
}
