package foreign

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hark/modules"
	"hark/modules/modtest"
)

// host is a host with one Python and one module, "ansible.modules.mine".
type host struct {
	t       testing.TB
	module  *modules.Module
	python  string
	pack    []byte
	digest  string
	environ []string
	more    map[string]string // what is packed beside the module and its helper, by path
	release modules.Release   // "" is the oldest
	opened  int               // how often a pack was read
}

// newHost has a module, and ansible.module_utils.helper, which the module may import.
func newHost(t testing.TB, module, helper string) *host {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("this machine has no Python")
	}
	libs := t.TempDir()
	h := &host{
		t: t, module: All()[0], python: python,
		environ: []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "PYTHONPATH=" + libs, "LIBS=" + libs, "PYTHONDONTWRITEBYTECODE=1"},
	}
	h.take(module, helper)
	return h
}

// take gives the host another module.
func (h *host) take(module, helper string) {
	h.t.Helper()
	m, _ := json.Marshal(manifest{Style: "python", Entry: "ansible.modules.mine", Version: "2.14.18", Base: "b1"})
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	files := map[string]string{
		"manifest.json": string(m), "ansible/__init__.py": "", "ansible/modules/__init__.py": "", "ansible/module_utils/__init__.py": "",
		"ansible/module_utils/basic.py": "_ANSIBLE_ARGS = None\n", "ansible/module_utils/helper.py": helper, "ansible/modules/mine.py": module,
	}
	maps.Copy(files, h.more)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.pack, h.digest = out.Bytes(), module+helper
}

// run calls the module.
func (h *host) run(ctx context.Context, args map[string]any) map[string]any {
	h.t.Helper()
	res := h.whole(ctx, args)
	return modtest.Plain(res.Dict())
}

// whole is run with the marks of the result.
func (h *host) whole(ctx context.Context, args map[string]any) modules.Result {
	h.t.Helper()
	env := &modules.Env{
		Name: "mine", Release: h.release, Environ: h.environ, Exec: modules.HostExec(h.environ, nil), Interpreter: h.python,
		Source: func(context.Context, string, string, bool) (*modules.Source, error) {
			return &modules.Source{Digest: h.digest}, nil
		},
		Open: func(context.Context, string) (io.ReadCloser, error) {
			h.opened++
			if h.pack == nil {
				return nil, errors.New("it is nowhere")
			}
			return io.NopCloser(bytes.NewReader(h.pack)), nil
		},
		Warn: h.t.Logf,
	}
	given := modtest.Args(args)
	if err := h.module.Resolve(h.t.Context(), env, given); err != nil {
		h.t.Fatal(err)
	}
	return h.module.Run(ctx, env, given)
}

// number is a field of a result.
func number(t *testing.T, res map[string]any, key string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(fmt.Sprint(res[key]), 10, 64)
	if err != nil {
		t.Fatalf("no %s in %v", key, res)
	}
	return n
}

// telling is a module that tells where it runs and what it was given.
const telling = `import json, os, sys
from ansible.module_utils import basic, helper
args = json.loads(basic._ANSIBLE_ARGS.decode())['ANSIBLE_MODULE_ARGS']
try:
    import latecomer
    late = True
except ImportError:
    late = False
print(json.dumps(dict(pid=os.getpid(), parent=os.getppid(), helper=helper.pid, name=__name__, fqn=_module_fqn, word=args['word'], cwd=os.getcwd(),
    late=late, x=os.environ.get('X'), stdin=sys.stdin.read(), lib=os.path.exists(_modlib_path), main=sys.modules['__main__'].__spec__.name)))
raise SystemExit
`

const helping = "import os\npid = os.getpid()\n"

func TestPythonStaysForTheNextCall(t *testing.T) {
	h := newHost(t, telling, helping)
	first, second := h.run(t.Context(), map[string]any{"word": "one"}), h.run(t.Context(), map[string]any{"word": "two"})
	if number(t, first, "parent") == int64(os.Getpid()) || number(t, first, "parent") != number(t, second, "parent") {
		t.Errorf("not forked by one server: %v and %v", first, second)
	}
	if number(t, first, "pid") == number(t, second, "pid") || number(t, second, "helper") != number(t, second, "parent") {
		t.Errorf("the server has not imported for its children: %v and %v", first, second)
	}
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"pid", "parent", "helper"} {
		delete(second, key)
	}
	want := map[string]any{"changed": false, "name": "__main__", "fqn": "ansible.modules.mine", "word": "two", "cwd": cwd, "late": false, "x": nil,
		"stdin": "", "lib": true, "main": "ansible.modules.mine"}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Error(diff)
	}
}

// TestPackIsReadForTheFirstCallAlone, and again when its Python is no more: then it may be gone.
func TestPackIsReadForTheFirstCallAlone(t *testing.T) {
	h := newHost(t, telling, helping)
	first := h.run(t.Context(), map[string]any{"word": "w"})
	h.run(t.Context(), map[string]any{"word": "w"})
	if h.opened != 1 {
		t.Errorf("the pack was read %d times", h.opened)
	}
	h.pack = nil
	if res := h.run(t.Context(), map[string]any{"word": "still"}); res["word"] != "still" {
		t.Errorf("%v", res)
	}
	if err := syscall.Kill(int(number(t, first, "parent")), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	res := h.run(t.Context(), map[string]any{"word": "w"})
	if msg, _ := res["msg"].(string); res["failed"] != true || !strings.Contains(msg, "cannot read the pack of the module mine: it is nowhere") {
		t.Errorf("%v", res)
	}
}

func TestLibrariesThatCameSinceAreSeen(t *testing.T) {
	h := newHost(t, telling, helping)
	before := h.run(t.Context(), map[string]any{"word": "w"})
	libs := strings.TrimPrefix(h.environ[3], "LIBS=")
	if err := os.WriteFile(filepath.Join(libs, "latecomer.py"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	after := h.run(t.Context(), map[string]any{"word": "w"})
	if before["late"] != false || after["late"] != true || number(t, before, "parent") == number(t, after, "parent") {
		t.Errorf("%v, then %v", before, after)
	}
	if number(t, after, "parent") == int64(os.Getpid()) {
		t.Errorf("no new server: %v", after)
	}
}

// TestCallsLookAtLibrariesAnewAndNotAtTheirPack: what came into a package since is found though nothing tells that
// its directory has changed, and no call reads its pack again.
func TestCallsLookAtLibrariesAnewAndNotAtTheirPack(t *testing.T) {
	const module = `import json, os, zipimport
from ansible.module_utils import helper
try:
    import known.late
    late = True
except ImportError:
    late = False
print(json.dumps(dict(late=late, reads=helper.reads, parent=os.getppid())))
raise SystemExit
`
	const counting = `import zipimport
import known
try:
    import known.late
except ImportError:
    pass
reads = []
read = zipimport._read_directory
zipimport._read_directory = lambda archive: reads.append(archive) or read(archive)
`
	h := newHost(t, module, counting)
	dir := filepath.Join(strings.TrimPrefix(h.environ[3], "LIBS="), "known")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	add := func(name string) {
		before, err := os.Stat(dir)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), nil, 0o644)
		}
		if err == nil {
			err = os.Chtimes(dir, before.ModTime(), before.ModTime())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("__init__.py")
	before := h.run(t.Context(), map[string]any{})
	add("late.py")
	after := h.run(t.Context(), map[string]any{})
	if number(t, before, "parent") != number(t, after, "parent") {
		t.Fatalf("another server: %v, then %v", before, after)
	}
	if before["late"] != false || after["late"] != true {
		t.Errorf("%v, then %v", before, after)
	}
	for _, res := range []map[string]any{before, after} {
		if reads, _ := res["reads"].([]any); len(reads) > 0 {
			t.Errorf("packs were read again: %v", reads)
		}
	}
}

func TestAnotherEnvironmentHasAnotherServer(t *testing.T) {
	h := newHost(t, telling, helping)
	first := h.run(t.Context(), map[string]any{"word": "w"})
	h.environ = append(h.environ, "X=y")
	second := h.run(t.Context(), map[string]any{"word": "w"})
	if second["x"] != "y" || number(t, first, "helper") == number(t, second, "helper") {
		t.Errorf("%v, then %v", first, second)
	}
}

func TestServerThatIsKilledIsReplaced(t *testing.T) {
	h := newHost(t, telling, helping)
	first := h.run(t.Context(), map[string]any{"word": "w"})
	if err := syscall.Kill(int(number(t, first, "parent")), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := h.run(t.Context(), map[string]any{"word": "again"})
	if second["word"] != "again" || number(t, second, "parent") == int64(os.Getpid()) {
		t.Errorf("%v", second)
	}
}

// TestClosedModulesLeaveNoProcess: a user whose module has run can be removed as soon as the worker has ended.
func TestClosedModulesLeaveNoProcess(t *testing.T) {
	h := newHost(t, telling, helping)
	res := h.run(t.Context(), map[string]any{"word": "w"})
	h.module.Close()
	for _, of := range []string{"parent", "pid"} {
		if pid := int(number(t, res, of)); pid != os.Getpid() && syscall.Kill(pid, 0) == nil {
			t.Errorf("%s %d still lives", of, pid)
		}
	}
}

// TestServerThatHasEndedTakesNoOrders, even if nothing but the order has shown it: the next try must find another
// server.
func TestServerThatHasEndedTakesNoOrders(t *testing.T) {
	control, theirs, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	theirs.Close()
	s := &server{control: control, orders: map[int]*order{}, idle: time.NewTimer(time.Hour)}
	defer s.idle.Stop()
	if _, err := s.fork(map[string]any{}); !errors.Is(err, errCold) {
		t.Errorf("the order ended with %v", err)
	}
	if s.alive() {
		t.Error("the server is taken to be alive")
	}
}

func TestLibraryWithThreadsIsNotShared(t *testing.T) {
	h := newHost(t, telling, helping+"import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n")
	res := h.run(t.Context(), map[string]any{"word": "w"})
	if number(t, res, "parent") != int64(os.Getpid()) || number(t, res, "helper") != number(t, res, "pid") {
		t.Errorf("forked where threads run: %v", res)
	}
}

func TestEndsAreThoseOfAnInterpreter(t *testing.T) {
	cases := map[string]struct {
		module string
		want   map[string]any
	}{
		"exit code": {"import sys\nprint('no'); sys.exit(3)", map[string]any{"rc": int64(3), "module_stdout": "no\n", "module_stderr": ""}},
		"no exit": {"print('on')\nprint('{}')", map[string]any{"rc": int64(1), "module_stdout": "on\n{}\n" +
			`{"msg": "New-style module did not handle its own exit", "failed": true}` + "\n", "module_stderr": ""}},
		"exit text":   {"import sys\nsys.exit('why')", map[string]any{"rc": int64(1), "module_stdout": "", "module_stderr": "why\n"}},
		"no code":     {"raise SystemExit", map[string]any{"rc": int64(0), "module_stdout": "", "module_stderr": ""}},
		"signal":      {"import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", map[string]any{"rc": int64(137), "module_stdout": "", "module_stderr": ""}},
		"raw exit":    {"import os\nprint('lost'); os._exit(4)", map[string]any{"rc": int64(4), "module_stdout": "", "module_stderr": ""}},
		"at exit":     {"import atexit\natexit.register(lambda: print('bye'))\nraise SystemExit", map[string]any{"rc": int64(0), "module_stdout": "bye\n", "module_stderr": ""}},
		"thread":      {"import threading, time\nthreading.Thread(target=lambda: (time.sleep(.05), print('late'))).start()\nraise SystemExit", map[string]any{"rc": int64(0), "module_stdout": "late\n", "module_stderr": ""}},
		"destructors": {"class D:\n    def __del__(self):\n        import os; os.write(1, b'gone')\nd = D()\nraise SystemExit", map[string]any{"rc": int64(0), "module_stdout": "gone", "module_stderr": ""}},
		"left behind": {"import subprocess\nsubprocess.Popen(['sleep', '3'])\nprint('on')\nraise SystemExit", map[string]any{"rc": int64(0), "module_stdout": "on\n", "module_stderr": ""}},
		"broken text": {"def", nil},
		"exception":   {"raise ValueError('bad')", nil},
	}
	h := newHost(t, "", "")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h.t = t
			h.take(c.module+"\n", "")
			res := h.run(t.Context(), map[string]any{})
			if c.want == nil {
				text, _ := res["exception"].(string)
				if last := map[string]string{"broken text": "SyntaxError: ", "exception": "ValueError: bad"}[name]; !strings.Contains(text, last) {
					t.Errorf("%v", res)
				}
				return
			}
			delete(res, "msg")
			delete(res, "failed")
			c.want["changed"] = false
			if diff := cmp.Diff(c.want, res); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCancelledModuleEndsAndItsServerGoesOn(t *testing.T) {
	h := newHost(t, `import json, os, time
from ansible.module_utils import basic
args = json.loads(basic._ANSIBLE_ARGS.decode())['ANSIBLE_MODULE_ARGS']
if args['tell']:
    with open(args['tell'], 'w') as f:
        f.write('%d\n' % os.getpid())
    time.sleep(600)
print(json.dumps(dict(parent=os.getppid())))
raise SystemExit
`, "")
	before := h.run(t.Context(), map[string]any{"tell": ""})
	fifo := filepath.Join(t.TempDir(), "pid")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(fifo, os.O_RDWR|syscall.O_NONBLOCK, 0) // so that closing it ends the reader
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(pipe).ReadString('\n')
		told <- strings.TrimSpace(line)
		cancel()
	}()
	if res := h.run(ctx, map[string]any{"tell": fifo}); res["failed"] != true {
		t.Errorf("a cancelled module gave %v", res)
	}
	pipe.Close()
	if _, err := os.Stat("/proc/" + <-told); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the module still runs: %v", err)
	}
	if after := h.run(t.Context(), map[string]any{"tell": ""}); number(t, after, "parent") != number(t, before, "parent") {
		t.Errorf("%v, then %v", before, after)
	}
}

// An import may take long: whoever cancels the task does not wait for it.
func TestCancelledCallDoesNotWaitForAServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "importing")
	h := newHost(t, telling, helping+"import time\nfile = "+strconv.Quote(file)+"\nopen(file, 'w').close()\nwhile os.path.exists(file):\n    time.sleep(.01)\n")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan map[string]any)
	go func() { done <- h.run(ctx, map[string]any{"word": "w"}) }()
	for {
		if _, err := os.Stat(file); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	select {
	case res := <-done:
		if res["failed"] != true {
			t.Errorf("a cancelled module gave %v", res)
		}
	case <-time.After(answers / 2):
		t.Error("it waits until the server is given up")
	}
}

func TestServersMakeRoom(t *testing.T) {
	h := newHost(t, telling, helping)
	p := &pythons{}
	for i := range warmMost + 3 {
		environ := append(h.environ[:len(h.environ):len(h.environ)], "X="+strings.Repeat("x", i))
		w := wanted{python: []string{h.python}, environ: environ, digest: h.digest, read: func() ([]byte, error) { return h.pack, nil }, m: manifest{Entry: "ansible.modules.mine", Base: "b1"}}
		if _, err := p.ofPack(w); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.servers) > warmMost+1 {
		t.Errorf("%d servers", len(p.servers))
	}
}

func TestServersThatWereUsedAgainStay(t *testing.T) {
	start := time.Now()
	again, last, first := worth{true, start}, worth{false, start.Add(2)}, worth{false, start.Add(1)}
	if again.compare(last) <= 0 || last.compare(first) <= 0 || first.compare(again) >= 0 || first.compare(first) != 0 {
		t.Error("what is worth the least is ended first")
	}
}

// TestArgumentsAreASCII: respawn_module writes them as bytes into a program.
func TestArgumentsAreASCII(t *testing.T) {
	const module = `import json
from ansible.module_utils import basic
word = json.loads(basic._ANSIBLE_ARGS.decode('ascii'))['ANSIBLE_MODULE_ARGS']['word']
print(json.dumps(dict(word=word)))
raise SystemExit
`
	if res := newHost(t, module, "").run(t.Context(), map[string]any{"word": "ü € 😀 <&>"}); res["word"] != "ü € 😀 <&>" {
		t.Errorf("%v", res)
	}
}
