package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-aws/holdfast/localstack/world"
)

// boot makes the file systems of a small machine in name spaces of its own: nothing outside changes but for an empty control group, which
// is taken away again. Its argument is the folder with the agent, its file and the units. Started with "trial", it ends there.
const boot = `set -e
mount -t proc proc /proc
# What the kernel shares with everybody else can be read only.
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -t tmpfs tmpfs /run
mkdir /run/machine /run/etc /run/work /run/dev
mount -t tmpfs -o mode=0755 tmpfs /run/dev
mkdir /run/dev/pts /run/dev/shm
ln -s pts/ptmx /run/dev/ptmx
for device in null zero full random urandom; do
	touch "/run/dev/$device"
	mount --bind "/dev/$device" "/run/dev/$device"
done
mount --rbind /run/dev /dev
mount --bind "$1" /run/machine
for folder in /tmp /var/tmp /usr/local/bin; do mount -t tmpfs tmpfs "$folder"; done
cp /run/machine/agent /usr/local/bin/holdfast-heartbeat
mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/etc,workdir=/run/work /etc
mkdir /etc/holdfast
cp /run/machine/heartbeat.yaml /etc/holdfast/heartbeat.yaml
mount -t cgroup2 cgroup2 /sys/fs/cgroup
[ "$2" != trial ] || exit 0
exec env -i container=test SYSTEMD_UNIT_PATH=/run/machine/units PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=holdfast-heartbeat.service --log-target=null --show-status=0
`

// machine is systemd as the first process of name spaces of its own, which runs the shipped unit and nothing else.
type machine struct {
	dir, group string
	cmd        *exec.Cmd
	out        *lockedBuffer
}

// inside is the command line that enters the control group and starts the script in name spaces of its own.
func (m machine) inside(ctx context.Context, how string) *exec.Cmd {
	enter := fmt.Sprintf(`echo $$ >%q && exec unshare --pid --fork --kill-child --mount --cgroup --uts --ipc bash %q %q %s`, filepath.Join(m.group, "cgroup.procs"), filepath.Join(m.dir, "boot"), m.dir, how)
	return exec.CommandContext(ctx, "bash", "-c", enter)
}

// bootMachine starts systemd with the shipped unit, to which it adds nothing but where the emulators are, or skips where it cannot run.
func bootMachine(t *testing.T, p *place, config string) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("systemd can be started by root only")
	}
	for _, program := range []string{"unshare", "nsenter", "systemctl", "/lib/systemd/systemd", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not there", program)
		}
	}
	m := &machine{dir: t.TempDir(), out: &lockedBuffer{}}
	unit, err := os.ReadFile("deploy/holdfast-heartbeat.service")
	must(t, err)
	binary, err := os.ReadFile(p.binary)
	must(t, err)
	files := map[string]string{
		"boot": boot, "heartbeat.yaml": config, "units/holdfast-heartbeat.service": string(unit),
		"units/holdfast-heartbeat.service.d/test.conf": "[Service]\nEnvironment=AWS_ENDPOINT_URL=" + p.url + " AWS_EC2_METADATA_SERVICE_ENDPOINT=" + p.imds + "\n",
	}
	for _, target := range []string{"sysinit", "basic", "network", "shutdown", "multi-user"} {
		files["units/"+target+".target"] = "[Unit]\nDefaultDependencies=no\n"
	}
	must(t, os.MkdirAll(filepath.Join(m.dir, "units", "holdfast-heartbeat.service.d"), 0o755))
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o644))
	}
	must(t, os.WriteFile(filepath.Join(m.dir, "agent"), binary, 0o755))
	mounts, err := exec.Command("findmnt", "--noheadings", "--first-only", "--types", "cgroup2", "--output", "TARGET").Output()
	if err != nil {
		t.Skipf("no control groups of version 2: %v", err)
	}
	m.group, err = os.MkdirTemp(strings.TrimSpace(string(mounts)), "heartbeat-test-")
	if err != nil {
		t.Skipf("no control group can be made: %v", err)
	}
	must(t, os.Chmod(m.group, 0o755)) // the agent's own user must find its way
	t.Cleanup(func() { removeGroups(t, m.group) })
	if said, err := m.inside(t.Context(), "trial").CombinedOutput(); err != nil {
		t.Skipf("no machine can be made here: %v: %s", err, said)
	}
	m.cmd = m.inside(context.Background(), "start")
	m.cmd.Stdout, m.cmd.Stderr = m.out, m.out
	must(t, m.cmd.Start())
	t.Cleanup(func() {
		_ = m.cmd.Process.Kill() // and with it the whole machine
		_ = m.cmd.Wait()         // it was killed
		if t.Failed() {
			t.Logf("the machine said: %s", m.out)
		}
	})
	return m
}

// removeGroups takes a control group and those below it away, once their processes are gone.
func removeGroups(t *testing.T, path string) {
	t.Helper()
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for range patience / lookEvery {
		var folders []string
		err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				folders = append(folders, name)
			}
			return err
		})
		for _, name := range slices.Backward(folders) {
			err = errors.Join(err, os.Remove(name))
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return
		}
		<-ticks.C
	}
	t.Errorf("the control group %s is left behind", path)
}

// systemctl asks the machine's systemd.
func (m *machine) systemctl(t *testing.T, args ...string) string {
	t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", m.cmd.Process.Pid))
	must(t, err)
	first := strings.TrimSpace(string(children))
	out, err := exec.Command("nsenter", append([]string{"--target", first, "--mount", "--pid", "--cgroup", "systemctl"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("systemctl %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(bytes.TrimSpace(out))
}

func TestTheUnitRunsUnderSystemd(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := agent{listen: freeAddress(t)}
	const name = "holdfast-heartbeat.service"
	m := bootMachine(t, p, fmt.Sprintf("table: %s\ninterval: 1s\nlisten: %s\nchecks:\n  - {name: itself, type: systemd, unit: %s}\n", world.HeartbeatTable, a.listen, name))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the unit: %s", m.systemctl(t, "show", "--property=ActiveState,SubState,Result,ExecStartPre,ExecMainStatus", name))
		}
	})
	until(t, "three beats of the unit", func() bool {
		return p.status(t) == "ok" && p.region.Calls()["dynamodb:UpdateItem"] >= 3 && a.health() == http.StatusOK
	})
	if user := m.systemctl(t, "show", "--property=UID", "--value", name); user == "0" || user == "[not set]" {
		t.Errorf("the agent runs as user %s, want one of its own", user)
	}
	// Killed, it comes back by itself and goes on.
	left := p.seq(t)
	first := m.systemctl(t, "show", "--property=MainPID", "--value", name)
	m.systemctl(t, "kill", "--signal=KILL", name)
	until(t, "a beat of the next process", func() bool {
		next := m.systemctl(t, "show", "--property=MainPID", "--value", name)
		return next != first && next != "0" && p.seq(t) > left+1 && p.status(t) == "ok"
	})
	m.systemctl(t, "stop", name)
	if p.status(t) != "draining" {
		t.Errorf("the last beat says %s, want draining", p.status(t))
	}
}
