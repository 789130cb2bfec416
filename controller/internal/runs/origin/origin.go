// Package origin finds where a run comes from, for the head of its record: the person, the commit of the project, the
// sources of the inventory, and the command line without secrets.
package origin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"hark/modules/nss"
	"hark/modules/py/value"
	"hark/playbook/syntax"
)

// Hidden replaces what may be a secret.
const Hidden = "(hidden)"

// Person returns who runs this process, by the login, and from where, as login@machine. For root by sudo it is the
// person before sudo.
func Person(getenv func(string) (string, bool)) (name, from string) {
	if u, err := nss.Current(); err == nil {
		name = u.Name
	}
	if sudo, ok := getenv("SUDO_USER"); ok && os.Geteuid() == 0 && sudo != "" {
		name = sudo
	}
	machine, _ := os.Hostname()
	return name, name + "@" + machine
}

// gitDir returns the directory .git of the project that contains a directory, "" if there is none.
func gitDir(dir string) string {
	for {
		git := filepath.Join(dir, ".git")
		st, err := os.Stat(git)
		switch {
		case err == nil && st.IsDir():
			return git
		case err == nil: // a work tree: the file names the directory
			text, _ := os.ReadFile(git)
			path, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if path != "" && !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// Commit returns the commit that the project of a directory has checked out, "" outside of git and where nothing was
// committed.
func Commit(dir string) string {
	git := gitDir(dir)
	if git == "" {
		return ""
	}
	head := line(filepath.Join(git, "HEAD"))
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return short(head)
	}
	common := git
	if rel := line(filepath.Join(git, "commondir")); rel != "" {
		common = rel
		if !filepath.IsAbs(rel) {
			common = filepath.Join(git, rel)
		}
	}
	for _, d := range []string{git, common} {
		if at := line(filepath.Join(d, filepath.FromSlash(ref))); at != "" {
			return short(at)
		}
	}
	packed, _ := os.ReadFile(filepath.Join(common, "packed-refs"))
	for l := range strings.Lines(string(packed)) {
		if at, name, ok := strings.Cut(strings.TrimSpace(l), " "); ok && name == ref {
			return short(at)
		}
	}
	return ""
}

// line returns the only line of a small file, "" if there is none.
func line(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

// dirtyLimit is how long git may look for files that differ.
const dirtyLimit = 5 * time.Second

// Dirty checks in the background whether files of the project differ from its commit. Call the returned func once,
// which ends the search: nil is not known, or not yet.
func Dirty(ctx context.Context, dir string) func() *bool {
	ctx, cancel := context.WithTimeout(ctx, dirtyLimit)
	found := make(chan *bool, 1)
	go func() {
		cmd := exec.CommandContext(ctx, "git", "-C", dir, "status", "--porcelain", "--untracked-files=no")
		cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
		out, err := cmd.Output()
		if err != nil {
			found <- nil
			return
		}
		dirty := len(out) > 0
		found <- &dirty
	}()
	return func() *bool {
		defer cancel()
		select {
		case dirty := <-found:
			return dirty
		default:
			cancel()
			<-found
			return nil
		}
	}
}

// Sources returns the sources of an inventory, files with the digest of their content.
func Sources(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = path
		if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
			continue
		}
		if text, err := os.ReadFile(path); err == nil {
			sum := sha256.Sum256(text)
			out[i] += "@sha256:" + hex.EncodeToString(sum[:8])
		}
	}
	return out
}

// Extra returns the value of an -e without the values in it; it keeps names and files.
func Extra(text string) string {
	if text == "" || text[0] == '@' {
		return text
	}
	if text[0] == '{' || text[0] == '[' {
		return Hidden
	}
	args, err := syntax.Args(text, false)
	if err != nil {
		return Hidden
	}
	var names []string
	args.Each(func(k, _ value.Value) bool {
		if name, _ := value.Text(k); name != "_raw_params" {
			names = append(names, name+"="+Hidden)
		}
		return true
	})
	return cmp.Or(strings.Join(names, " "), Hidden)
}

// Args returns the arguments of an ad-hoc command without the values that a module keeps secret.
func Args(text string, secret func(name string) bool) string {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return Hidden
	}
	words := strings.Fields(text)
	for i, word := range words {
		name, _, ok := strings.Cut(word, "=")
		if !ok || !secret(name) {
			continue
		}
		if strings.Count(text, `"`)+strings.Count(text, "'") > 0 {
			return Hidden // blanks do not show where the value ends
		}
		words[i] = name + "=" + Hidden
	}
	if hidden := strings.Join(words, " "); strings.Contains(hidden, Hidden) {
		return hidden
	}
	return text
}

// URLs returns URLs, separated by commas, without user names and passwords.
func URLs(text string) string {
	parts := strings.Split(text, ",")
	for i, part := range parts {
		if u, err := url.Parse(part); err == nil && u.User != nil {
			u.User = nil
			parts[i] = u.String()
		}
	}
	return strings.Join(parts, ",")
}
