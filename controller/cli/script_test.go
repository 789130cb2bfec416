package cli_test

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hark/controller/cli"
)

// TestMain lets the scripts call every front end by its name.
func TestMain(m *testing.M) {
	run := func() {
		if code, inner := cli.Inner(os.Args, os.Stdin, os.Stdout, os.Stderr); inner {
			os.Exit(code)
		}
		s := cli.ThisSystem()
		s.NoTTY = true
		os.Exit(cli.Main(context.Background(), s))
	}
	commands := map[string]func(){}
	for _, name := range []string{"hark", "ansible", "ansible-playbook", "ansible-inventory", "ansible-vault", "ansible-config", "ansible-doc", "ansible-pull", "ansible-galaxy", "ansible-console"} {
		commands[name] = run
	}
	testscript.Main(m, commands)
}

// The scripts under testdata call the commands as users do. Where they compare output, it is what Ansible
// 2.14.18 prints for the same command.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:         "testdata",
		WorkdirRoot: t.TempDir(), // its own stays when a part of the scripts is run, or one fails
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("HARK_HOME", e.WorkDir+"/.hark")
			e.Setenv("ANSIBLE_NOCOLOR", "1")
			e.Setenv("HARK_ANSIBLE", "2.14") // whatever is installed
			return nil
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
