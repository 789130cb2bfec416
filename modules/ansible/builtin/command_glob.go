package builtin

import (
	"os"
	"path/filepath"
	"strings"
)

// exists reports whether a path or pattern matches anything, as Python's glob does: * does not match a leading dot. A
// relative one starts at dir.
func exists(dir, pattern string) bool {
	if !filepath.IsAbs(pattern) && dir != "" {
		pattern = filepath.Join(dir, pattern)
	}
	if !strings.ContainsAny(pattern, "*?[") {
		_, err := os.Lstat(pattern)
		return err == nil
	}
	// A backslash is a character of the name to Python, and ! negates.
	goPattern := strings.NewReplacer(`\`, `\\`, "[!", "[^").Replace(pattern)
	matches, err := filepath.Glob(goPattern)
	if err != nil {
		return false
	}
	for _, m := range matches {
		if !hiddenByPattern(pattern, m) {
			return true
		}
	}
	return false
}

// hiddenByPattern reports whether a part of the match starts with a dot where the pattern does not.
func hiddenByPattern(pattern, match string) bool {
	want, got := strings.Split(filepath.Clean(pattern), "/"), strings.Split(match, "/")
	for i := range got {
		if i < len(want) && strings.HasPrefix(got[i], ".") && !strings.HasPrefix(want[i], ".") {
			return true
		}
	}
	return false
}
