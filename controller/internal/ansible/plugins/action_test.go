package plugins

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hark/modules/py/value"
)

// standsIn is set in the environment of this program where it is run as the Python that serves action plug-ins.
const standsIn = "HARK_TEST_ACTION_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(standsIn) != "" {
		serveActions()
		return
	}
	os.Exit(m.Run())
}

// serveActions takes conversations from descriptor 0, as action.py does, and plays each in turn.
func serveActions() {
	data, oob := make([]byte, 1), make([]byte, syscall.CmsgSpace(4))
	for {
		n, oobn, _, _, err := syscall.Recvmsg(0, data, oob, 0)
		if err != nil || n == 0 {
			return
		}
		list, err := syscall.ParseSocketControlMessage(oob[:oobn])
		if err != nil {
			return
		}
		fds, err := syscall.ParseUnixRights(&list[0])
		if err != nil {
			return
		}
		conn, err := net.FileConn(os.NewFile(uintptr(fds[0]), "conversation"))
		if err != nil {
			return
		}
		_ = syscall.Close(fds[0])
		playAction(conn)
	}
}

// playAction says what the task tells it to, line by line, and takes an answer to each that asks something.
func playAction(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	fmt.Fprintf(conn, "{\"pid\": %d}\n", 1<<30)
	var about struct {
		Lines []string `json:"lines"`
	}
	if !in.Scan() || json.Unmarshal(in.Bytes(), &about) != nil {
		return
	}
	answer := "nothing"
	for _, line := range about.Lines {
		if line == "wait" {
			in.Scan()
			return
		}
		fmt.Fprintln(conn, strings.ReplaceAll(line, "ANSWER", strings.Trim(answer, `"`)))
		if strings.Contains(line, `"op": "ask`) && in.Scan() {
			raw, _ := json.Marshal(in.Text())
			answer = string(raw)
		}
	}
}

// actions are Actions whose Python is this program.
func actions(t *testing.T) *Actions {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	prefix := t.TempDir()
	home := filepath.Join(prefix, "lib", "python3.11", "site-packages")
	for _, dir := range []string{filepath.Join(home, "ansible"), filepath.Join(prefix, "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(prefix, "bin", "python3")); err != nil {
		t.Fatal(err)
	}
	t.Setenv(standsIn, "1")
	r := &Actions{Homes: []string{home}}
	t.Cleanup(r.Close)
	return r
}

// lines are what the plug-in says.
func lines(list ...string) *value.Dict {
	l := value.NewList()
	for _, line := range list {
		l.Items = append(l.Items, value.Str(line))
	}
	d := value.NewDict()
	d.Set("lines", l)
	return d
}

func TestActionPluginsAskAndTell(t *testing.T) {
	r := actions(t)
	var told []string
	a := Action{Path: "/p.py", Tell: func(warning bool, text string) { told = append(told, fmt.Sprint(warning, " ", text)) }}
	a.Ask = func(_ context.Context, op string, about json.RawMessage) (any, error) {
		switch op {
		case "ask":
			return "yes", nil
		case "ask_gone":
			return nil, &UnreachableError{"it is gone"}
		}
		return nil, errors.New("it is " + op)
	}
	for _, tc := range []struct{ line, answer string }{
		{`{"op": "ask"}`, `{"value":"yes"}`},
		{`{"op": "ask_gone"}`, `{"unreachable":"it is gone"}`},
		{`{"op": "ask_wrong"}`, `{"error":"it is ask_wrong"}`},
	} {
		a.About = lines(`{"op": "warn", "text": "mind"}`, `{"op": "say", "text": "hear"}`, tc.line, `{"over": true, "ended": true, "result": "ANSWER"}`)
		got, err := r.Run(t.Context(), a)
		var text string
		if uerr := json.Unmarshal(got.Result, &text); err != nil || uerr != nil || text != tc.answer || !got.Ended {
			t.Errorf("%s: %+v, %v, %v", tc.line, got, err, uerr)
		}
	}
	if !slices.Equal(told[:2], []string{"true mind", "false hear"}) {
		t.Errorf("told %q", told)
	}
}

func TestAnActionPluginThatEndsEarlyIsAnError(t *testing.T) {
	r := actions(t)
	for range 2 { // the next conversation goes on
		_, err := r.Run(t.Context(), Action{Path: "/p.py", About: lines()})
		if err == nil || !strings.Contains(err.Error(), "/p.py: it has ended") {
			t.Errorf("%v", err)
		}
	}
}

func TestAnActionPluginIsLeftWhenItsTimeIsOver(t *testing.T) {
	r := actions(t)
	ctx, cancel := context.WithCancel(t.Context())
	a := Action{Path: "/p.py", About: lines(`{"op": "say", "text": "waiting"}`, "wait"), Tell: func(bool, string) { cancel() }}
	if _, err := r.Run(ctx, a); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestWithoutPythonAnActionPluginSaysWhatItNeeds(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := (&Actions{}).Run(t.Context(), Action{Path: "/p.py", About: lines()})
	if err == nil || !strings.HasPrefix(err.Error(), "cannot run the action plug-in /p.py: it is written in Python and needs ansible-core on this machine: ") {
		t.Errorf("%v", err)
	}
}
