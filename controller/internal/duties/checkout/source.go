// Package checkout has a project as it is now: a directory, or a branch of a git repository, of which only signed
// tags may count. It gives every state of the project a name, its commit, and a directory to play it from. It does
// not look at what is in the project.
package checkout

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Project is where a project comes from. Now is called from one goroutine at a time, Dir and Keep from any.
type Project struct {
	dir string // of a project that is a directory

	url, branch string
	state       string // for what is fetched
	keyring     string // of those whose tags count, "" for all commits
	names       string // pattern of the names of tags that count, "" for all
	git         func(ctx context.Context, environ []string, args ...string) (string, error)

	mu     sync.Mutex
	needed []string // commits that are not removed; guarded by mu
}

// shortCommit is how much of a git commit's name is used.
const shortCommit = 12

// Open takes a directory, or a git repository as URL#branch, "" being its HEAD. What is fetched or copied lies in the
// state directory, from which a directory that is away for a while is played too. With a keyring, a file of public
// keys as gpg exports them, only tags that one of them has signed count.
func Open(where, state, keyring string) (*Project, error) {
	p, err := parse(where, keyring)
	if err != nil && filepath.IsAbs(where) && keyring == "" {
		if known := (&Project{dir: filepath.Clean(where), state: state}); known.known() {
			return known, nil
		}
	}
	if err != nil {
		return nil, err
	}
	p.state = state
	if p.dir != "" {
		return p, nil
	}
	return p, os.MkdirAll(state, 0o700)
}

// Only has only those signed tags count whose names match a pattern, as path.Match has it; "" is all. The signature
// covers the name, and not the repository: the same people may sign tags of other projects, whose commits somebody
// could push here.
func (p *Project) Only(names string) error {
	p.names = names
	return CheckNames(p.keyring, names)
}

// CheckNames returns what Only would say.
func CheckNames(keyring, names string) error {
	if names == "" {
		return nil
	}
	if keyring == "" {
		return errors.New("names of tags count only where tags are verified")
	}
	if _, err := path.Match(names, ""); err != nil {
		return fmt.Errorf("%q is no pattern of names", names)
	}
	return nil
}

// known reports whether states of a directory were copied before.
func (p *Project) known() bool {
	dirs, err := filepath.Glob(p.place(dirMark + "*"))
	return err == nil && len(dirs) > 0
}

// State returns where the states of a keeper's project lie in HARK_HOME.
func State(home string) string { return filepath.Join(home, "keeper") }

// Root returns the state of a project in a HARK_HOME that a directory lies in, "" for none.
func Root(home, dir string) string {
	rel, err := filepath.Rel(State(home), dir)
	if err != nil || dir == "" || !filepath.IsLocal(rel) {
		return ""
	}
	first, _, _ := strings.Cut(rel, string(filepath.Separator))
	if !strings.HasPrefix(first, placeMark) {
		return ""
	}
	return filepath.Join(State(home), first)
}

// fileScheme begins the URL of a repository on this machine.
const fileScheme = "file://"

// Repository returns the directory of a repository on this machine, an absolute path. It returns "" for others, and for
// a project that is a directory.
func Repository(where string) string {
	p, err := parse(where, "")
	if err != nil || p.dir != "" || !strings.HasPrefix(p.url, fileScheme) {
		return ""
	}
	return strings.TrimPrefix(p.url, fileScheme)
}

// Probe returns the arguments with which git asks a project's repository for its branch, nil for a directory. Who runs
// them learns whether that user can fetch the project: it prints the commit, or nothing if there is no such branch.
func Probe(where string) []string {
	p, err := parse(where, "")
	if err != nil || p.dir != "" {
		return nil
	}
	args := append([]string{"ls-remote", "--quiet"}, p.uploadPack()...)
	head := "HEAD"
	if p.branch != "" {
		head = "refs/heads/" + p.branch
	}
	return append(args, "--", p.url, head)
}

// Check returns what Open would say to a project, as far as it can be told without fetching.
func Check(where, keyring string) error {
	_, err := parse(where, keyring)
	return err
}

func parse(where, keyring string) (*Project, error) {
	p := &Project{keyring: keyring}
	p.git = p.run
	if info, err := os.Stat(where); err == nil && info.IsDir() {
		if keyring != "" {
			return nil, errors.New("only a git URL has signed tags; a directory is taken as it is")
		}
		dir, err := filepath.EvalSymlinks(where)
		if err == nil {
			p.dir, err = filepath.Abs(dir)
		}
		return p, err
	}
	p.url, p.branch, _ = strings.Cut(where, "#")
	if info, err := os.Stat(p.url); err == nil && info.IsDir() { // DIR#BRANCH
		dir, err := filepath.Abs(p.url)
		if err != nil {
			return nil, err
		}
		p.url = fileScheme + dir
	}
	if !strings.Contains(p.url, ":") {
		return nil, fmt.Errorf("the project %q is neither a directory nor the URL of a git repository", where)
	}
	if strings.HasPrefix(p.url, "-") || strings.HasPrefix(p.branch, "-") || strings.Contains(p.url, "::") {
		return nil, fmt.Errorf("%q is no URL of a git repository", where)
	}
	if keyring != "" {
		if _, err := os.Stat(keyring); err != nil {
			return nil, fmt.Errorf("cannot read the keyring: %w", err)
		}
	}
	return p, nil
}

// Now returns the project as it is: its commit, and a directory in which it lies.
func (p *Project) Now(ctx context.Context) (commit, dir string, err error) {
	if p.dir != "" {
		return p.snapshot()
	}
	commit, err = p.fetch(ctx)
	if err != nil {
		return "", "", err
	}
	dir, err = p.checkOut(ctx, commit)
	return commit[:shortCommit], dir, err
}

// Dir returns where a commit lies, false if it does no longer.
func (p *Project) Dir(commit string) (string, bool) {
	dir := p.place(commit)
	_, err := os.Stat(dir)
	return dir, err == nil
}

func (p *Project) place(commit string) string { return filepath.Join(p.state, placeMark+commit) }

// placeMark begins the names of the directories of commits.
const placeMark = "at-"

// dirMark begins the names of states of directories.
const dirMark = "dir-"

// Digest names the state of a directory, as Now does, and takes no copy.
func Digest(dir string) (commit, root string, err error) {
	p, err := parse(dir, "")
	if err != nil {
		return "", "", err
	}
	commit, err = p.digest()
	return commit, p.dir, err
}

// digest names a directory by the names, sizes and times of its files.
func (p *Project) digest() (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != p.dir && (strings.HasPrefix(d.Name(), ".") || path == p.state):
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(d.Name(), ".retry"):
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // just now
			return nil
		}
		if err == nil {
			fmt.Fprintf(sum, "%s\x00%d\x00%d\x00%o\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("cannot read the project: %w", err)
	}
	return dirMark + hex.EncodeToString(sum.Sum(nil)[:4]), nil
}

func (p *Project) mirror() string { return filepath.Join(p.state, "mirror.git") }

// fetchLimit is how long a fetch may take.
const fetchLimit = 5 * time.Minute

// fetch brings what is new, and gives the commit that counts.
func (p *Project) fetch(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	if _, err := os.Stat(p.mirror()); err != nil {
		args := append([]string{"clone", "--quiet", "--mirror"}, p.uploadPack()...)
		if _, err := p.git(ctx, nil, append(args, "--", p.url, p.mirror())...); err != nil {
			_ = os.RemoveAll(p.mirror()) // half a clone is none
			return "", fmt.Errorf("cannot fetch the project: %w", err)
		}
	} else {
		args := append([]string{"--git-dir", p.mirror(), "fetch", "--quiet", "--prune"}, p.uploadPack()...)
		if _, err := p.git(ctx, nil, append(args, "origin")...); err != nil {
			return "", fmt.Errorf("cannot fetch the project: %w", err)
		}
	}
	head := "HEAD"
	if p.branch != "" {
		head = "refs/heads/" + p.branch
	}
	commit, err := p.git(ctx, nil, "--git-dir", p.mirror(), "rev-parse", "--verify", "--quiet", head+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%s has no branch %q", p.url, p.branch)
	}
	if p.keyring == "" {
		return commit, nil
	}
	return p.signed(ctx, commit)
}

// uploadPack returns the flag with which git reads a repository on this machine that belongs to another user, which git
// refuses otherwise: the keeper has a user of its own, and whoever named the project trusts what is in it.
func (p *Project) uploadPack() []string {
	if !strings.HasPrefix(p.url, fileScheme) {
		return nil
	}
	return []string{"--upload-pack", "git -c safe.directory='*' upload-pack"}
}

// mostTags is how many tags are looked at for one that is signed.
const mostTags = 50

// useKeyring makes the keys of a file those of a directory of gpg's. Nothing is imported: that would start gpg's
// agent, whose socket needs a short path.
func useKeyring(ctx context.Context, home, keyring string) error {
	keys, err := os.ReadFile(keyring)
	if err == nil && bytes.HasPrefix(keys, []byte("-----BEGIN PGP")) {
		var text string
		if text, err = command(ctx, []string{"GNUPGHOME=" + home}, "gpg", "--batch", "--quiet", "--output",
			filepath.Join(home, "pubring.gpg"), "--dearmor", keyring); err != nil {
			err = fmt.Errorf("%w %s", err, text)
		}
	} else if err == nil {
		err = os.WriteFile(filepath.Join(home, "pubring.gpg"), keys, 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot use the keyring %s: %w", keyring, err)
	}
	return nil
}

// signed returns the commit of the newest tag of a branch that one of the keyring has signed. It never goes back: who
// can push cannot have an older release played again.
func (p *Project) signed(ctx context.Context, head string) (string, error) {
	home, err := os.MkdirTemp(p.state, "gnupg-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(home)
	environ := []string{"GNUPGHOME=" + home}
	if err := useKeyring(ctx, home, p.keyring); err != nil {
		return "", err
	}
	list, err := p.git(ctx, nil, "--git-dir", p.mirror(), "for-each-ref", "--sort=-creatordate", "--format=%(refname)",
		"--merged", head, "refs/tags")
	if err != nil {
		return "", err
	}
	best := ""
	tags := slices.DeleteFunc(strings.Fields(list), func(tag string) bool { return !p.named(tag) })
	for _, tag := range tags[:min(mostTags, len(tags))] {
		if name, err := p.signedName(ctx, tag); err != nil || tagPrefix+name != tag {
			continue
		}
		if _, err := p.git(ctx, environ, "--git-dir", p.mirror(), "verify-tag", tag); err != nil {
			continue
		}
		commit, err := p.git(ctx, nil, "--git-dir", p.mirror(), "rev-parse", "--verify", tag+"^{commit}")
		if err != nil {
			return "", err
		}
		if best == "" || p.comesAfter(ctx, commit, best) { // the dates of tags have seconds, and are what their makers say
			best = commit
		}
	}
	if best == "" && p.names != "" {
		return "", fmt.Errorf("no tag %s of %s is signed by a key of %s", p.names, p.url, p.keyring)
	}
	if best == "" {
		return "", fmt.Errorf("no tag of %s is signed by a key of %s", p.url, p.keyring)
	}
	return best, p.onward(ctx, best)
}

// tagPrefix begins the names of references that are tags.
const tagPrefix = "refs/tags/"

// named reports whether a tag is one of those that count by its name.
func (p *Project) named(tag string) bool {
	ok, err := path.Match(p.names, strings.TrimPrefix(tag, tagPrefix))
	return p.names == "" || ok && err == nil
}

// signedName returns the name in a tag, which its signature covers. That of the reference is what anybody who can push
// has chosen.
func (p *Project) signedName(ctx context.Context, tag string) (string, error) {
	text, err := p.git(ctx, nil, "--git-dir", p.mirror(), "cat-file", "tag", tag)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "tag "); ok {
			return strings.TrimSpace(name), nil
		}
		if strings.TrimSpace(line) == "" {
			break
		}
	}
	return "", errors.New("the tag has no name")
}

// comesAfter reports whether a commit is later than another, in the history.
func (p *Project) comesAfter(ctx context.Context, commit, other string) bool {
	_, err := p.git(ctx, nil, "--git-dir", p.mirror(), "merge-base", "--is-ancestor", other, commit)
	return err == nil
}

// onward demands that a commit comes after the last one that was taken, and keeps it as that.
func (p *Project) onward(ctx context.Context, commit string) error {
	file := filepath.Join(p.state, "last-signed")
	last, err := os.ReadFile(file)
	if err == nil && !p.comesAfter(ctx, commit, strings.TrimSpace(string(last))) {
		return fmt.Errorf("the newest signed tag, at %.12s, does not come after %.12s, which was in force: remove %s if "+
			"that is meant", commit, last, file)
	}
	return os.WriteFile(file, []byte(commit+"\n"), 0o600)
}

// kept is how many commits stay checked out.
const kept = 5

// checkOut puts a commit into a directory of its own.
func (p *Project) checkOut(ctx context.Context, commit string) (string, error) {
	dir := p.place(commit[:shortCommit])
	if _, err := os.Stat(dir); err == nil {
		now := time.Now()
		return dir, os.Chtimes(dir, now, now)
	}
	tmp, err := os.MkdirTemp(p.state, "new-")
	if err != nil {
		return "", err
	}
	index := tmp + ".index"
	_, err = p.git(ctx, []string{"GIT_INDEX_FILE=" + index}, "--git-dir", p.mirror(), "--work-tree", tmp, "checkout",
		"--quiet", "--force", commit, "--", ".")
	_ = os.Remove(index)
	if err == nil {
		err = os.Rename(tmp, dir)
	}
	if err != nil {
		_ = os.RemoveAll(tmp)
		return "", fmt.Errorf("cannot check %.12s out: %w", commit, err)
	}
	return dir, p.prune()
}

// Taken returns the places of the commits, those first that were taken last.
func (p *Project) Taken() ([]string, error) {
	dirs, err := filepath.Glob(p.place("*"))
	age := func(dir string) time.Time {
		info, err := os.Stat(dir)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortFunc(dirs, func(a, b string) int { return age(b).Compare(age(a)) })
	return dirs, err
}

// prune removes the commits that were not taken for the longest time.
func (p *Project) prune() error {
	dirs, err := p.Taken()
	if err != nil {
		return err
	}
	for _, dir := range dirs[min(kept, len(dirs)):] {
		if !p.needs(dir) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// run is git, which asks nobody anything.
func (p *Project) run(ctx context.Context, environ []string, args ...string) (string, error) {
	return command(ctx, append(slices.Clone(Environ), environ...), "git", args...)
}

// Environ is what keeps git from asking for passwords.
var Environ = []string{"GIT_TERMINAL_PROMPT=0", "GIT_SSH_COMMAND=ssh -oBatchMode=yes"}

func command(ctx context.Context, environ []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), environ...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
