package builtin

import (
	"path/filepath"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/shlex"
)

// makeVenv makes the virtual environment.
func (p *pip) makeVenv() error {
	given := p.args.VenvCommand
	argv, err := shlex.Split(given)
	if err != nil {
		return err
	}
	if len(argv) == 0 {
		return tool.Fail(nil, "virtualenv_command is empty")
	}
	if filepath.Base(argv[0]) == argv[0] {
		if argv[0], err = tool.Find(p.env, argv[0]); err != nil {
			return err
		}
	}
	if p.args.SitePackages {
		argv = append(argv, "--system-site-packages")
	} else {
		out, err := p.run([]string{argv[0], "--help"})
		if err != nil {
			return err
		}
		if out.Rc != 0 {
			return tool.Fail(nil, "Could not get output from %s --help: %s", argv[0], out.Stdout+out.Stderr)
		}
		if slices.Contains(strings.Fields(out.Stdout), "--no-site-packages") {
			argv = append(argv, "--no-site-packages")
		}
	}
	python := modules.Text(p.args.VenvPython)
	// -p is an option of virtualenv; what venv makes has the Python that ran it.
	if strings.Contains(given, "pyvenv") || strings.Contains(given, "-m venv") {
		if python != "" {
			return tool.Fail(nil,
				"virtualenv_python should not be used when using the venv module or pyvenv as virtualenv_command")
		}
	} else {
		if python == "" {
			python = p.python()
		}
		argv = append(argv, "-p"+python)
	}
	argv = append(argv, p.venv)
	out, err := tool.Run(p.ctx, p.env, modules.Command{Argv: argv, Dir: p.dir, Umask: p.umask})
	if err != nil {
		return err
	}
	p.stdout, p.stderr = p.stdout+out.Stdout, p.stderr+out.Stderr
	if out.Rc != 0 {
		return failed(argv, p.stdout, p.stderr)
	}
	return nil
}
