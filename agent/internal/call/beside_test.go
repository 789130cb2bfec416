package call

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/modtest"
	"hark/modules/py/value"
)

type lookArgs struct {
	Path string `arg:"path"`
}

// look reads a file and asks a process where it stands.
var look = modules.Define("test.look", "", func(ctx context.Context, env *modules.Env, a lookArgs) (modules.Result, error) {
	raw, err := os.ReadFile(a.Path)
	if err != nil {
		return modules.Result{}, err
	}
	out, err := env.Exec(ctx, modules.Command{Argv: []string{"/bin/pwd"}})
	return modules.Result{Data: value.DictOf("content", string(raw), "pwd", strings.TrimSpace(string(out.Stdout)))}, err
})

func lookFrom(t *testing.T, dir, path string) modules.Result {
	env := &modules.Env{Environ: os.Environ(), Exec: modules.HostExec(os.Environ(), nil)}
	return Invocation{Module: look, Call: wire.Call{Dir: dir}, Env: env, Args: modtest.Args(map[string]any{"path": path})}.InProcess(t.Context())
}

func TestCallsStandInDirectoriesOfTheirOwn(t *testing.T) {
	before, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		dir := filepath.Join(root, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "own"), []byte(fmt.Sprint(i)), 0o644); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if r := lookFrom(t, dir, "own"); modtest.Entry(r, "content") != fmt.Sprint(i) || modtest.Entry(r, "pwd") != dir {
				t.Errorf("in %s: %+v", dir, r)
			}
		})
	}
	all.Wait()
	if after, err := os.Getwd(); after != before || err != nil {
		t.Errorf("the process stands in %s, %v", after, err)
	}
}

func TestCallWhoseDirectoryIsNotThereStandsInTheRoot(t *testing.T) {
	if r := lookFrom(t, filepath.Join(t.TempDir(), "none"), "dev/null"); r.Failed || modtest.Entry(r, "pwd") != "/" {
		t.Errorf("%+v", r)
	}
}
