// Package search finds the files that a playbook names, on the controller, where Ansible looks for them: relative to
// the role, the task's file, the playbook. It reads no file.
package search

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules/py/cwd"
)

// Dir is the directory of a playbook: relative names are relative to it where nothing nearer is known.
type Dir string

// Clean expands ~ and $NAME, makes the path absolute (against base, or the working directory if it is "") and takes
// out dots.
func Clean(path, base string) string {
	path = expandUser(expandEnv(path))
	if !filepath.IsAbs(path) {
		if base == "" {
			base, _ = cwd.Get()
		}
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path)
}

// Real is Clean with symbolic links resolved as far as the path exists.
func Real(path, base string) string {
	path = Clean(path, base)
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

var envName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(\w+|\{[^}]*\})`) })

// expandEnv replaces the variables that are set; others stay as they are written.
func expandEnv(path string) string {
	return envName().ReplaceAllStringFunc(path, func(name string) string {
		if v, ok := os.LookupEnv(strings.Trim(name, "${}")); ok {
			return v
		}
		return name
	})
}

func expandUser(path string) string {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return home + path[1:]
}

// Exists reports whether there is a file or directory of that name.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Path returns a name relative to the directory of the playbook.
func (d Dir) Path(name string) string {
	name = unquote(name)
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") {
		return Clean(name, "")
	}
	return Clean(filepath.Join(string(d), name), "")
}

func unquote(s string) string {
	if len(s) > 1 && s[0] == s[len(s)-1] && (s[0] == '"' || s[0] == '\'') && s[len(s)-2] != '\\' {
		return s[1 : len(s)-1]
	}
	return s
}

var inTasks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|/)tasks/?$`) })

// Relative finds a file that a role or a task file names: sub is the directory that such files live in (tasks,
// templates, ...), or for files of a playbook the directory of the including file. If there is none the result is the
// last place that was looked at. The path may hold dots, as Ansible's does, which shows it.
func (d Dir) Relative(path, sub, name string, isRole bool) string {
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") {
		return Clean(name, "")
	}
	base := Clean(path, "")
	isRole = isRole || isRoleDir(path)
	if isRole && inTasks().MatchString(path) {
		base = filepath.Dir(base)
	}
	candidates := []string{Join(path, sub, name), Clean(Join(base, sub, name), "")}
	if isRole && !strings.HasSuffix(name, sub) {
		candidates = append(candidates, Clean(Join(base, "tasks", name), ""))
	}
	candidates = append(candidates, Clean(Join(sub, name), ""), Clean(Join(base, name), ""), d.Path(Join(sub, name)),
		d.Path(name))
	for _, c := range candidates {
		if Exists(c) {
			return c
		}
	}
	return candidates[len(candidates)-1]
}

// Join puts parts of a path together and changes nothing in them; a part that is absolute drops those before it.
func Join(parts ...string) string {
	out := ""
	for _, p := range parts {
		switch {
		case strings.HasPrefix(p, "/") || out == "":
			out = p
		case strings.HasSuffix(out, "/"):
			out += p
		default:
			out += "/" + p
		}
	}
	return out
}

// Parent returns what stands before the last slash, as it is written; "" if there is none.
func Parent(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ""
	}
	if parent := strings.TrimRight(path[:i], "/"); parent != "" {
		return parent
	}
	return path[:i+1]
}

// isRoleDir reports whether path looks like a directory of a role, or one inside it.
func isRoleDir(path string) bool {
	var candidates []string
	for _, main := range []string{"main.yml", "main.yaml", "main"} {
		if inTasks().MatchString(path) {
			candidates = append(candidates, filepath.Join(path, main))
		}
		for _, dir := range []string{path, filepath.Dir(path)} {
			candidates = append(candidates, filepath.Join(dir, "tasks", main), filepath.Join(dir, "meta", main))
		}
	}
	for _, c := range candidates {
		if Exists(c) {
			return true
		}
	}
	return false
}

// Stack finds a file in the first of paths that has it, under sub or directly, and last in the directory of the
// playbook. searched are the places that were looked at. They keep the dots of name: the directory before one has to
// exist, and Ansible shows the path so.
func (d Dir) Stack(paths []string, sub, name string) (found string, searched []string, ok bool) {
	if strings.HasPrefix(name, "~") || strings.HasPrefix(name, "/") {
		found = Clean(name, "")
		return found, []string{found}, Exists(found)
	}
	for _, path := range paths {
		clean := Clean(path, "")
		parent := filepath.Dir(clean)
		if strings.HasSuffix(parent, "/tasks") && isRoleDir(path) {
			searched = append(searched, Join(filepath.Dir(parent), sub, name), Join(parent, name))
		} else {
			searched = append(searched, Join(clean, sub, name), Join(clean, name))
		}
	}
	searched = append(searched, Join(string(d), sub, name), Join(string(d), name))
	for _, c := range searched {
		if Exists(c) {
			return c, searched, true
		}
	}
	return "", searched, false
}

// VarsFiles returns the files of variables in a directory and in those below it, by name: the names end with one of
// the extensions and are neither hidden nor backups.
func VarsFiles(dir string, extensions []string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var files []string
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			continue
		}
		ext := filepath.Ext(name)
		switch {
		case info.IsDir() && ext == "":
			files = append(files, VarsFiles(path, extensions)...)
		case info.Mode().IsRegular() && slices.Contains(extensions, ext):
			files = append(files, path)
		}
	}
	return files
}
