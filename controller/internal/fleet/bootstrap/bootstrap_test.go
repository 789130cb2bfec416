package bootstrap_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/ssh"
	"hark/modules/dialect"
)

// TestMain lets the test's own binary play the agent that is uploaded.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "setup" {
		playSetup()
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "ephemeral" {
		playEphemeral()
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "version" {
		return
	}
	os.Exit(m.Run())
}

// playSetup does as HARK_TEST_SETUP says, and notes the verdict in HARK_TEST_NOTE.
func playSetup() {
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	mode, note := os.Getenv("HARK_TEST_SETUP"), os.Getenv("HARK_TEST_NOTE")
	if mode == "asks" {
		fmt.Fprintln(os.Stderr, "Sorry, try again.")
		_, _ = in.ReadString(0) // for ever, as sudo does
		return
	}
	fmt.Println("Welcome to this host!")
	_ = out.Encode(wire.SetupReady{V: 1})
	var s wire.Setup
	for s.V == 0 {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		_ = json.Unmarshal(line, &s)
	}
	if mode == "refuses" {
		_ = out.Encode(wire.SetupKeys{Err: "no root"})
		return
	}
	_ = out.Encode(wire.SetupKeys{Key: os.Getenv("HARK_TEST_KEY"), Version: "v1", Unchanged: mode == "unchanged"})
	var g wire.SetupGrant
	read(in, &g)
	if g.Done {
		return
	}
	if mode == "breaks" {
		_ = out.Encode(wire.SetupResult{Err: "no space left on " + s.Name})
		return
	}
	_ = out.Encode(wire.SetupResult{Did: []string{"binary"}})
	var v wire.SetupVerdict
	read(in, &v)
	_ = os.WriteFile(note, fmt.Appendf(nil, "%s %s %t", s.Name, g.JWT, v.Commit), 0o600)
	_ = out.Encode(wire.SetupResult{Did: []string{"binary"}})
}

func read(in *bufio.Reader, into any) {
	line, _ := in.ReadBytes('\n')
	_ = json.Unmarshal(line, into)
}

func TestHostsEndInstalledOrAsTheyWere(t *testing.T) {
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	binaries := own()
	for mode, tt := range map[string]struct {
		deaf    error // why nothing is heard of the agent
		barred  error // why it is not let in
		changed bool
		err     string
		verdict string
	}{
		"installs":  {changed: true, verdict: "web1 jwt true"},
		"unchanged": {},
		"silent": {deaf: errors.New("no answer"),
			err:     "was installed and not heard of at the broker (no answer), so it was taken away again",
			verdict: "web1 jwt false"},
		"barred": {barred: errors.New("not he"), err: "was installed and not let in (not he), so it was taken away again",
			verdict: "web1 jwt false"},
		"refuses": {err: "no root"},
		"breaks":  {err: "no space left on web1"},
		"asks":    {err: "the become password is wrong: Sorry, try again."},
	} {
		t.Run(mode, func(t *testing.T) {
			note := filepath.Join(t.TempDir(), "note")
			t.Setenv("HARK_TEST_SETUP", mode)
			t.Setenv("HARK_TEST_NOTE", note)
			t.Setenv("HARK_TEST_KEY", id.Key)
			t.Setenv("TMPDIR", t.TempDir())
			known := ""
			r := one(t, bootstrap.Config{
				Binaries: binaries,
				Grant: func(_ context.Context, name string, k wire.SetupKeys) (wire.SetupGrant, error) {
					return wire.SetupGrant{JWT: "jwt"}, nil
				},
				Heard: func(context.Context, string) error { return tt.deaf },
				Enrol: func(_ context.Context, name string, k wire.SetupKeys) error { known = name + k.Key; return tt.barred },
			}, bootstrap.Host{Name: "web1"})
			if r.Changed != tt.changed || !strings.Contains(r.Err, tt.err) || (r.Err == "") != (tt.err == "") || r.Unreachable {
				t.Errorf("%+v", r)
			}
			verdict, _ := os.ReadFile(note)
			if string(verdict) != tt.verdict {
				t.Errorf("the setup was told %q, want %q", verdict, tt.verdict)
			}
			if want := "web1" + id.Key; tt.err == "" && known != want || tt.deaf != nil && known != "" {
				t.Errorf("let in was %q", known)
			}
			if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), ".hark-*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestHostsThatCannotBeTriedSayWhy(t *testing.T) {
	r := one(t, bootstrap.Config{}, bootstrap.Host{Name: "web1", Err: errors.New("no such variable")})
	if r.Err != "no such variable" {
		t.Errorf("%+v", r)
	}
	r = one(t, bootstrap.Config{Binaries: &bootstrap.Binaries{Paths: []string{"/dev/null"}}}, bootstrap.Host{Name: "web1"})
	if !strings.Contains(r.Err, "there is no hark-agent for linux/") {
		t.Errorf("%+v", r)
	}
}

// one works on a host that is this machine, through an ssh that runs the command here.
func one(t *testing.T, cfg bootstrap.Config, h bootstrap.Host) bootstrap.Result {
	t.Helper()
	fake := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nfor c; do :; done\nexec sh -c \"$c\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	client, err := ssh.Open(fake)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	cfg.Client, cfg.Forks, cfg.Limit = client, 1, time.Minute
	cfg.Setup.V = 1
	cfg.Progress = func(string, string) {}
	var results []bootstrap.Result
	bootstrap.Run(context.Background(), cfg, []bootstrap.Host{h},
		func(r bootstrap.Result) { results = append(results, r) })
	if len(results) != 1 || results[0].Host != h.Name {
		t.Fatalf("%+v", results)
	}
	return results[0]
}

func TestBecomeCommandsAreWhatProgramsTake(t *testing.T) {
	sudo := func(as dialect.RunAs) bootstrap.Become {
		as.Method = "sudo"
		return bootstrap.Become{On: true, RunAs: as}
	}
	for _, tt := range []struct {
		b    bootstrap.Become
		uid  string
		want string
	}{
		{sudo(dialect.RunAs{}), "0", "a 'b c'"},
		{bootstrap.Become{}, "1000", "a 'b c'"},
		{sudo(dialect.RunAs{Flags: "-E"}), "1000", "sudo -E -n -u root -- a 'b c'"},
		{sudo(dialect.RunAs{Password: "x", Exe: "/opt/sudo"}), "1000", "/opt/sudo -H -S -p '' -u root -- a 'b c'"},
		{bootstrap.Become{On: true, RunAs: dialect.RunAs{Method: "su", User: "adm"}}, "1000",
			`su adm -s /bin/sh -c 'exec a '"'"'b c'"'"''`},
	} {
		if got, err := tt.b.Command(tt.uid, []string{"a", "b c"}); err != nil || got != tt.want {
			t.Errorf("%+v: %s, %v; want %s", tt.b, got, err, tt.want)
		}
	}
}

// Bootstrap starts the setup by every method that starts a program, or says why it cannot.
func TestBootstrapTakesEveryBecomeMethod(t *testing.T) {
	for _, m := range dialect.Methods() {
		as := dialect.RunAs{Method: m.FullName(), Exe: "/opt/become", Flags: "-x"}
		got, err := bootstrap.Become{On: true, RunAs: as}.Command("1000", []string{"/the/agent", "setup"})
		if m.Always || !m.Runs() {
			if err == nil {
				t.Errorf("%s is taken: %s", m.Name, got)
			}
			continue
		}
		program := "/opt/become "
		if !m.Has(dialect.BecomeExe) {
			program = m.Exe + " "
		}
		if err != nil || !strings.HasPrefix(got, program) || !strings.Contains(got, "-x") ||
			!strings.Contains(got, "/the/agent setup") {
			t.Errorf("%s runs %s, %v", m.Name, got, err)
		}
	}
}
