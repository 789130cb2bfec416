package builtin

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/facts"
	"hark/modules/modtest"
	"hark/modules/py/value"
)

func runSetup(t testing.TB, args map[string]any) modules.Result {
	t.Helper()
	env := &modules.Env{Name: "setup", Environ: os.Environ(), Exec: modules.HostExec(os.Environ(), nil)}
	return setup(facts.NewMemory()).Run(context.Background(), env, modtest.Args(args))
}

func TestSetupTellsWhatTheKernelTells(t *testing.T) {
	facts := modtest.Plain(runSetup(t, nil).Facts)
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"ansible_kernel":       unix.ByteSliceToString(u.Release[:]),
		"ansible_nodename":     unix.ByteSliceToString(u.Nodename[:]),
		"ansible_system":       "Linux",
		"ansible_real_user_id": int64(os.Getuid()),
		"module_setup":         true,
	} {
		if facts[name] != want {
			t.Errorf("%s is %v, want %v", name, facts[name], want)
		}
	}
	for _, name := range []string{
		"ansible_distribution", "ansible_os_family", "ansible_date_time", "ansible_mounts", "ansible_memory_mb", "ansible_processor",
		"ansible_interfaces", "ansible_lo", "ansible_virtualization_type", "ansible_service_mgr", "ansible_pkg_mgr", "ansible_env",
	} {
		if facts[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestFilterKeepsWhatMatches(t *testing.T) {
	facts := modtest.Plain(runSetup(t, map[string]any{"filter": "ansible_user*,kernel"}).Facts)
	for name := range facts {
		if !strings.HasPrefix(name, "ansible_user") && name != "ansible_kernel" {
			t.Errorf("%s passed the filter", name)
		}
	}
	if facts["ansible_kernel"] == nil {
		t.Error("a pattern without the prefix found nothing")
	}
}

func TestLocalFacts(t *testing.T) {
	dir := t.TempDir()
	for name, f := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"json.fact":    {`{"z": 1, "a": [1, "two"]}`, 0o644},
		"ini.fact":     {"[General]\nOne = 1\ntwo: x\n  more\n[other]\nshare = 50%%\npath = /srv/%(Share)s\n", 0o644},
		"script.fact":  {"#!/bin/sh\necho '{\"from\": \"script\"}'\n", 0o755},
		"fails.fact":   {"#!/bin/sh\necho no >&2\nexit 3\n", 0o755},
		"broken.fact":  {"neither\n", 0o644},
		"percent.fact": {"[a]\nb = 50% off\n", 0o644},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(f.text), f.mode); err != nil {
			t.Fatal(err)
		}
	}
	r := runSetup(t, map[string]any{"gather_subset": "!all,!min,local", "fact_path": dir})
	local, _ := r.Facts.Get("ansible_local")
	found := modtest.Plain(local.(*value.Dict))
	want := map[string]any{"General": map[string]any{"one": "1", "two": "x\nmore"}, "other": map[string]any{"share": "50%", "path": "/srv/50%"}}
	if !reflect.DeepEqual(found["ini"], want) {
		t.Errorf("ini fact: %v", found["ini"])
	}
	for name, want := range map[string]string{"script": "{'from': 'script'}", "json": "{'z': 1, 'a': [1, 'two']}"} {
		v, _ := local.(*value.Dict).Get(name)
		if got := value.Printed(v); got != want {
			t.Errorf("%s fact: %s, want %s", name, got, want)
		}
	}
	for _, w := range []string{
		"Failure executing fact script (" + dir + "/fails.fact), rc: 3, err: no\n",
		"error loading facts as JSON or ini - please check content: " + dir + "/broken.fact",
		"error loading facts as ini - please check content: " + dir + "/percent.fact ('%' must be followed by '%' or '(', found: '% off')",
	} {
		if !slices.Contains(r.Warnings, w) {
			t.Errorf("no warning %q in %q", w, r.Warnings)
		}
	}
}

// BenchmarkSetup is a gathering by an agent that has gathered before.
func BenchmarkSetup(b *testing.B) {
	env := &modules.Env{Name: "setup", Environ: os.Environ(), Exec: modules.HostExec(os.Environ(), nil)}
	m := setup(facts.NewMemory())
	m.Run(context.Background(), env, nil)
	for b.Loop() {
		if r := m.Run(context.Background(), env, nil); r.Failed {
			b.Fatal(r.Msg)
		}
	}
}

// What is of no kind that results have is taken for text, as Go prints it.
func TestFactsArePlainValues(t *testing.T) {
	environ := os.Environ()
	env := &modules.Env{Environ: environ, Exec: modules.HostExec(environ, nil), Warn: func(string, ...any) {}}
	res := setup(facts.NewMemory()).Run(t.Context(), env, modtest.Args(map[string]any{}))
	if res.Failed {
		t.Fatalf("%+v", res)
	}
	var look func(path string, v any)
	look = func(path string, v any) {
		switch v := v.(type) {
		case string:
			if strings.HasPrefix(v, "map[") || strings.HasPrefix(v, "{") || strings.HasPrefix(v, "&{") || strings.HasPrefix(v, "0x") && len(v) > 8 {
				t.Errorf("%s is %s", path, v)
			}
		case []any:
			for _, x := range v {
				look(path+"[]", x)
			}
		case map[string]any:
			for k, x := range v {
				look(path+"."+k, x)
			}
		}
	}
	look("ansible_facts", modtest.Plain(res.Facts))
	if python, ok := modtest.Plain(res.Facts)["ansible_python"].(map[string]any); ok {
		if minor := python["version"].(map[string]any)["minor"]; reflect.TypeOf(minor) != reflect.TypeFor[int64]() {
			t.Errorf("the version of Python has a %T", minor)
		}
	}
}

func TestWrongSubsetsAreRefused(t *testing.T) {
	r := runSetup(t, map[string]any{"gather_subset": "bogus"})
	if !r.Failed || !strings.HasPrefix(r.Msg, "Bad subset 'bogus' given to Ansible. gather_subset options allowed: all, ") {
		t.Errorf("a wrong subset gave %+v", r)
	}
}
