package plugins

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// fake is a runner whose Python is a shell script, found where that of an installed Ansible would be.
func fake(t *testing.T, script string) *Runner {
	t.Helper()
	prefix := t.TempDir()
	home := filepath.Join(prefix, "lib", "python3.11", "site-packages")
	for _, dir := range []string{filepath.Join(home, "ansible"), filepath.Join(prefix, "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(prefix, "bin", "python3"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	r := &Runner{Homes: []string{t.TempDir(), home}, Find: func(_, name string) (string, []string) {
		return strings.TrimPrefix(name, "a.b."), []string{"/plugins"}
	}}
	t.Cleanup(r.Close)
	return r
}

func TestWhatPluginsAnswer(t *testing.T) {
	r := fake(t, `while read -r line; do case $line in
*'"name":"good"'*) echo '{"value": {"!t": [1, "x"]}}' ;;
*'"name":"bad"'*) echo '{"error": "it is bad", "class": "AnsibleFilterError"}' ;;
*'"kind":"names"'*) echo '{"value": ["bad", "good"]}' ;;
*) echo '{"missing": true}' ;;
esac; done`)
	ctx := context.Background()
	call := func(name string) (string, error) {
		raw, err := r.Run(ctx, Call{Kind: "filter", Name: name, Args: []value.Value{value.Str("in")}, Kw: value.NewDict()})
		return string(raw), err
	}
	if got, err := call("a.b.good"); err != nil || got != `{"!t": [1, "x"]}` {
		t.Errorf("good: %s, %v", got, err)
	}
	var raised *value.Error
	if _, err := call("bad"); !errors.As(err, &raised) || raised.Type != "AnsibleFilterError" || raised.Msg != "it is bad" {
		t.Errorf("bad: %v", err)
	}
	if _, err := call("none"); !errors.Is(err, jinja.ErrNoPlugin) {
		t.Errorf("none: %v", err)
	}
	if names, err := r.Names(ctx, "filter"); err != nil || strings.Join(names, " ") != "bad good" {
		t.Errorf("names: %q, %v", names, err)
	}
}

// TestALookupAsksForHosts, and may be told nothing or why not.
func TestALookupAsksForHosts(t *testing.T) {
	r := fake(t, `read -r line; for host in a nobody broken; do echo "{\"hostvars\": \"$host\"}"; read -r said; all="$all $said"; done
printf '{"value": "%s"}\n' "$(echo "$all" | sed 's/"/\\"/g')"`)
	raw, err := r.Run(t.Context(), Call{Kind: "lookup", Name: "x", Hostvars: func(host string) (*value.Dict, error) {
		switch host {
		case "a":
			d := value.NewDict()
			d.Set("color", value.Str("red"))
			return d, nil
		case "nobody":
			return nil, nil
		}
		return nil, errors.New("no such luck")
	}})
	if err != nil || !strings.Contains(string(raw), `color`) || !strings.Contains(string(raw), `{\"value\":null}`) || !strings.Contains(string(raw), "no such luck") {
		t.Errorf("it was told %s, %v", raw, err)
	}
}

// TestPluginsRunWhileALookupWaits: what vars plug-ins say may be what it waits for.
func TestPluginsRunWhileALookupWaits(t *testing.T) {
	r := fake(t, `while read -r line; do case $line in
*'"kind":"lookup"'*) echo '{"hostvars": "a"}' ;;
*) echo '{"value": "in the end"}' ;;
esac; done`)
	beside := r.Second()
	raw, err := r.Run(t.Context(), Call{Kind: "lookup", Name: "x", Hostvars: func(string) (*value.Dict, error) {
		_, err := beside.Run(t.Context(), Call{Kind: "filter", Name: "y"})
		return nil, err
	}})
	if err != nil || string(raw) != `"in the end"` {
		t.Errorf("the lookup gave %s, %v", raw, err)
	}
	r.Close()
	if beside.process != nil {
		t.Error("the one beside it goes on")
	}
}

// TestAPluginThatHangsIsEnded: the call ends with its context, and the next one finds another Python.
func TestAPluginThatHangsIsEnded(t *testing.T) {
	r := fake(t, `while read -r line; do case $line in
*'"name":"endless"'*) exec sleep 1000 ;;
*) echo '{"value": 1}' ;;
esac; done`)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := r.Run(ctx, Call{Kind: "filter", Name: "endless"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the call ended with %v", err)
	}
	if got, err := r.Run(context.Background(), Call{Kind: "filter", Name: "quick"}); err != nil || string(got) != "1" {
		t.Errorf("the next one: %s, %v", got, err)
	}
}

// TestWhatAPluginHasStartedEndsWithIt, if the plug-in is ended before its time.
func TestWhatAPluginHasStartedEndsWithIt(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r := fake(t, `read -r line; { echo up; exec sleep 1000; } >`+fifo+` & wait`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		child, err := os.Open(fifo)
		if err == nil {
			defer child.Close()
			_, err = child.Read(make([]byte, len("up\n")))
		}
		cancel()
		if err == nil {
			_, err = io.Copy(io.Discard, child)
		}
		ended <- err
	}()
	if _, err := r.Run(ctx, Call{Kind: "filter", Name: "any"}); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("what it has started goes on")
	}
}

func TestAPythonThatEndsIsTold(t *testing.T) {
	r := fake(t, `exit 3`)
	if _, err := r.Run(context.Background(), Call{Kind: "test", Name: "any"}); err == nil || !strings.Contains(err.Error(), "cannot talk to the Python") {
		t.Errorf("the error is %v", err)
	}
}

// TestNothingIsStartedInVain: a name that can be nowhere starts no Python.
func TestNothingIsStartedInVain(t *testing.T) {
	r := fake(t, `exit 3`)
	r.Find = func(string, string) (string, []string) { return "x", nil }
	if _, err := r.Run(context.Background(), Call{Kind: "filter", Name: "x"}); !errors.Is(err, jinja.ErrNoPlugin) || r.process != nil {
		t.Errorf("the error is %v", err)
	}
	if names, err := r.Names(context.Background(), "filter"); err != nil || names != nil {
		t.Errorf("names: %q, %v", names, err)
	}
}
