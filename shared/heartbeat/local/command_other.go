//go:build !unix

package local

import "os/exec"

// killGroup does nothing here: the command alone is killed.
func killGroup(*exec.Cmd) {}
