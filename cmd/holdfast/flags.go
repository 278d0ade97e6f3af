package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// parseFlags parses a subcommand's arguments; when it returns false the command ends with the code.
func parseFlags(fs *flag.FlagSet, args []string, s streams) (code int, ok bool) {
	fs.SetOutput(io.Discard) // the flag package's own words know neither the command nor two dashes
	fs.Usage = func() {}
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help(fs, s)
		return exitOK, false
	case err != nil:
		return misused(fs, s, flagRule(fs, err.Error())), false
	}
	return exitOK, true
}

// refuseEmpty is an error if a flag was given without any text. Most such are a variable that was not set, and one that is taken for a flag
// that was not given would pass for a wish that was met. An empty text in the place of a preset takes that away.
func refuseEmpty(fs *flag.FlagSet) error {
	var err error
	fs.Visit(func(f *flag.Flag) {
		if get, ok := f.Value.(flag.Getter); ok && get.Get() == "" && f.DefValue == "" {
			err = errors.Join(err, fmt.Errorf("--%s: \"\", want %s", f.Name, rule(fs, f.Name)))
		}
	})
	return err
}

// parseMixed parses flags before, between and after the other arguments, which it returns; "--" ends the flags.
func parseMixed(fs *flag.FlagSet, args []string, s streams) (rest []string, code int, ok bool) {
	for {
		if code, ok := parseFlags(fs, args, s); !ok {
			return nil, code, false
		}
		left := fs.Args()
		if used := len(args) - len(left); used > 0 && args[used-1] == "--" {
			return append(rest, left...), exitOK, true
		}
		if len(left) == 0 {
			return rest, exitOK, true
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// parseBare is parseMixed for a command that takes flags only.
func parseBare(fs *flag.FlagSet, args []string, s streams) (code int, ok bool) {
	rest, code, ok := parseMixed(fs, args, s)
	if ok && len(rest) > 0 {
		return misused(fs, s, unexpected(rest[0])), false
	}
	return code, ok
}

// unexpected is the one form in which an argument too many is refused.
func unexpected(argument string) string { return fmt.Sprintf("unexpected argument %q", argument) }

// misused tells what is wrong with a command's arguments.
func misused(fs *flag.FlagSet, s streams, what string) int {
	complain(s, "holdfast %s: %s\n%sflags and what they mean: holdfast %s --help\n", fs.Name(), what, usageLine(fs), fs.Name())
	return exitUsage
}

func usageLine(fs *flag.FlagSet) string {
	for _, c := range commands() {
		if c.name == fs.Name() {
			return strings.TrimRight(fmt.Sprintf("usage: holdfast %s %s", c.name, c.usage), " ") + "\n"
		}
	}
	return ""
}

// help shows a command with all its flags.
func help(fs *flag.FlagSet, s streams) {
	var b strings.Builder
	b.WriteString(usageLine(fs))
	for _, c := range commands() {
		if c.name == fs.Name() {
			b.WriteString(c.about + "\n")
			if c.more != "" {
				b.WriteString("\n" + c.more + "\n")
			}
		}
	}
	flags := 0
	fs.VisitAll(func(f *flag.Flag) {
		if flags++; flags == 1 {
			b.WriteString("\nflags:\n")
		}
		kind, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(&b, "  %s\n        %s", strings.TrimRight("--"+f.Name+" "+kindOf(kind), " "), usage)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
			fmt.Fprintf(&b, " (default %s)", f.DefValue)
		}
		b.WriteString("\n")
	})
	_, _ = io.WriteString(s.out, b.String()) // there is nobody left to tell
}

// kindOf is what a value looks like, in words for those who know no Go.
func kindOf(kind string) string {
	switch kind {
	case "string":
		return "text"
	case "int", "uint":
		return "N"
	case "float":
		return "number"
	case "value":
		return "duration"
	}
	return kind
}

// flagRule turns what the flag package says into the flag as it is written, the value and the rule.
func flagRule(fs *flag.FlagSet, said string) string {
	if name, ok := strings.CutPrefix(said, "flag provided but not defined: -"); ok {
		return "unknown flag --" + name
	}
	if name, ok := strings.CutPrefix(said, "flag needs an argument: -"); ok {
		return fmt.Sprintf("--%s has no value, want %s", name, rule(fs, name))
	}
	value, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(said, "invalid value "), "invalid boolean value "), " for ")
	if !ok {
		return said
	}
	name, why, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(rest, "flag "), "-"), ": ")
	if own, ok := strings.CutPrefix(why, "want "); ok {
		return fmt.Sprintf("--%s: %s, want %s", name, value, own)
	}
	return fmt.Sprintf("--%s: %s, want %s", name, value, rule(fs, name))
}

// rule is what the values of a flag look like.
func rule(fs *flag.FlagSet, name string) string {
	f := fs.Lookup(name)
	if f == nil {
		return "a value"
	}
	get, ok := f.Value.(flag.Getter)
	if !ok {
		return spanRule
	}
	switch get.Get().(type) {
	case bool:
		return "true or false"
	case uint64:
		return "a whole number of 0 or more"
	case int:
		return "a whole number"
	case float64:
		return "a number"
	}
	return "a text"
}
