package vcs

import (
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestProgramsRunWhereTheWorkingCopyIs(t *testing.T) {
	var got []modules.Command
	h := &modtest.Host{Act: func(c modules.Command) modules.Output {
		got = append(got, c)
		if c.Argv[1] == "fail" {
			return modules.Output{Rc: 128, Stderr: []byte("no")}
		}
		return modtest.Answer("out")
	}}
	dir, umask := t.TempDir(), uint32(0o27)
	p := &Program{Ctx: t.Context(), Env: h.Env(t), Path: "/usr/bin/test-git", Environ: []string{"A=1"}, Umask: &umask}
	if out, err := p.Must(dir, "status", "-s"); err != nil || out.Stdout != "out" {
		t.Errorf("%+v, %v", out, err)
	}
	c := got[0]
	if c.Dir != dir || strings.Join(c.Argv, " ") != "/usr/bin/test-git status -s" || c.Env[len(c.Env)-1] != "A=1" ||
		c.Umask != &umask {
		t.Errorf("%+v", c)
	}
	if _, err := p.Run(filepath.Join(dir, "none"), "clone"); err != nil || got[1].Dir != "" {
		t.Errorf("a directory that is not there: %v, %q", err, got[1].Dir)
	}
	if out, err := p.Run(dir, "fail"); err != nil || out.Rc != 128 {
		t.Errorf("the exit code is the caller's to judge: %+v, %v", out, err)
	}
	if _, err := p.Must(dir, "fail"); err == nil {
		t.Error("a program that failed passes")
	}
}

func TestPathsBecomeAbsoluteWithoutFollowingLinks(t *testing.T) {
	for path, want := range map[string]string{"/a/../b": "/b", "/a/": "/a"} {
		if got := Absolute(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := Absolute("x"); !filepath.IsAbs(got) || filepath.Base(got) != "x" {
		t.Errorf("x: %s", got)
	}
}
