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

func TestKnownHostsTakesPathsAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	crlf := filepath.Join(dir, "crlf")
	if err := os.WriteFile(crlf, []byte("bar ssh-rsa AA\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(act func(modules.Command) modules.Output, args map[string]any) modules.Result {
		h := &modtest.Host{Act: act}
		return KnownHosts.Run(context.Background(), h.Env(t, "ssh-keygen"), modtest.Args(args))
	}
	r := call(keygen, map[string]any{"name": "foo", "path": dir, "state": "absent"})
	if r.Failed || r.Changed || r.Data.Text("path") != dir {
		t.Errorf("no host is removed from a directory: %+v", r)
	}
	r = call(keygen, map[string]any{"name": "foo", "path": dir, "key": "foo ssh-rsa AA"})
	if want := "Failed to read " + dir + ": [Errno 21] Is a directory: '" + dir + "'"; !r.Failed || r.Msg != want {
		t.Errorf("a directory takes no key: %+v, want %q", r, want)
	}
	missing := filepath.Join(dir, "none", "f")
	r = call(keygen, map[string]any{"name": "foo", "path": missing, "key": "foo ssh-rsa AA"})
	want := "Failed to write to file " + missing + ": [Errno 2] No such file or directory: '" + filepath.Join(dir, "none", "tmp")
	if !r.Failed || !strings.HasPrefix(r.Msg, want) {
		t.Errorf("a missing directory takes no key: %+v, want %q", r, want)
	}
	r = call(keygen, map[string]any{"name": "foo", "path": crlf, "key": "foo ssh-rsa AA"})
	if got, _ := os.ReadFile(crlf); r.Failed || string(got) != "bar ssh-rsa AA\nfoo ssh-rsa AA\n" {
		t.Errorf("lines end as Python's open ends them: %q: %+v", got, r)
	}
	r = call(func(c modules.Command) modules.Output {
		if c.Argv[1] == "-R" {
			return modules.Output{Rc: 255, Stdout: []byte("# found\n"), Stderr: []byte("no valid file\n")}
		}
		return keygen(c)
	}, map[string]any{"name": "bar", "path": crlf, "state": "absent"})
	if !r.Failed || r.Msg != "no valid file" || r.Data.Text("stdout") != "# found\n" {
		t.Errorf("a failure of ssh-keygen is told with what it printed: %+v", r)
	}
}
