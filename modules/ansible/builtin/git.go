package builtin

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/vcs"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type gitArgs struct {
	Dest             *string     `arg:"dest,type=path" doc:"Directory of the working copy; needed unless clone is false."`
	Repo             string      `arg:"repo,required,alias=name" doc:"Address of the repository, or its path on the host."`
	Version          string      `arg:"version,default=HEAD" doc:"Branch, tag or commit to check out."`
	Remote           string      `arg:"remote,default=origin" doc:"Name of the remote."`
	Refspec          *string     `arg:"refspec" doc:"A further refspec to fetch, as of a commit that no branch has."`
	Reference        *string     `arg:"reference" doc:"Repository on the host to borrow objects from."`
	Force            bool        `arg:"force,default=no" doc:"Throw away changes in the working copy."`
	Depth            *int        `arg:"depth" doc:"How many commits of history to fetch."`
	Clone            bool        `arg:"clone,default=yes" doc:"Whether to clone if there is nothing at dest."`
	Update           bool        `arg:"update,default=yes" doc:"Whether to fetch new commits."`
	VerifyCommit     bool        `arg:"verify_commit,default=no" doc:"Demand a good GPG signature of the version."`
	Fingerprints     []string    `arg:"gpg_whitelist,until=2.17,default=" doc:"Fingerprints that may have signed it."`
	Allowed          []string    `arg:"gpg_allowlist,since=2.17,default=" doc:"The same, by the name of newer releases."`
	AcceptHostkey    bool        `arg:"accept_hostkey,default=no" doc:"Accept any host key of the server."`
	AcceptNewHostkey bool        `arg:"accept_newhostkey,default=no" doc:"Accept the host key of a server that is not known."`
	KeyFile          *string     `arg:"key_file,type=path" doc:"Private key on the host to use with ssh."`
	SSHOpts          *string     `arg:"ssh_opts" doc:"More options of ssh."`
	Executable       *string     `arg:"executable,type=path" doc:"The git program."`
	Bare             bool        `arg:"bare,default=no" doc:"Make a bare repository."`
	Recursive        bool        `arg:"recursive,default=yes" doc:"Whether to check out submodules."`
	SingleBranch     bool        `arg:"single_branch,default=no" doc:"Fetch only the history of the version."`
	TrackSubmodules  bool        `arg:"track_submodules,default=no" doc:"Move submodules to the newest commit of their branch."`
	Umask            value.Value `arg:"umask" doc:"Umask of what git writes, as octal text."`
	Archive          *string     `arg:"archive,type=path" doc:"File to pack the tree into: .zip, .tar, .gz or .tgz."`
	ArchivePrefix    *string     `arg:"archive_prefix" doc:"What to put before each name in the archive."`
	SeparateGitDir   *string     `arg:"separate_git_dir,type=path" doc:"Where the repository itself lies, apart from the working copy."`
}

// Git is ansible.builtin.git.
var Git = modules.Define("ansible.builtin.git", "Deploy software (or files) from git checkouts", runGit,
	modules.Operands("repo", "version", "remote", "refspec", "dest"),
	modules.StartsInCheck("git"),
	modules.WithRules(modules.Rules{
		Exclusive: [][]string{{"separate_git_dir", "bare"}, {"accept_hostkey", "accept_newhostkey"}},
		By:        map[string][]string{"archive_prefix": {"archive"}},
	}),
	modules.From(dialect.ModuleOptions219, func(s *modules.Spec) {
		if !s.Release.Has(dialect.OptionsGone221) {
			s.Param("gpg_allowlist").Renamed("gpg_whitelist", "2.21")
		}
	}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.git:
    repo: https://git.example.org/app.git
    dest: /srv/app
    version: v1.4
- ansible.builtin.git: {repo: /srv/git/app.git, dest: /srv/app, clone: false, update: false}
`
		m.Returns = []modules.Return{
			{Name: "before", Type: "str", When: "always", Doc: "The commit that was checked out, null if there was none."},
			{Name: "after", Type: "str", When: "always", Doc: "The commit that is checked out."},
			{Name: "remote_url_changed", Type: "bool", When: "there was a working copy",
				Doc: "Whether the remote had another address."},
			{Name: "submodules_changed", Type: "bool", When: "submodules were updated", Doc: "True."},
		}
	}), modules.RunsPrograms, modules.Programs("executable", "ssh_opts", "key_file"))

// checkout is one call of the module.
type checkout struct {
	vcs.Program
	args gitArgs
	dest string
	repo string
	dir  string // the repository itself: dest/.git, or elsewhere
	res  modules.Result
}

func runGit(ctx context.Context, env *modules.Env, a gitArgs) (modules.Result, error) {
	g := &checkout{args: a, res: modules.Result{Data: value.NewDict()}}
	g.Ctx, g.Env = ctx, env
	if err := g.prepare(); err != nil {
		return modules.Result{}, err
	}
	done, err := g.bring()
	if err == nil && !done {
		err = g.archive()
	}
	return g.res, err
}

func (g *checkout) prepare() error {
	a := g.args
	g.Path = modules.Text(a.Executable)
	if g.Path == "" {
		var err error
		if g.Path, err = tool.Find(g.Env, "git"); err != nil {
			return err
		}
	}
	if err := g.setUmask(); err != nil {
		return err
	}
	g.repo = a.Repo
	if home := g.Env.Getenv("HOME"); g.repo == "~" || strings.HasPrefix(g.repo, "~/") && home != "" {
		g.repo = home + g.repo[1:]
	}
	if strings.HasPrefix(g.repo, "/") {
		g.repo = "file://" + g.repo
	} else {
		g.repo = a.Repo
	}
	g.Environ = append(tool.Plain(), g.ssh())
	if modules.Text(a.Dest) == "" {
		if a.Clone {
			return tool.Fail(nil, "the destination directory must be specified unless clone=no")
		}
		return nil
	}
	g.dest = vcs.Absolute(*a.Dest)
	return g.findRepository()
}

func (g *checkout) setUmask() error {
	if g.args.Umask == nil {
		return nil
	}
	given, ok := value.Text(g.args.Umask)
	if !ok {
		return tool.Fail(nil, "umask must be defined as a quoted octal integer")
	}
	bits, err := strconv.ParseUint(given, 8, 12)
	if err != nil {
		return tool.Fail(value.DictOf("details", "invalid literal for int() with base 8: "+modules.Repr(given)),
			"umask must be an octal integer")
	}
	mask := uint32(bits)
	g.Umask = &mask
	return nil
}

// ssh returns the variable that tells git how to call ssh, without any question to the user.
func (g *checkout) ssh() string {
	a := g.args
	opts := g.Env.Getenv("GIT_SSH_OPTS")
	if a.SSHOpts != nil {
		opts += " " + *a.SSHOpts
	}
	add := func(option, mark string) {
		if !strings.Contains(opts, mark) {
			opts += " " + option
		}
	}
	switch {
	case a.AcceptHostkey && !strings.Contains(opts, "StrictHostKeyChecking=accept-new"):
		add("-o StrictHostKeyChecking=no", "StrictHostKeyChecking=no")
	case a.AcceptNewHostkey && !strings.Contains(opts, "StrictHostKeyChecking=no"):
		add("-o StrictHostKeyChecking=accept-new", "StrictHostKeyChecking=accept-new")
	}
	add("-o BatchMode=yes", "BatchMode=yes")
	if key := modules.Text(a.KeyFile); key != "" {
		add(" -i "+key, "-i "+key)
		add("-o IdentitiesOnly=yes", "IdentitiesOnly=yes")
	}
	program := "ssh"
	for _, name := range []string{"GIT_SSH", "GIT_SSH_COMMAND"} {
		if given := g.Env.Getenv(name); given != "" {
			program = given
			break
		}
	}
	return "GIT_SSH_COMMAND=" + program + " " + opts
}

// findRepository finds where the repository of the working copy lies, and moves it to separate_git_dir.
func (g *checkout) findRepository() error {
	dir, err := repositoryOf(g.dest, g.args.Bare)
	if err != nil {
		return badReference(err)
	}
	g.dir = dir
	apart := modules.Text(g.args.SeparateGitDir)
	if apart == "" {
		return nil
	}
	apart = fsx.RealPath(apart)
	g.args.SeparateGitDir = &apart
	if !fsx.Exists(dir) || apart == dir {
		return nil
	}
	g.res.Changed = true
	if g.Env.Check {
		return nil
	}
	g.dir = apart
	return g.relocate(dir, apart)
}

func badReference(err error) error {
	return tool.Fail(value.DictOf("details", err.Error()),
		"Current repo does not have a valid reference to a separate Git dir or it refers to the invalid path")
}

func (g *checkout) relocate(from, to string) error {
	if fsx.Exists(to) {
		return tool.Fail(nil, "Separate-git-dir path %s already exists.", to)
	}
	if err := os.Rename(from, to); err != nil {
		return tool.Fail(nil, "Unable to move git dir. %v", err)
	}
	if err := fsx.WriteFile(filepath.Join(g.dest, ".git"), []byte("gitdir: "+to), false); err != nil {
		_ = os.Rename(to, from)
		return tool.Fail(nil, "Unable to move git dir. %v", err)
	}
	g.res.Set("git_dir_before", from)
	g.res.Set("git_dir_now", to)
	return nil
}

// bring brings the working copy into the wanted state. It is done when nothing is left to do, not even an archive.
func (g *checkout) bring() (done bool, err error) {
	g.res.Set("before", nil)
	switch {
	case g.dest == "" || !fsx.Exists(filepath.Join(g.dir, "config")):
		if g.Env.Check || !g.args.Clone {
			return true, g.foretell(g.repo)
		}
		if err := g.clone(); err != nil {
			return true, err
		}
	case !g.args.Update:
		return g.keep()
	default:
		done, err := g.update()
		if done || err != nil {
			return true, err
		}
	}
	return false, g.checkOut()
}

// foretell returns what a remote has, for those who do not fetch it.
func (g *checkout) foretell(remote string) error {
	head, err := g.remoteHead(remote)
	if err != nil {
		return err
	}
	changed := g.res.Data.Text("before") != head || g.res.Data.True("remote_url_changed")
	g.res.Changed = changed
	g.res.Data.Put("after", head)
	return g.diff()
}

func (g *checkout) keep() (done bool, err error) {
	at, err := g.head("HEAD")
	g.res.Set("before", at)
	g.res.Set("after", at)
	if err == nil && modules.Text(g.args.Archive) != "" && g.Env.Check {
		g.res.Changed = true
		return true, nil
	}
	return false, err
}

// update fetches into a working copy that is there.
func (g *checkout) update() (done bool, err error) {
	local, err := g.localChanges()
	if err != nil {
		return true, err
	}
	at, err := g.head("HEAD")
	if err != nil {
		return true, err
	}
	g.res.Set("before", at)
	if local {
		if !g.args.Force {
			return true, tool.Fail(g.res.Data, "Local modifications exist in the destination: %s (force=no).", g.dest)
		}
		if !g.Env.Check {
			if _, err := g.Must(g.dest, "reset", "--hard", "HEAD"); err != nil {
				return true, err
			}
			g.res.Changed, g.res.Msg = true, "Local modifications exist in the destination: "+g.dest
		}
	}
	moved, err := g.pointRemote()
	if err != nil {
		return true, err
	}
	g.res.Set("remote_url_changed", moved)
	if g.Env.Check {
		return true, g.foretell(g.args.Remote)
	}
	return false, g.fetch(g.args.Version, modules.Text(g.args.Refspec), g.args.Force)
}

// checkOut checks the version out, with its submodules, and notes what changed.
func (g *checkout) checkOut() error {
	submodules := false
	if !g.args.Bare {
		if err := g.switchVersion(); err != nil {
			return err
		}
		if g.args.Recursive {
			var err error
			if submodules, err = g.bringSubmodules(); err != nil {
				return err
			}
		}
	}
	after, err := g.head("HEAD")
	if err != nil {
		return err
	}
	g.res.Set("after", after)
	if g.res.Data.Text("before") != after || submodules || g.res.Data.True("remote_url_changed") {
		g.res.Changed = true
	}
	if g.res.Changed {
		return g.diff()
	}
	return nil
}

// head returns the commit that a name stands for in the working copy.
func (g *checkout) head(ref string) (string, error) {
	out, err := g.Run(g.dest, "rev-parse", ref)
	return strings.TrimRight(out.Stdout, "\n"), err
}
