package compile

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mostFiles is how many files Uses reads, and largest their size in bytes.
const (
	mostFiles = 5000
	largest   = 1 << 20
)

// Uses reports whether a task file beside the playbooks or among the roles names a module of ansible.builtin, which a
// dynamic include may then run. It searches text, so it may find what is never included, and misses a name that a
// template makes or a role of a collection.
func (p *Project) Uses(module string) bool {
	return p.Mentions(regexp.MustCompile(`(?m)^[ \t-]*(?:(?:local_)?action:[ \t]*)?(?:ansible\.(?:builtin|legacy)\.)?` +
		regexp.QuoteMeta(module) + `[ \t]*(?::|$)`))
}

// Mentions reports whether any of those files matches.
func (p *Project) Mentions(words *regexp.Regexp) bool {
	dirs := append(p.Books(), p.cfg.RolePaths...)
	slices.Sort(dirs)
	left, found := mostFiles, false
	for _, dir := range slices.Compact(dirs) {
		// A directory that cannot be read holds nothing to include.
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case found || left <= 0:
				return fs.SkipAll
			case err != nil:
				return nil
			case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
				return fs.SkipDir
			case d.IsDir() || !isTaskFile(d.Name()):
				return nil
			}
			left--
			if info, err := d.Info(); err != nil || info.Size() > largest {
				return nil
			}
			text, err := os.ReadFile(path)
			found = err == nil && words.Match(text)
			return nil
		})
	}
	return found
}

func isTaskFile(name string) bool {
	return strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml")
}
