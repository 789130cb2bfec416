package modtest

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

//go:embed warm.py
var warm string

// Python is a process that runs modules of an installed ansible-core, each in a fork.
type Python struct {
	in  io.Writer
	out *bufio.Reader
}

// PythonCall is one call of a module: its name in Python, its arguments, and the environment and directory that it has.
// A call that takes longer than Seconds, if that is not 0, is ended and has printed {"late": true}.
type PythonCall struct {
	Module  string            `json:"module"`
	Args    json.RawMessage   `json:"args"`
	Env     map[string]string `json:"env"`
	Dir     string            `json:"dir"`
	Seconds int               `json:"seconds"`
}

// StartPython starts the interpreter BESIDE_PYTHON, or that of the machine. It ends with the test.
func StartPython(t *testing.T) *Python {
	t.Helper()
	python := os.Getenv("BESIDE_PYTHON")
	if python == "" {
		python = "/usr/bin/python3"
	}
	cmd := exec.Command(python, "-c", warm)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &Python{in, bufio.NewReader(out)}
}

// Call returns what the module printed.
func (p *Python) Call(t *testing.T, c PythonCall) string {
	t.Helper()
	line, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	said, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var printed string
	if err := json.Unmarshal([]byte(said), &printed); err != nil {
		t.Fatal(err)
	}
	return printed
}
