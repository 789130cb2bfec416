package builtin

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// keygen is an ssh-keygen that finds plain names and takes any hashed one for the host's.
func keygen(c modules.Command) modules.Output {
	raw, _ := os.ReadFile(c.Argv[4])
	var out, rest bytes.Buffer
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		n++
		name, _, _ := strings.Cut(lines.Text(), " ")
		if name != c.Argv[2] && !strings.HasPrefix(name, "|1|") {
			fmt.Fprintln(&rest, lines.Text())
			continue
		}
		fmt.Fprintf(&out, "# Host %s found: line %d \n%s\n", c.Argv[2], n, lines.Text())
	}
	if c.Argv[1] == "-R" {
		if err := os.WriteFile(c.Argv[4], rest.Bytes(), 0o600); err != nil {
			return modules.Output{Rc: 255}
		}
		return modules.Output{}
	}
	if out.Len() == 0 {
		return modules.Output{Rc: 1}
	}
	return modules.Output{Stdout: out.Bytes()}
}

func TestKnownHostsEditsTheFile(t *testing.T) {
	const file = "bar ssh-rsa AA\nfoo ssh-ed25519 BB\nbaz ssh-rsa CC\n"
	for _, c := range []struct {
		args            string
		content, want   string
		hash, unchanged bool
	}{
		{args: "foo ssh-ed25519 BB comment", content: file, want: file, unchanged: true},
		{args: "foo ssh-ed25519 DD", content: file, want: "bar ssh-rsa AA\nbaz ssh-rsa CC\nfoo ssh-ed25519 DD\n"},
		{args: "foo ssh-rsa DD", content: file, want: file + "foo ssh-rsa DD\n"},
		{args: "foo ssh-rsa DD", content: "", want: "foo ssh-rsa DD\n"},
		{args: "absent foo ssh-ed25519 BB", content: file, want: "bar ssh-rsa AA\nbaz ssh-rsa CC\n"},
		{args: "absent foo ssh-rsa BB", content: file, want: file, unchanged: true},
		{args: "absent", content: file, want: "bar ssh-rsa AA\nbaz ssh-rsa CC\n"},
		{args: "absent", content: "bar ssh-rsa AA\n", want: "bar ssh-rsa AA\n", unchanged: true},
		{args: "foo ssh-rsa AA", content: "|1|x|y ssh-rsa AA\n", want: "|1|x|y ssh-rsa AA\n", hash: true, unchanged: true},
	} {
		path := filepath.Join(t.TempDir(), "known_hosts")
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		args := map[string]any{"name": "Foo", "path": path, "hash_host": c.hash}
		key, absent := strings.CutPrefix(c.args, "absent")
		if absent {
			args["state"] = "absent"
		}
		if key = strings.TrimSpace(key); key != "" {
			args["key"] = key
		}
		h := &modtest.Host{Act: keygen}
		env := h.Env(t, "ssh-keygen")
		env.Check = true
		if r := KnownHosts.Run(context.Background(), env, modtest.Args(args)); r.Failed || r.Changed == c.unchanged {
			t.Errorf("%s in check mode: %+v", c.args, r)
		}
		env.Check = false
		r := KnownHosts.Run(context.Background(), env, modtest.Args(args))
		if got, _ := os.ReadFile(path); r.Failed || r.Changed == c.unchanged || string(got) != c.want {
			t.Errorf("%s left\n%s, want\n%s: %+v", c.args, got, c.want, r)
		}
		if r := KnownHosts.Run(context.Background(), env, modtest.Args(args)); r.Failed || r.Changed {
			t.Errorf("%s changes twice: %+v", c.args, r)
		}
	}
}

func TestKnownHostsHidesNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known_hosts")
	h := &modtest.Host{Act: keygen}
	r := KnownHosts.Run(context.Background(), h.Env(t, "ssh-keygen"), modtest.Args(map[string]any{"name": "foo", "key": "foo ssh-rsa AA", "path": path, "hash_host": true}))
	got, _ := os.ReadFile(path)
	if !r.Changed || !strings.HasPrefix(string(got), "|1|") || !strings.HasSuffix(string(got), "= ssh-rsa AA\n") || strings.Contains(string(got), "foo") {
		t.Errorf("file %q: %+v", got, r)
	}
}

func TestKnownHostsNamesWhatIsWrong(t *testing.T) {
	for want, args := range map[string]map[string]any{
		"No key specified when adding a host":                                                                          {"name": "foo"},
		"Host parameter does not match hashed host field in supplied key":                                              {"name": "foo", "key": "bar ssh-rsa AA"},
		"Host parameter does not match hashed host field in supplied key\n":                                            {"name": "foo", "key": "foo"},
		"Comma separated list of names is not supported. Please pass a single name to lookup in the known_hosts file.": {"name": "foo,bar", "key": "foo ssh-rsa AA"},
	} {
		h := &modtest.Host{Act: keygen}
		args["path"] = filepath.Join(t.TempDir(), "none")
		if r := KnownHosts.Run(context.Background(), h.Env(t, "ssh-keygen"), modtest.Args(args)); !r.Failed || r.Msg != strings.TrimSpace(want) {
			t.Errorf("%v gave %q", args, r.Msg)
		}
	}
}
