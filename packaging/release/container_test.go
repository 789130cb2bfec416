package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// container starts a program in the files of an image as a container engine does: with the image's user and
// environment, in namespaces of its own, without any capability. It ends the program after a while and gives what it
// has printed.
func container(t *testing.T, name, root string, image nativeConfig, limit time.Duration, args ...string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("runc needs root")
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		t.Skip("runc is not installed")
	}
	user, err := strconv.Atoi(image.User)
	if err != nil {
		t.Fatal(err)
	}
	mount := func(to, kind string, options ...string) map[string]any {
		return map[string]any{"destination": to, "type": kind, "source": kind, "options": options}
	}
	var namespaces []map[string]string
	for _, kind := range []string{"pid", "mount", "ipc", "uts"} { // the network is the test's: it is the loopback
		namespaces = append(namespaces, map[string]string{"type": kind})
	}
	config, err := json.Marshal(map[string]any{
		"ociVersion": "1.0.2",
		"process": map[string]any{
			"user": map[string]int{"uid": user, "gid": user}, "args": append(slices.Clone(image.Entrypoint), args...), "env": image.Env, "cwd": "/", "noNewPrivileges": true,
		},
		"root":   map[string]any{"path": root},
		"mounts": []any{mount("/proc", "proc"), mount("/tmp", "tmpfs", "nosuid", "nodev", "mode=1777")},
		"linux":  map[string]any{"namespaces": namespaces},
	})
	if err != nil {
		t.Fatal(err)
	}
	bundle, state := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bundle, "config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprintf("%s-%d", name, os.Getpid())
	cmd := exec.Command("timeout", strconv.Itoa(int(limit.Seconds())), runc, "--root", state, "run", "--bundle", bundle, id)
	out, _ := cmd.CombinedOutput() // it is ended, or says what is missing
	_ = exec.Command(runc, "--root", state, "delete", "--force", id).Run()
	if strings.Contains(string(out), "runc run failed") {
		t.Skipf("runc does not work on this machine: %s", out)
	}
	return string(out)
}

// TestImagesStartAsContainers: each image says its version, and its command starts or says what it was not given.
func TestImagesStartAsContainers(t *testing.T) {
	one := released(t)
	for _, s := range services() {
		t.Run(s.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, "tar", "-xf", only(t, filepath.Join(one, s.name+"_*.oci.tar")), "-C", dir)
			image, root := nativeImage(t, dir), filepath.Join(dir, "root")
			must(t, "mkdir", root)
			for _, layer := range image.layers {
				must(t, "tar", "-xzf", layer, "-C", root)
			}
			must(t, "mkdir", "-p", filepath.Join(root, "proc"), filepath.Join(root, "tmp"))
			if out := container(t, s.name, root, image, 20*time.Second, "--version"); !strings.Contains(out, "hark version = "+testVersion) {
				t.Errorf("--version: %s", out)
			}
			args := slices.Clone(s.command)
			if s.name == "hark-broker" {
				args[len(args)-1] = "127.0.0.1:0"
			}
			want := map[string]string{"hark-broker": "broker ready at", "hark-console": "give --operator KEY", "hark-keeper": "no broker is configured"}[s.name]
			if out := container(t, s.name, root, image, 10*time.Second, args...); !strings.Contains(out, want) {
				t.Errorf("%v does not say %q:\n%s", args, want, out)
			}
		})
	}
}

// TestContainersStart is about the tests' own container: it has the user, the environment and the arguments that were
// asked for.
func TestContainersStart(t *testing.T) {
	box, err := exec.LookPath("busybox")
	if err != nil {
		t.Skip("busybox-static is not installed")
	}
	root := filepath.Join(t.TempDir(), "root")
	must(t, "sh", "-c", `mkdir -p "$1/proc" "$1/tmp" && cp "$2" "$1/busybox"`, "root", root, box)
	image := nativeConfig{User: fmt.Sprint(containerUser), Entrypoint: []string{"/busybox", "sh", "-c"}, Env: []string{"HARK_HOME=/data"}}
	if out := container(t, "try", root, image, 10*time.Second, `echo "$(/busybox id -u) $HARK_HOME $$"`); out != fmt.Sprintf("%d /data 1\n", containerUser) {
		t.Errorf("it says %q", out)
	}
}
