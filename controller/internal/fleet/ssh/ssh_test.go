package ssh

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fake is a client whose ssh is a script that tells how it was called.
func fake(t *testing.T, script string) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestCommandsCarryWhatTheTargetSays(t *testing.T) {
	c := fake(t, `printf '%s\n' "$@"; cat`)
	out, err := c.Run(context.Background(), Target{
		Host: "web1", User: "deploy", Port: 2222, KeyFile: "/k y", Args: []string{"-o", "ControlPersist=60s", "-J", "jump"}, AnyKey: true, Timeout: 7e9,
	}, "uname -m", strings.NewReader("input"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(out, "\n")
	for _, want := range []string{"-J", "jump", "Port=2222", `IdentityFile="/k y"`, `User="deploy"`, "StrictHostKeyChecking=no", "ConnectTimeout=7",
		"PasswordAuthentication=no", `ControlPath="` + c.dir.Path + `/%C"`, "uname -m", "input"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if i := slices.Index(got, "--"); i < 0 || got[i+1] != "web1" {
		t.Errorf("the host does not stand after --: %q", got)
	}
}

// TestOptionsStandInAnsiblesOrder: the first value of an option counts, so common and extra arguments give way to all
// others, as in ansible-core's plug-in ssh (a client of the test printed its arguments).
func TestOptionsStandInAnsiblesOrder(t *testing.T) {
	c := fake(t, `printf '%s\n' "$@"`)
	out, err := c.Run(t.Context(), Target{
		Host: "web1", User: "bob", Port: 2201, AnyKey: true, Timeout: 7e9, KeyFile: "k", ControlPath: "/run/%h",
		Args:     []string{"-o", "ControlMaster=auto", "-o", "ControlPersist=60s"},
		LastArgs: []string{"-o", "StrictHostKeyChecking=yes", "-o", "Port=22", "-o", "User=eve"},
	}, "true", nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); strings.Contains(line, "=") {
			got = append(got, line)
		}
	}
	want := []string{
		"ControlMaster=auto", "ControlPersist=60s", "StrictHostKeyChecking=no", "Port=2201", `IdentityFile="k"`, "KbdInteractiveAuthentication=no",
		"PreferredAuthentications=gssapi-with-mic,gssapi-keyex,hostbased,publickey", "PasswordAuthentication=no", `User="bob"`, "ConnectTimeout=7",
		"StrictHostKeyChecking=yes", "Port=22", "User=eve", `ControlPath="/run/%h"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestPasswordsGoThroughAskpass(t *testing.T) {
	c := fake(t, `"$SSH_ASKPASS" "deploy's password:"; case "$*" in *s3cret*) echo shown;; esac; echo "$SSH_ASKPASS_REQUIRE"`)
	out, err := c.Run(context.Background(), Target{Host: "web1", Password: "s3cret 'x' %s"}, "true", nil)
	if err != nil || out != "s3cret 'x' %s\nforce\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestPasswordIsForTheQuestionThatIsMeant(t *testing.T) {
	c := fake(t, `"$SSH_ASKPASS" "Are you sure you want to continue connecting?" || echo "no: $?"; "$SSH_ASKPASS" "Enter PIN for card:"`)
	out, err := c.Run(context.Background(), Target{Host: "web1", Password: "s3cret", Provider: "/lib/card.so"}, "true", nil)
	if out != "no: 1\ns3cret\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	if out, err = fake(t, `"$SSH_ASKPASS" "Token of deploy:"`).Run(context.Background(), Target{Host: "web1", Password: "s3cret", Prompt: "Token"}, "true", nil); out != "s3cret\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestSharedConnectionsLieWhereTheUserWants(t *testing.T) {
	c := fake(t, `printf '%s\n' "$@"`)
	out, err := c.Run(context.Background(), Target{Host: "web1", Args: []string{"-o", "ControlPersist=60s"}, ControlPath: "/run/a b/%h"}, "true", nil)
	if err != nil || !slices.Contains(strings.Split(out, "\n"), `ControlPath="/run/a b/%h"`) {
		t.Errorf("%q, %v", out, err)
	}
}

func TestHostsThatCannotBeReachedAreTriedAgain(t *testing.T) {
	tries := filepath.Join(t.TempDir(), "tries")
	c := fake(t, `echo x >>`+tries+`; [ "$(wc -l <`+tries+`)" -gt 1 ] || exit 255; cat`)
	out, err := c.Reach(context.Background(), Target{Host: "web1", Retries: 3}, "true", "said")
	if out != "said" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

func TestFailuresTellWhetherTheHostWasReached(t *testing.T) {
	for script, want := range map[string]Error{
		"echo 'Connection refused' >&2; exit 255": {Unreachable: true, Text: "Failed to connect to the host via ssh: Connection refused"},
		"exit 255":                         {Unreachable: true, Text: "Failed to connect to the host via ssh: ssh ended without saying why"},
		"echo 'No space left' >&2; exit 1": {Text: "No space left"},
	} {
		_, err := fake(t, script).Run(context.Background(), Target{Host: "x"}, "true", nil)
		var e *Error
		if !errors.As(err, &e) || *e != want {
			t.Errorf("%s: %v, want %v", script, err, want)
		}
	}
}

// TestAHostThatPrintsWithoutEnd: it is an error, and the command is ended.
func TestAHostThatPrintsWithoutEnd(t *testing.T) {
	for name, script := range map[string]string{"output": "exec yes", "errors": "exec yes >&2"} {
		c := fake(t, script)
		out, err := c.Run(t.Context(), Target{Host: "web1"}, "uname", nil)
		if err == nil || !strings.Contains(err.Error(), "printed more than") {
			t.Errorf("%s: %v", name, err)
		}
		if len(out) > maxOutput {
			t.Errorf("%s: %d bytes were kept", name, len(out))
		}
	}
}

// TestAClientAloneSharesNoConnections, but for those that the user said where to share.
func TestAClientAloneSharesNoConnections(t *testing.T) {
	c := fake(t, `printf '%s\n' "$@"`)
	c.Alone = true
	shared := []string{"-o", "ControlMaster=auto", "-o", "ControlPersist=60s"}
	for want, target := range map[string]Target{
		"ControlPath=none":      {Host: "web1", Args: shared},
		`ControlPath="/run/%h"`: {Host: "web1", Args: shared, ControlPath: "/run/%h"},
	} {
		out, err := c.Run(t.Context(), target, "true", nil)
		_, after, ok := strings.Cut(out, want)
		if err != nil || !ok || strings.Contains(after, "ControlPath") {
			t.Errorf("%s: %q, %v", want, out, err)
		}
	}
}

// What goes over is packed or sealed: to compress it once more takes a fifth of the time in which an agent is sent.
func TestNothingIsCompressedTwice(t *testing.T) {
	c := fake(t, `printf '%s\n' "$@"`)
	out, err := c.Run(context.Background(), Target{Host: "web1", Args: []string{"-C", "-o", "ControlMaster=auto"}}, "true", nil)
	if args := strings.Split(out, "\n"); err != nil || slices.Contains(args, "-C") || !slices.Contains(args, "ControlMaster=auto") {
		t.Errorf("%q, %v", out, err)
	}
}
