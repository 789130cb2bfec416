// Package connection does for the action plug-ins of the controller, which are written in Python, what in Ansible a
// connection does: it runs commands and moves files, piece by piece.
package connection

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"

	"hark/modules"
	"hark/modules/py/value"
)

// Name is the full name of the one module of this package.
const Name = "hark.builtin.connection"

// All returns the modules of this package.
func All() []*modules.Module { return []*modules.Module{Connection} }

// Connection is what a plug-in has of its host. It works in check mode too: it is for the plug-in to know what
// changes things.
var Connection = modules.Define(Name, "Runs commands and moves files for action plug-ins.", run,
	modules.With(func(m *modules.Module) { m.Foreign = true }), modules.RunsPrograms)

type args struct {
	Do   string  `arg:"do,required,choices=exec|put|fetch,hidden"`
	Cmd  *string `arg:"cmd,hidden"`
	Path *string `arg:"path,hidden"`
	// Data is the input of a command, or a piece of a file, in base64.
	Data   *string `arg:"data,hidden"`
	More   bool    `arg:"more,default=no,hidden"` // the piece is not the first
	Offset int64   `arg:"offset,default=0,hidden"`
	Size   int64   `arg:"size,default=0,hidden"`
}

// maxPiece is the largest piece of a file, in bytes.
const maxPiece = 4 << 20

func run(ctx context.Context, env *modules.Env, a args) (modules.Result, error) {
	data, err := base64.StdEncoding.DecodeString(modules.Text(a.Data))
	if err != nil {
		return modules.Result{}, fmt.Errorf("cannot read the data: %w", err)
	}
	switch a.Do {
	case "exec":
		return execute(ctx, env, modules.Text(a.Cmd), data)
	case "put":
		return modules.Result{}, put(modules.Text(a.Path), data, a.More)
	}
	return fetch(modules.Text(a.Path), a.Offset, min(max(a.Size, 0), maxPiece))
}

func execute(ctx context.Context, env *modules.Env, line string, stdin []byte) (modules.Result, error) {
	out, err := env.Exec(ctx, modules.Command{Argv: []string{"/bin/sh", "-c", line}, Stdin: stdin})
	if err != nil {
		return modules.Result{}, err
	}
	return modules.Result{Data: value.DictOf("rc", int64(out.Rc), "out", armour(out.Stdout), "err", armour(out.Stderr))},
		nil
}

func armour(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// put writes a piece of a file, which is made with the first.
func put(path string, data []byte, more bool) error {
	flags := os.O_WRONLY | os.O_APPEND
	if !more {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// fetch reads a piece of a file; one shorter than asked for is the last.
func fetch(path string, offset, size int64) (modules.Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return modules.Result{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, offset, size))
	return modules.Result{Data: value.DictOf("data", armour(data))}, err
}
