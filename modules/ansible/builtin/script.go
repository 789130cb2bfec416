package builtin

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/procx"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
)

// Script runs a script of the controller on the host.
var Script = modules.Define("ansible.builtin.script", "Runs a local script on a remote node after transferring it.",
	runScript,
	modules.Is(modules.ReadsInCheck),
	modules.WithResolve(resolveScript), modules.Is(modules.StartsNoPython|modules.ReadsProgram|modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.FreeForm, m.AnyArgs = true, true
		m.Examples = "- ansible.builtin.script: setup.sh --fast\n  args: {creates: /srv/ready}\n"
		m.Returns = commandReturns()[1:4]
	}), modules.RunsPrograms)

type scriptArgs struct {
	RawParams  string  `arg:"_raw_params" doc:"The script and its arguments."`
	Creates    *string `arg:"creates" doc:"Do nothing if this path exists."`
	Removes    *string `arg:"removes" doc:"Do nothing unless this path exists."`
	Chdir      *string `arg:"chdir" doc:"Directory to run in; it must be absolute."`
	Executable *string `arg:"executable" doc:"Program to run the script with."`
	Decrypt    *bool   `arg:"decrypt" doc:"Decrypt vault files; default yes."`
	Digest     *string `arg:"hark_digest,hidden"`
	// Missing is why the session found no script: creates and removes come first.
	Missing *string `arg:"hark_missing,hidden"`
}

// resolveScript finds the script on the controller.
func resolveScript(ctx context.Context, env *modules.Env, args *value.Dict) error {
	if err := checkScript(env, args); err != nil {
		return err
	}
	if cmd, ok := value.Text(modules.Argument(args, "cmd")); ok && !modules.IsGiven(args, "_raw_params") {
		args.Put("_raw_params", cmd)
	}
	line := args.Text("_raw_params")
	words, err := shlex.Split(strings.TrimSpace(line))
	if err != nil {
		return err
	}
	if len(words) == 0 {
		args.Put("hark_missing", "no script was given")
		return nil
	}
	found, err := env.Source(ctx, "files", words[0], modules.LenientBool(modules.Argument(args, "decrypt"), true))
	switch {
	case err != nil && env.Background:
		// In Ansible no script runs in the background. Where none would here either the task fails with its words.
		env.Warn("%v", err)
		return modules.NoAsync(env.Name, env.Has(dialect.AsyncWords))
	case err != nil:
		args.Put("hark_missing", err.Error())
	case found.Dir:
		args.Put("hark_missing", found.Path+" is a directory")
	default:
		args.Put("hark_digest", found.Digest)
	}
	return nil
}

// scriptOptions are what level 2.19 takes.
type scriptOptions struct {
	RawParams  *string `arg:"_raw_params"`
	Cmd        *string `arg:"cmd"`
	Creates    *string `arg:"creates"`
	Removes    *string `arg:"removes"`
	Chdir      *string `arg:"chdir"`
	Executable *string `arg:"executable"`
}

var decodeScript = modules.Decoder[scriptOptions](modules.Rules{Exclusive: [][]string{{"_raw_params", "cmd"}},
	OneOf: [][]string{{"_raw_params", "cmd"}}})

// checkScript checks the arguments as level 2.19 does: 2.14 takes any.
func checkScript(env *modules.Env, args *value.Dict) error {
	if !env.Has(dialect.ScriptArguments) {
		return nil
	}
	if _, err := decodeScript(env.Name, args, modules.Reading{Release: env.Release}); err != nil {
		return modules.ActionCaught("", "%v", err)
	}
	return nil
}

func runScript(ctx context.Context, env *modules.Env, a scriptArgs) (modules.Result, error) {
	if path := modules.Text(a.Creates); path != "" && fsx.Exists(path) {
		return modules.Result{Skipped: true, Msg: path + " exists, matching creates option"}, nil
	}
	if path := modules.Text(a.Removes); path != "" && !fsx.Exists(path) {
		return modules.Result{Skipped: true, Msg: path + " does not exist, matching removes option"}, nil
	}
	if dir := modules.Text(a.Chdir); dir != "" && !strings.HasPrefix(dir, "/") {
		return modules.Result{},
			modules.ActionCaught("", "chdir %s must be an absolute path for a Unix-aware remote node", dir)
	}
	if a.Missing != nil {
		return modules.Result{}, modules.ActionCaught("ansible.errors.AnsibleFileNotFound: "+*a.Missing, "%s", *a.Missing)
	}
	if env.Check {
		if modules.Text(a.Creates) != "" || modules.Text(a.Removes) != "" {
			return modules.Result{Changed: true}, nil
		}
		return modules.Result{Skipped: true, Msg: "Check mode is not supported for this task."}, nil
	}
	words, err := shlex.Split(strings.TrimSpace(a.RawParams))
	if err != nil || len(words) == 0 {
		return modules.Result{}, err
	}
	dir, err := env.ScratchDir()
	if err != nil {
		return modules.Result{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, filepath.Base(words[0]))
	if err := fetch(ctx, env, modules.Text(a.Digest), file); err != nil {
		return modules.Result{}, err
	}
	// The rest of the line keeps its quotes.
	line := strings.ReplaceAll(strings.TrimSpace(a.RawParams), words[0], file)
	if a.Executable != nil && *a.Executable != "" {
		line = *a.Executable + " " + line
	}
	if a.Chdir != nil && *a.Chdir != "" {
		line = "cd " + *a.Chdir + " && " + line
	}
	res, err := lowLevel(ctx, env, modules.Command{Shell: line})
	res.Data.Delete(value.Str("changed")) // which stands first here
	if res.Failed && !env.Has(dialect.ModuleMessages) {
		res.Set("exception", "NoneType: None\n")
	}
	return res, err
}

// fetch puts a blob into a new file that can be executed.
func fetch(ctx context.Context, env *modules.Env, digest, file string) error {
	r, err := env.Open(ctx, digest)
	if err != nil {
		return err
	}
	defer r.Close()
	pulled, err := os.OpenFile(file+".part", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		pulled.Close()
		os.Remove(pulled.Name())
	}()
	if _, err := io.Copy(pulled, r); err != nil {
		return err
	}
	if _, err := pulled.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return procx.Undisturbed(func() error {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, pulled)
		return errors.Join(err, f.Close())
	})
}
