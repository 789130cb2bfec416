package builtin

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/cwd"
	"hark/modules/py/value"
)

// TempFile makes a temporary file or directory.
var TempFile = modules.Define("ansible.builtin.tempfile", "Creates temporary files and directories.", runTempFile,
	modules.With(func(m *modules.Module) {
		m.NoCheck = true
		m.Examples = "- ansible.builtin.tempfile: {state: directory, suffix: build}\n  register: tmp\n"
		m.Returns = []modules.Return{{Name: "path", Type: "str", When: "success", Doc: "What was made."}}
	}))

type tempFileArgs struct {
	State  string  `arg:"state,default=file,choices=file|directory" doc:"What to make."`
	Path   *string `arg:"path,type=path" doc:"Where; default the system's directory."`
	Prefix string  `arg:"prefix,default=ansible." doc:"Start of its name."`
	Suffix string  `arg:"suffix,default=" doc:"End of its name."`
}

func runTempFile(_ context.Context, env *modules.Env, a tempFileArgs) (modules.Result, error) {
	dir := modules.Text(a.Path)
	if dir == "" {
		dir = tempDir(env)
	}
	dir, err := cwd.Abs(dir)
	if err != nil {
		return modules.Result{}, err
	}
	for {
		path := fsx.JoinPath(dir, a.Prefix+randomWord()+a.Suffix) // a slash at the end stays, and is an error
		err := a.make(path)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			msg := oserr.Path(err, path)
			return modules.Result{}, fsx.Failed(msg, "exception", oserr.Class(err)+": "+msg)
		}
		return modules.Result{Changed: true, Data: value.DictOf("path", path)}, nil
	}
}

func (a *tempFileArgs) make(path string) error {
	if a.State == "directory" {
		return hostfs.Mkdir(path, 0o700)
	}
	f, err := hostfs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// tempDir returns where Python would put it: TMPDIR, TEMP, TMP, or the usual places.
func tempDir(env *modules.Env) string {
	for _, dir := range []string{env.Getenv("TMPDIR"), env.Getenv("TEMP"), env.Getenv("TMP"), "/tmp", "/var/tmp",
		"/usr/tmp"} {
		if dir != "" && fsx.IsDir(dir) && fsx.Writable(dir) {
			return dir
		}
	}
	return "."
}

// randomWord is eight characters as Python's tempfile has them.
func randomWord() string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789_"
	b := make([]byte, 8)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
}
