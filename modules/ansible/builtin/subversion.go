package builtin

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/vcs"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type subversionArgs struct {
	Dest       *string `arg:"dest,type=path" doc:"Directory of the working copy; needed unless checkout, update and export are all false."`
	Repo       string  `arg:"repo,required,alias=name|repository" doc:"Address of the repository."`
	Revision   string  `arg:"revision,default=HEAD,alias=rev|version" doc:"The revision."`
	Force      bool    `arg:"force,default=no" doc:"Throw away changes in the working copy."`
	Username   *string `arg:"username" doc:"Whom to log in as."`
	Password   *string `arg:"password,nolog" doc:"The password; given to svn on its standard input from 1.10 on."`
	Executable *string `arg:"executable,type=path" doc:"The svn program."`
	Export     bool    `arg:"export,default=no" doc:"Export the files instead of making a working copy."`
	Checkout   bool    `arg:"checkout,default=yes" doc:"Whether to check out if there is nothing at dest."`
	Update     bool    `arg:"update,default=yes" doc:"Whether to fetch new revisions."`
	Switch     bool    `arg:"switch,default=yes" doc:"Whether to switch the working copy to the address first."`
	InPlace    bool    `arg:"in_place,default=no" doc:"Check out over a directory that is no working copy."`
	Validate   bool    `arg:"validate_certs,default=no" doc:"Whether the server's certificate must be good."`
}

// Subversion is ansible.builtin.subversion.
var Subversion = modules.Define("ansible.builtin.subversion", "Deploys a subversion repository", runSubversion,
	modules.Operands("repo", "dest"),
	modules.StartsInCheck("svn"),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.subversion:
    repo: svn+ssh://svn.example.org/app/trunk
    dest: /srv/app
- ansible.builtin.subversion: {repo: https://svn.example.org/app/trunk, dest: /srv/export, export: true, revision: 1234}
`
		m.Returns = []modules.Return{
			{Name: "before", Type: "list", When: "there was a working copy",
				Doc: "Its revision and address, as svn prints them."},
			{Name: "after", Type: "list", When: "there is a working copy", Doc: "Its revision and address now."},
		}
	}), modules.RunsPrograms, modules.Programs("executable"))

// workingCopy is one call of the module.
type workingCopy struct {
	vcs.Program
	args subversionArgs
	dest string
}

func runSubversion(ctx context.Context, env *modules.Env, a subversionArgs) (modules.Result, error) {
	w := &workingCopy{args: a, dest: modules.Text(a.Dest)}
	w.Ctx, w.Env, w.Path = ctx, env, modules.Text(a.Executable)
	w.Environ = []string{"LANG=C.UTF-8", "LC_MESSAGES=C.UTF-8"}
	if w.Path == "" {
		var err error
		if w.Path, err = tool.Find(env, "svn"); err != nil {
			return modules.Result{}, err
		}
	}
	if w.dest == "" && (a.Checkout || a.Update || a.Export) {
		return modules.Fail("the destination directory must be specified unless checkout=no, update=no, and export=no")
	}
	switch {
	case !a.Export && !a.Update && !a.Checkout:
		info, err := w.svn("info", a.Repo)
		return modules.Result{Data: value.DictOf("after", revisionOf(info, "remote revision"))}, err
	case a.Export || !fsx.Exists(w.dest):
		return w.fresh()
	}
	out, err := w.call("info", w.dest)
	switch {
	case err != nil:
		return modules.Result{}, err
	case out.Rc == 0:
		return w.update()
	case a.InPlace:
		return w.over()
	}
	return modules.Fail("ERROR: %s folder already exists, but its not a subversion repository.", w.dest)
}

// call runs svn without any question to the user.
func (w *workingCopy) call(args ...string) (tool.Output, error) {
	argv := []string{w.Path, "--non-interactive", "--no-auth-cache"}
	if !w.args.Validate {
		argv = append(argv, "--trust-server-cert")
	}
	if user := modules.Text(w.args.Username); user != "" {
		argv = append(argv, "--username", user)
	}
	c := modules.Command{Env: w.Environ}
	if password := modules.Text(w.args.Password); password != "" {
		version, err := w.Must("", "--version", "--quiet")
		if err != nil {
			return tool.Output{}, err
		}
		if readsPassword(version.Stdout) {
			argv = append(argv, "--password-from-stdin")
			c.Stdin = []byte(password + "\n")
		} else {
			w.Env.Warn("The authentication provided will be used on the svn command line and is not secure. " +
				"To securely pass credentials, upgrade svn to version 1.10.0 or greater.")
			argv = append(argv, "--password", password)
		}
	}
	c.Argv = append(argv, args...)
	return tool.Run(w.Ctx, w.Env, c)
}

// readsPassword reports whether this version of svn, 1.10 or newer, takes a password on its standard input.
func readsPassword(version string) bool {
	major, rest, _ := strings.Cut(strings.TrimSpace(version), ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return a > 1 || a == 1 && b >= 10
}

// svn is call for what must succeed; it gives the output.
func (w *workingCopy) svn(args ...string) (string, error) {
	out, err := w.call(args...)
	if err == nil {
		err = out.Check()
	}
	return out.Stdout, err
}

// fresh checks out or exports to where nothing is, or nothing that matters.
func (w *workingCopy) fresh() (modules.Result, error) {
	a := w.args
	switch {
	case w.Env.Check:
		return modules.Result{Changed: true}, nil
	case a.Export:
		argv := []string{"export", "-r", a.Revision, a.Repo, w.dest}
		if a.Force {
			argv = []string{"export", "--force", "-r", a.Revision, a.Repo, w.dest}
		}
		_, err := w.svn(argv...)
		return modules.Result{Changed: true}, err
	case !a.Checkout:
		return modules.Result{}, nil
	}
	if _, err := w.svn("checkout", "-r", a.Revision, a.Repo, w.dest); err != nil {
		return modules.Result{}, err
	}
	return w.told(true, nil)
}

// over checks out over files that are there.
func (w *workingCopy) over() (modules.Result, error) {
	if w.Env.Check {
		return modules.Result{Changed: true}, nil
	}
	if _, err := w.svn("checkout", "--force", "-r", w.args.Revision, w.args.Repo, w.dest); err != nil {
		return modules.Result{}, err
	}
	local, err := w.localChanges()
	if err == nil && local && w.args.Force {
		_, err = w.svn("revert", "-R", w.dest)
	}
	if err != nil {
		return modules.Result{}, err
	}
	return w.told(true, nil)
}

const svnModified = "ERROR: modified files exist in the repository."

// update brings a working copy to the revision. Changes are looked for before the switch, which would hide them.
func (w *workingCopy) update() (modules.Result, error) {
	a := w.args
	if !a.Update {
		return modules.Result{}, nil
	}
	local, err := w.localChanges()
	if err != nil {
		return modules.Result{}, err
	}
	if w.Env.Check {
		if local && !a.Force {
			return modules.Fail(svnModified)
		}
		return w.foretell()
	}
	before, err := w.revision()
	if err != nil {
		return modules.Result{}, err
	}
	changed := local
	steps := [][]string{{"update", "-r", a.Revision, w.dest}}
	if local {
		steps = append([][]string{{"revert", "-R", w.dest}}, steps...)
	}
	if a.Switch {
		steps = append([][]string{{"switch", "--revision", a.Revision, a.Repo, w.dest}}, steps...)
	}
	for _, argv := range steps {
		if argv[0] == "revert" && !a.Force {
			return modules.Fail(svnModified)
		}
		out, err := w.svn(argv...)
		if err != nil {
			return modules.Result{}, err
		}
		changed = changed || argv[0] != "revert" && fileLine().MatchString(out)
	}
	return w.told(changed, before)
}

// fileLine is a line about a file that svn changed.
var fileLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ABDUCGE]\s`) })

func (w *workingCopy) told(changed bool, before any) (modules.Result, error) {
	after, err := w.revision()
	return modules.Result{Changed: changed, Data: value.DictOf("before", before, "after", after)}, err
}

func (w *workingCopy) foretell() (modules.Result, error) {
	info, err := w.svn("info", w.dest)
	if err != nil {
		return modules.Result{}, err
	}
	there, err := w.svn("info", "-r", w.args.Revision, w.dest)
	now, then := revisionOf(info, "revision"), revisionOf(there, "revision")
	return modules.Result{Changed: revisionNumber(now) < revisionNumber(then),
		Data: value.DictOf("before", now, "after", then)}, err
}

func (w *workingCopy) localChanges() (bool, error) {
	out, err := w.svn("status", "--quiet", "--ignore-externals", w.dest)
	for _, line := range strings.Split(out, "\n") {
		if line != "" && line[0] != '?' && line[0] != 'X' {
			return true, err
		}
	}
	return false, err
}

var (
	revisionLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[\pL\pN_]+\s?:\s+\d+$`) })
	urlLine      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^URL\s?:.*$`) })
)

// revision returns the revision and the address of the working copy, as svn prints them.
func (w *workingCopy) revision() (any, error) {
	info, err := w.svn("info", w.dest)
	url := urlLine().FindString(info)
	if url == "" {
		url = "Unable to get URL"
	}
	return []any{revisionOf(info, "revision"), url}, err
}

func revisionOf(info, what string) string {
	if line := revisionLine().FindString(info); line != "" {
		return line
	}
	return "Unable to get " + what
}

func revisionNumber(line string) int {
	_, text, _ := strings.Cut(line, ":")
	n, _ := strconv.Atoi(strings.TrimSpace(text))
	return n
}
