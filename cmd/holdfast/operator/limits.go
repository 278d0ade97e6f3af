package operator

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// LimitsTable is the table of all policy keys in Markdown, made from the keys that the decision core decodes with.
func LimitsTable() string {
	var b strings.Builder
	b.WriteString("| key | built-in | range | compiled ceiling | meaning |\n|---|---|---|---|---|\n")
	for _, k := range guard.Keys() {
		span := k.Range()
		if span == "" && k.Max > 0 {
			span = "at most " + strconv.Itoa(k.Max)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Name, cell(k.Default), cell(span), cell(k.Ceiling), cell(k.Meaning))
	}
	return b.String()
}

// cell keeps a text inside its cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
