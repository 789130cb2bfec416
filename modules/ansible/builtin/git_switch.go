package builtin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// repositoryOf returns where the repository of a working copy lies: .git, or what a file of that name points to.
func repositoryOf(dest string, bare bool) (string, error) {
	path := filepath.Join(dest, ".git")
	if bare {
		path = dest
	}
	if !fsx.IsFile(path) {
		return path, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	before, dir, found := strings.Cut(strings.TrimRight(string(raw), " \t\r\n"), "gitdir: ")
	switch {
	case !found:
		return "", errors.New("not enough values to unpack (expected 2, got 1)")
	case before != "":
		return "", errors.New(".git file has invalid git dir reference format")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(dest, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", dir)
	}
	return dir, nil
}

// branches returns the lines in which git lists the branches; that of the current one begins with "* ".
func (g *checkout) branches() ([]string, error) {
	out, err := g.Run(g.dest, "branch", "--no-color", "-a")
	if err == nil && out.Rc != 0 {
		return nil, tool.Fail(value.DictOf("stdout", out.Stdout, "stderr", out.Stderr),
			"Could not determine branch data - received %s", out.Stdout)
	}
	var list []string
	for _, line := range strings.Split(out.Stdout, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list, err
}

// headBranch returns the branch that is checked out; with none, that of the remote.
func (g *checkout) headBranch() (string, error) {
	dir, err := repositoryOf(g.dest, g.args.Bare)
	if err != nil {
		return "", badReference(err)
	}
	list, err := g.branches()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "HEAD")
	for _, line := range list {
		loose := strings.Contains(line, "no branch") || strings.Contains(line, "detached from") ||
			strings.Contains(line, "detached at")
		if strings.HasPrefix(line, "* ") && loose {
			file = filepath.Join(dir, "refs", "remotes", g.args.Remote, "HEAD")
		}
	}
	raw, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", tool.Fail(nil, "Unable to read %s", file)
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	line = strings.Replace(line, "refs/remotes/"+g.args.Remote, "", 1)
	words := strings.Split(line, " ")
	parts := strings.SplitN(words[len(words)-1], "/", 3)
	return parts[len(parts)-1], nil
}

// switchVersion checks the version out.
func (g *checkout) switchVersion() error {
	version, label := g.args.Version, g.args.Version
	var argv []string
	if version == "HEAD" {
		branch, err := g.headBranch()
		if err != nil {
			return err
		}
		label = "branch " + branch
		out, err := g.Run(g.dest, "checkout", "--force", branch)
		if err != nil || out.Rc != 0 {
			return orFailed(err, out, "Failed to checkout branch %s", branch)
		}
		argv = []string{"reset", "--hard", g.args.Remote + "/" + branch, "--"}
	} else {
		var err error
		if argv, err = g.reach(version); err != nil {
			return err
		}
	}
	out, err := g.Run(g.dest, argv...)
	if err != nil {
		return err
	}
	if out.Rc != 0 {
		data := out.Data()
		data.Put("cmd", strings.Join(append([]string{g.Path}, argv...), " "))
		return tool.Fail(data, "Failed to checkout %s", label)
	}
	if g.args.VerifyCommit {
		return g.verify()
	}
	return nil
}

func orFailed(err error, out tool.Output, format string, a ...any) error {
	if err != nil {
		return err
	}
	return out.Failf(format, a...)
}

// reach returns the last command on the way to a version.
func (g *checkout) reach(version string) ([]string, error) {
	branch, err := g.isBranch(g.args.Remote)
	if err != nil {
		return nil, err
	}
	if !branch {
		return []string{"checkout", "--force", version}, nil
	}
	list, err := g.branches()
	if err != nil {
		return nil, err
	}
	local := slices.Contains(list, version) || slices.Contains(list, "* "+version)
	if !local && g.args.Depth != nil && *g.args.Depth != 0 {
		// A shallow clone has one branch only.
		out, err := g.Run(g.dest, "fetch", "--depth="+strconv.Itoa(*g.args.Depth), g.args.Remote,
			"+refs/heads/"+version+":refs/heads/"+version, "+refs/heads/"+version+":refs/remotes/"+g.args.Remote+"/"+version)
		if err != nil || out.Rc != 0 {
			return nil, orFailed(err, out, "Failed to fetch branch from remote: %s", version)
		}
		local = true
	}
	if !local {
		return []string{"checkout", "--track", "-b", version, g.args.Remote + "/" + version}, nil
	}
	out, err := g.Run(g.dest, "checkout", "--force", version)
	if err != nil || out.Rc != 0 {
		return nil, orFailed(err, out, "Failed to checkout branch %s", version)
	}
	return []string{"reset", "--hard", g.args.Remote + "/" + version}, nil
}

// verify demands a good signature of the version.
func (g *checkout) verify() error {
	version := g.args.Version
	tags, err := g.Run(g.dest, "for-each-ref", "refs/tags/", "--format", "%(objecttype):%(refname:short)")
	if err != nil {
		return err
	}
	if tags.Rc != 0 {
		return tool.Fail(value.DictOf("stdout", tags.Stdout, "stderr", tags.Stderr),
			"Could not determine tag data - received %s", tags.Stdout)
	}
	argv := []string{"verify-commit", version}
	if slices.Contains(strings.Split(tags.Stdout, "\n"), "tag:"+version) {
		argv[0] = "verify-tag"
	}
	allowed := slices.Concat(g.args.Fingerprints, g.args.Allowed)
	if len(allowed) > 0 {
		argv = append(argv, "--raw")
	}
	out, err := g.Run(g.dest, argv...)
	if err != nil || out.Rc != 0 {
		return orFailed(err, out, `Failed to verify GPG signature of commit/tag "%s"`, version)
	}
	if len(allowed) == 0 {
		return nil
	}
	signer := signerOf(out.Stderr)
	if !slices.Contains(allowed, signer) {
		return out.Failf(`The gpg_whitelist does not include the public key "%s" for this commit`, signer)
	}
	return nil
}

// signerOf returns the fingerprint of the primary key in what gpg tells (VALIDSIG in GnuPG's doc/DETAILS).
func signerOf(status string) string {
	for _, line := range strings.Split(status, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) < 3 || words[1] != "VALIDSIG":
		case len(words) == 12:
			return words[11]
		default:
			return words[2]
		}
	}
	return "None"
}

// bringSubmodules updates the submodules if they are not what the version wants; changed is true then.
func (g *checkout) bringSubmodules() (changed bool, err error) {
	raw, err := os.ReadFile(filepath.Join(g.dest, ".gitmodules"))
	if err != nil {
		return false, nil
	}
	if changed = g.lacksSubmodule(string(raw)); !changed {
		if changed, err = g.submodulesMoved(); err != nil || !changed {
			return false, err
		}
	}
	g.res.Set("submodules_changed", true)
	if _, err := g.Must(g.dest, "submodule", "sync"); err != nil {
		return true, err
	}
	argv := []string{"submodule", "update", "--init", "--recursive"}
	if g.args.TrackSubmodules {
		argv = append(argv, "--remote")
	}
	if g.args.Force {
		argv = append(argv, "--force")
	}
	out, err := g.Run(g.dest, argv...)
	if err == nil && out.Rc != 0 {
		err = tool.Fail(nil, "Failed to init/update submodules: %s%s", out.Stdout, out.Stderr)
	}
	return true, err
}

func (g *checkout) lacksSubmodule(gitmodules string) bool {
	for _, line := range strings.Split(gitmodules, "\n") {
		key, path, ok := strings.Cut(line, "=")
		if ok && strings.TrimSpace(key) == "path" && !fsx.Exists(filepath.Join(g.dest, strings.TrimSpace(path), ".git")) {
			return true
		}
	}
	return false
}

func (g *checkout) submodulesMoved() (bool, error) {
	begin, err := g.submoduleHeads("HEAD")
	if err != nil {
		return false, err
	}
	if _, err := g.Must(g.dest, "submodule", "foreach", g.Path, "fetch"); err != nil {
		return false, err
	}
	if g.args.TrackSubmodules {
		now, err := g.submoduleHeads(g.args.Remote + "/master")
		return err == nil && begin != now, err
	}
	out, err := g.Must(g.dest, "submodule", "status")
	for _, line := range modules.Lines(out.Stdout) {
		if !strings.HasPrefix(line.(string), " ") {
			return true, err
		}
	}
	return false, err
}

// submoduleHeads returns what a name stands for in each submodule.
func (g *checkout) submoduleHeads(ref string) (string, error) {
	out, err := g.Run(g.dest, "submodule", "foreach", g.Path, "rev-parse", ref)
	if err == nil && out.Rc != 0 {
		return "", out.Failf("Unable to determine hashes of submodules")
	}
	return out.Stdout, err
}
