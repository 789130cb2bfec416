package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"hark/modules"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
	"hark/modules/result"
)

// start is what the interpreter of a Python module begins with: the pack is on its path, the arguments come by stdin.
// Since ansible-core 2.19 a part of it, the loader, reports what a module raises.
const start = `import runpy, sys
pack, entry = sys.argv[1:3]
sys.path[:] = [pack] + [p for p in sys.path if p]
from ansible.module_utils import basic
basic._ANSIBLE_ARGS = getattr(sys.stdin, 'buffer', sys.stdin).read()
` + nameSecrets + `
if basic._ANSIBLE_ARGS.startswith(b'` + tellsSecrets + `'):
    name_secrets(basic)
if hasattr(basic, '_ANSIBLE_PROFILE'):
    basic._ANSIBLE_PROFILE = 'legacy'
try:
    from ansible.module_utils._internal._ansiballz._loader import _handle_exception as tell
except ImportError:
    tell = None
sys.argv = [entry]
try:
    runpy.run_module(entry, init_globals={'_module_fqn': entry, '_modlib_path': pack}, run_name='__main__', alter_sys=True)
    if tell:
        raise RuntimeError('New-style module did not handle its own exit.')
except Exception as e:
    if not tell:
        raise
    tell(e, 'legacy')
print('{"msg": "New-style module did not handle its own exit", "failed": true}')
sys.exit(1)
`

// tellsSecrets is what the arguments begin with for a module that is to name its secrets.
const tellsSecrets = `{"HARK_SECRETS": true`

// nameSecrets has a module leave the values of secret arguments in its result and name them beside it, for whoever
// shows the result to hide, as modules of ansible-core 2.22 do: those of an older one would take them out, and nobody
// else would know them. What modules log is without them at all levels.
const nameSecrets = `def name_secrets(basic):
    if not hasattr(basic, 'remove_values') or hasattr(basic, '_secret_masker'):
        return
    remove = basic.remove_values
    def named(result, secrets):
        if not isinstance(result, dict):
            return remove(result, secrets)
        names = [s if isinstance(s, str) else s.decode('utf-8', 'replace') for s in secrets]
        return dict(result, ` + result.NewSecrets + `=names)
    basic.remove_values = named
`

// python runs a module of the style that imports ansible.module_utils.
func (c *call) python(ctx context.Context, p *pythons, w wanted) (modules.Output, error) {
	// Nothing but ASCII: a module that respawns writes them into a program, as bytes.
	told := value.NewDict()
	if c.env.Redacts() {
		told.Set("HARK_SECRETS", value.Bool(true))
	}
	told.Set("ANSIBLE_MODULE_ARGS", c.args)
	stdin := []byte(value.JSONText(told, value.JSONOptions{ASCII: true}))
	if w.python = c.env.PythonCommand(); len(w.python) == 0 {
		w.python = []string{"/usr/bin/python3"} // that it is missing is for the result to say
	}
	c.program = w.python[0]
	if w.m.Base != "" && c.env.Getenv("HARK_JOB") == "" { // a job is alone in its process
		out, err := c.exec(ctx, modules.Command{Argv: w.with(c.m.Entry), Stdin: stdin, Fork: p.fork(ctx, w)})
		if !errors.Is(err, errCold) {
			return out, err
		}
	}
	pack, err := w.read()
	if err != nil {
		return modules.Output{}, fmt.Errorf("cannot read the pack of the module %s: %w", c.env.Name, err)
	}
	file := filepath.Join(c.dir, "pack.zip")
	if err := os.WriteFile(file, pack, 0o600); err != nil {
		return modules.Output{}, err
	}
	return c.exec(ctx, modules.Command{Argv: w.with("-c", start, file, c.m.Entry), Stdin: stdin})
}

// file runs a module that is a file: a script, or a program.
func (c *call) file(ctx context.Context, read func() ([]byte, error)) (modules.Output, error) {
	pack, err := read()
	if err != nil {
		return modules.Output{}, fmt.Errorf("cannot read the pack of the module %s: %w", c.env.Name, err)
	}
	text, err := member(pack, c.m.Entry)
	if err != nil {
		return modules.Output{}, err
	}
	raw := []byte(value.JSONText(c.args, value.JSONOptions{ASCII: true}))
	var argv []string
	if c.m.Style == "json_args" {
		text = c.filledIn(text, raw)
	} else {
		if c.m.Style == "old" {
			raw = pairs(c.args)
		}
		file := filepath.Join(c.dir, "args")
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			return modules.Output{}, err
		}
		argv = []string{file}
	}
	if c.m.Style != "binary" && !bytes.HasPrefix(text, []byte("#!")) {
		return modules.Output{}, modules.Raise("module (%s) is missing interpreter line", c.env.Name)
	}
	file := filepath.Join(c.dir, "AnsiballZ_"+lastName(c.env.Name))
	if err := os.WriteFile(file, text, 0o700); err != nil {
		return modules.Output{}, err
	}
	return c.exec(ctx, modules.Command{Argv: append(c.interpreter(text, file), argv...)})
}

// filledIn returns a script with what Ansible writes into such scripts: the arguments, as JSON or as Python writes
// that, and more.
func (c *call) filledIn(text, args []byte) []byte {
	for _, known := range [][2]string{
		{`"<<ANSIBLE_VERSION>>"`, value.ReprText(c.m.Version)},
		{`"<<INCLUDE_ANSIBLE_MODULE_COMPLEX_ARGS>>"`, value.ReprBytes(string(args))},
		{"<<SELINUX_SPECIAL_FILESYSTEMS>>", strings.Join(specialFilesystems, ",")},
		{"<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>", string(args)},
	} {
		text = bytes.ReplaceAll(text, []byte(known[0]), []byte(known[1]))
	}
	return text
}

// exec runs the process. An interpreter that is not there, or not to be run, is told as a shell would, for the result
// to say.
func (c *call) exec(ctx context.Context, cmd modules.Command) (modules.Output, error) {
	c.program = cmd.Argv[0]
	out, err := c.env.Exec(ctx, cmd)
	var start *modules.StartError
	if !errors.As(err, &start) {
		return out, err
	}
	rc, why := 127, "not found"
	if start.Errno == syscall.EACCES {
		rc, why = 126, "Permission denied"
	}
	return modules.Output{Rc: rc, Stderr: []byte("/bin/sh: 1: " + cmd.Argv[0] + ": " + why + "\n")}, nil
}

// interpreter returns the command that runs a script: its first line says which, but Python is the host's.
func (c *call) interpreter(text []byte, file string) []string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	words := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	if !bytes.HasPrefix(line, []byte("#!")) || len(words) == 0 {
		return []string{file}
	}
	if named, err := shlex.Split(c.settings.Text(interpreterOf + filepath.Base(words[0]))); err == nil && len(named) > 0 {
		return append(append(named, words[1:]...), file)
	}
	if name := filepath.Base(words[len(words)-1]); strings.HasPrefix(name, "python") {
		if python := c.env.PythonCommand(); len(python) > 0 {
			return append(python, file)
		}
	}
	return append(words, file)
}

// pairs returns the arguments for modules of the oldest style.
func pairs(args *value.Dict) []byte {
	list := make([]string, 0, args.Len())
	args.Each(func(k, v value.Value) bool {
		list = append(list, value.Printed(k)+"="+shlex.Quote(value.Printed(v))+" ")
		return true
	})
	sort.Strings(list)
	var b strings.Builder
	for _, pair := range list {
		b.WriteString(pair)
	}
	return []byte(b.String())
}

func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
