package builtin

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// clone makes the working copy.
func (g *checkout) clone() error {
	a := g.args
	parent := filepath.Dir(g.dest)
	_ = os.MkdirAll(parent, 0o777)
	argv := []string{"clone", "--origin", a.Remote}
	if a.Bare {
		argv = []string{"clone", "--bare"}
	}
	branch, err := g.isRemote(g.repo, "-h", "refs/heads/", a.Version)
	if err == nil && !branch {
		branch, err = g.isRemote(g.repo, "-t", "refs/tags/", a.Version)
	}
	if err != nil {
		return err
	}
	if a.Depth != nil && *a.Depth != 0 {
		switch {
		case a.Version == "HEAD" || modules.Text(a.Refspec) != "":
			argv = append(argv, "--depth", strconv.Itoa(*a.Depth))
		case branch:
			argv = append(argv, "--depth", strconv.Itoa(*a.Depth), "--branch", a.Version)
		default:
			g.Env.Warn(
				"Ignoring depth argument. Shallow clones are only available for HEAD, branches, tags or in combination with " +
					"refspec.")
		}
	}
	if modules.Text(a.Reference) != "" {
		argv = append(argv, "--reference", *a.Reference)
	}
	if a.SingleBranch {
		argv = append(argv, "--single-branch")
		if branch {
			argv = append(argv, "--branch", a.Version)
		}
	}
	if modules.Text(a.SeparateGitDir) != "" {
		argv = append(argv, "--separate-git-dir="+*a.SeparateGitDir)
	}
	if _, err := g.Must(parent, append(argv, g.repo, g.dest)...); err != nil {
		return err
	}
	return g.cloned()
}

// cloned completes a fresh clone.
func (g *checkout) cloned() error {
	a := g.args
	if a.Bare && a.Remote != "origin" {
		if _, err := g.Must(g.dest, "remote", "add", a.Remote, g.repo); err != nil {
			return err
		}
	}
	if refspec := modules.Text(a.Refspec); refspec != "" {
		argv := []string{"fetch"}
		if a.Depth != nil && *a.Depth != 0 {
			argv = append(argv, "--depth", strconv.Itoa(*a.Depth))
		}
		if _, err := g.Must(g.dest, append(argv, a.Remote, refspec)...); err != nil {
			return err
		}
	}
	if a.VerifyCommit {
		return g.verify()
	}
	return nil
}

// isRemote reports whether a remote has a branch (-h) or tag (-t) of a name.
func (g *checkout) isRemote(remote, kind, prefix, name string) (bool, error) {
	out, err := g.Must(g.dest, "ls-remote", remote, kind, prefix+name)
	return strings.Contains(out.Stdout, name), err
}

func (g *checkout) isBranch(remote string) (bool, error) {
	return g.isRemote(remote, "-h", "refs/heads/", g.args.Version)
}

func (g *checkout) isTag(remote string) (bool, error) {
	return g.isRemote(remote, "-t", "refs/tags/", g.args.Version)
}

// remoteHead returns the commit of the version on a remote. What is neither branch nor tag is a commit already.
func (g *checkout) remoteHead(remote string) (string, error) {
	version := g.args.Version
	dir := g.dest
	if remote == g.repo {
		dir = ""
	}
	ref := []string{"-h", "HEAD"}
	if version != "HEAD" {
		branch, err := g.isBranch(remote)
		if err != nil {
			return "", err
		}
		tag, err := g.isTag(remote)
		if err != nil {
			return "", err
		}
		switch {
		case branch:
			ref = []string{"-h", "refs/heads/" + version}
		case tag:
			ref = []string{"-t", "refs/tags/" + version + "*"}
		default:
			return version, nil
		}
	} else if remote != g.repo {
		head, err := g.headBranch()
		if err != nil {
			return "", err
		}
		if head == "" {
			head = "None" // as Ansible's module asks for a remote without a known branch
		}
		ref = []string{"-h", "refs/heads/" + head}
	}
	out, err := g.Must(dir, append([]string{"ls-remote", remote}, ref...)...)
	if err != nil {
		return "", err
	}
	if out.Stdout == "" {
		return "", out.Failf("Could not determine remote revision for %s", version)
	}
	// The commit of an annotated tag comes with ^{} behind the tag's name.
	for _, line := range strings.Split(out.Stdout, "\n") {
		if ref[0] == "-t" && strings.HasSuffix(line, version+"^{}") {
			return strings.Fields(line)[0], nil
		}
	}
	return strings.Fields(out.Stdout)[0], nil
}

// fetch gets what the version needs from the remote.
func (g *checkout) fetch(version, refspec string, force bool) error {
	if _, err := g.pointRemote(); err != nil {
		return err
	}
	argv := []string{"fetch"}
	refspecs, err := g.shallow(version, refspec)
	if err != nil {
		return err
	}
	if len(refspecs) > 0 {
		argv = append(argv, "--depth", strconv.Itoa(*g.args.Depth))
	} else {
		if g.args.Bare {
			refspecs = []string{"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"}
		} else {
			argv = append(argv, "--tags")
		}
		if refspec != "" {
			refspecs = append(refspecs, refspec)
		}
	}
	if force {
		argv = append(argv, "--force")
	}
	argv = append(append(argv, g.args.Remote), refspecs...)
	out, err := g.Run(g.dest, argv...)
	if err != nil || out.Rc == 0 {
		return err
	}
	cmd := []any{g.Path}
	for _, word := range argv {
		cmd = append(cmd, word)
	}
	return tool.Fail(value.DictOf("cmd", cmd), "Failed to download remote objects and refs: %s %s", out.Stdout, out.Stderr)
}

// shallow returns the refspecs that suffice for a fetch of some depth; none if all must be fetched.
func (g *checkout) shallow(version, refspec string) ([]string, error) {
	if g.args.Depth == nil || *g.args.Depth == 0 {
		return nil, nil
	}
	head, err := g.headBranch()
	if err != nil {
		return nil, err
	}
	if refspec != "" {
		return []string{refspec}, nil
	}
	if version == "HEAD" {
		return []string{head}, nil
	}
	branch, err := g.isRemote(g.repo, "-h", "refs/heads/", version)
	if err != nil {
		return nil, err
	}
	if branch {
		var list []string
		if head != version {
			list = append(list, "+refs/heads/"+version+":refs/heads/"+version)
		}
		return append(list, "+refs/heads/"+version+":refs/remotes/"+g.args.Remote+"/"+version), nil
	}
	tag, err := g.isRemote(g.repo, "-t", "refs/tags/", version)
	if err == nil && tag {
		return []string{"+refs/tags/" + version + ":refs/tags/" + version}, nil
	}
	return nil, err
}

// remoteURL returns the address of the remote, "" if git does not tell.
func (g *checkout) remoteURL() (string, error) {
	out, err := g.Run(g.dest, "ls-remote", "--get-url", g.args.Remote)
	if out.Rc != 0 {
		return "", err
	}
	return strings.TrimRight(out.Stdout, "\n"), err
}

// pointRemote gives the remote the repository's address; moved says that it had another.
func (g *checkout) pointRemote() (moved bool, err error) {
	url, err := g.remoteURL()
	if err != nil || url == g.repo || samePath(url, g.repo) {
		return false, err
	}
	if g.Env.Check {
		return url != "", nil
	}
	out, err := g.Run(g.dest, "remote", "set-url", g.args.Remote, g.repo)
	if err == nil && out.Rc != 0 {
		err = tool.Fail(nil, "Failed to set a new url %s for %s: %s %s", g.repo, g.args.Remote, out.Stdout, out.Stderr)
	}
	return url != "", err
}

// samePath reports whether two addresses are one path by different names.
func samePath(a, b string) bool {
	return a != "" && fsx.RealPath(a) == fsx.RealPath(b)
}

// localChanges reports whether files that git knows differ from the commit.
func (g *checkout) localChanges() (bool, error) {
	if g.args.Bare {
		return false, nil
	}
	out, err := g.Run(g.dest, "status", "--porcelain")
	for _, line := range modules.Lines(out.Stdout) {
		if !strings.HasPrefix(line.(string), "??") {
			return true, err
		}
	}
	return false, err
}

// diff adds what changed between the commits.
func (g *checkout) diff() error {
	if !g.Env.Diff {
		return nil
	}
	before := g.res.Data.Text("before")
	after := g.res.Data.Text("after")
	if before == "" {
		g.res.Diff = []modules.Diff{{Prepared: ">> Newly checked out " + after}}
		return nil
	}
	if before == after {
		return nil
	}
	if err := g.fetch(after, "", false); err != nil {
		return err
	}
	out, err := g.Run(g.dest, "diff", before, after)
	span := before + " and " + after
	prepared := ">> Failed to get proper diff between " + span
	switch {
	case out.Rc == 0 && out.Stdout != "":
		prepared = out.Stdout
	case out.Rc == 0:
		prepared = ">> No visual differences between " + span
	case out.Stderr != "":
		prepared += ":\n>> " + out.Stderr
	}
	g.res.Diff = []modules.Diff{{Prepared: prepared}}
	return err
}
