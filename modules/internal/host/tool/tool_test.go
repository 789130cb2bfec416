package tool

import (
	"context"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func envOf(path string) *modules.Env {
	environ := []string{"PATH=" + path}
	return &modules.Env{Environ: environ, Exec: modules.HostExec(environ, nil)}
}

func TestFindNamesWhereItLooked(t *testing.T) {
	env := envOf("/usr/bin:/bin")
	if path, err := Find(env, "sh"); err != nil || !strings.HasSuffix(path, "/sh") {
		t.Errorf("%q, %v", path, err)
	}
	_, err := Find(env, "no-such-program")
	if err == nil || !strings.HasPrefix(err.Error(), `Failed to find required executable "no-such-program" in paths: /usr/bin:/bin:`) {
		t.Errorf("%v", err)
	}
}

func TestRunTakesAMissingDirectoryForNone(t *testing.T) {
	out, err := Run(context.Background(), envOf("/usr/bin:/bin"), modules.Command{Argv: []string{"/bin/sh", "-c", "echo o; echo e >&2; exit 3"}, Dir: "/none"})
	if err != nil || out.Rc != 3 || out.Stdout != "o\n" || out.Stderr != "e\n" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestFailuresHoldWhatTheProgramLeft(t *testing.T) {
	env := envOf("/usr/bin:/bin")
	_, err := Must(t.Context(), env, modules.Command{Argv: []string{"/bin/sh", "-c", "echo ' wrong ' >&2; exit 3", "--password", "hidden", "--pass=hidden", "a b"}})
	r := modules.Failure(err)
	if !r.Failed || r.Msg != " wrong" || modtest.Entry(r, "rc") != int64(3) || modtest.Entry(r, "stderr") != " wrong \n" {
		t.Errorf("%+v", r)
	}
	if want := `/bin/sh -c 'echo '"'"' wrong '"'"' >&2; exit 3' --password '********' '--pass=********' 'a b'`; modtest.Entry(r, "cmd") != want {
		t.Errorf("the command is shown as %s", modtest.Entry(r, "cmd"))
	}
	_, err = Run(t.Context(), env, modules.Command{Argv: []string{"/none/program"}})
	if r := modules.Failure(err); modtest.Entry(r, "rc") != int64(2) || modtest.Entry(r, "cmd") != "/none/program" || !strings.Contains(r.Msg, "No such file or directory") {
		t.Errorf("%+v", r)
	}
}

// TestWordsAreExpandedAsRunCommandDoes: what comes of the words is what run_command of ansible-core 2.14.18 printed.
func TestWordsAreExpandedAsRunCommandDoes(t *testing.T) {
	environ := []string{"X=val ue", "T=~/t", "HOME=/h/me", "PATH=/usr/bin:/bin"}
	env := &modules.Env{Environ: environ, Exec: modules.HostExec(environ, nil)}
	words := []string{"printf", "%s|", "$X", "${X}y", "~/a", "a~", "", "$NOPE", "~root/b", "~nobodyknows/c", `\$X`, "$X$X", "~",
		"\xe9$X", "${X", "$", "$T", "~$X"}
	const want = `val ue|val uey|/h/me/a|a~||$NOPE|/root/b|~nobodyknows/c|\val ue|val ueval ue|/h/me|` + "\xe9" +
		`val ue|${X|$|/h/me/t|~val ue|`
	raw, err := Exec(t.Context(), env, modules.Command{Argv: words})
	if err != nil || string(raw.Stdout) != want {
		t.Errorf("%q: %v\n%q is wanted", raw.Stdout, err, want)
	}
	out, err := Run(t.Context(), env, modules.Command{Argv: words})
	if err != nil || out.Stdout != modules.Printed([]byte(want)) {
		t.Errorf("%q: %v\n%q is wanted", out.Stdout, err, want)
	}
	out, err = Run(t.Context(), env, modules.Command{Argv: []string{"printf", "%s|", "$X", "~"}, Literal: true})
	if err != nil || out.Stdout != "$X|~|" {
		t.Errorf("literally: %q: %v", out.Stdout, err)
	}
}
