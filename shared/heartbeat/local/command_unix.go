//go:build unix

package local

import (
	"os/exec"
	"syscall"
)

// killGroup makes the end of a command the end of its children: a shell that is killed alone leaves them running.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
