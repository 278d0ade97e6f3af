package main

import (
	"context"
	"flag"
	"io"

	"github.com/holdfast-aws/holdfast/cmd/holdfast/operator"
)

// limits prints the table of policy keys; the one in the README is the same.
func limits(_ context.Context, args []string, s streams) int {
	fs := flag.NewFlagSet("limits", flag.ContinueOnError)
	if code, ok := parseBare(fs, args, s); !ok {
		return code
	}
	if _, err := io.WriteString(s.out, operator.LimitsTable()); err != nil {
		return failed("limits", err, s)
	}
	return exitOK
}
