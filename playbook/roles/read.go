package roles

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/search"
	"hark/playbook/syntax"
	"hark/playbook/vars"
)

// From are the files of a role that include_role and import_role name in place of main; "" is main.
type From struct {
	Tasks, Vars, Defaults, Handlers string
}

// Imported returns the files of an import_role: the last part of a path counts, as in Ansible 2.14, or the whole
// path, as from 2.17 on, where that alone exists.
func (f Found) Imported(from From) From {
	for dir, name := range map[string]*string{"tasks": &from.Tasks, "vars": &from.Vars, "defaults": &from.Defaults,
		"handlers": &from.Handlers} {
		last := (*name)[strings.LastIndexByte(*name, '/')+1:]
		if f.has(dir, last) || !f.has(dir, *name) {
			*name = last
		}
	}
	return from
}

func (f Found) has(dir, name string) bool {
	files, err := f.Files(dir, name, true)
	return err == nil && len(files) > 0
}

// NoFileError says that a role has no file that was asked for by its name.
type NoFileError struct {
	// NoDir reports whether not even the directory is there, which is an error since ansible-core 2.21.
	NoDir bool

	err error
}

func (e *NoFileError) Error() string { return e.err.Error() }
func (e *NoFileError) Unwrap() error { return e.err }

// Files finds the files that a directory of a role is read from. main is the name to look for, "" for main.yml
// and its kin; with dirs, main may be a directory whose files all count, in order. No file is not an error unless
// main was asked for.
func (f Found) Files(sub, main string, dirs bool) ([]string, error) {
	dir := filepath.Join(f.Path, sub)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		if main != "" {
			return nil, &NoFileError{true, fail("Could not find specified file in role, its '%s/' is not usable.", sub)}
		}
		return nil, nil
	}
	extensions := []string{".yml", ".yaml", ".json", ""}
	name := "main"
	if main != "" {
		extensions = []string{"", ".yml", ".yaml", ".json"}
		name = main
	}
	base := filepath.Join(dir, name)
	if filepath.IsAbs(name) { // found where it is, and then refused below for standing outside
		base = name
	}
	files := find(base, extensions, dirs)
	if len(files) == 0 && main != "" {
		return nil, &NoFileError{false, fail("Could not find specified file in role: %s/%s", sub, main)}
	}
	for _, file := range files {
		if rel, err := filepath.Rel(dir, file); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			return nil, fail("Failed loading '%s' for role (%s) as it is not inside the expected role path: '%s'", file, f.Name,
				dir)
		}
	}
	return files, nil
}

// find takes the first of the names that exists.
func find(base string, extensions []string, dirs bool) []string {
	for _, ext := range extensions {
		info, err := os.Stat(base + ext)
		switch {
		case err != nil:
		case !info.IsDir():
			return []string{base + ext}
		case dirs:
			return search.VarsFiles(base+ext, extensions)
		}
	}
	return nil
}

// Vars reads a role's variables: sub is vars or defaults. Several files are laid over each other, merged if merge is
// set. A role without such files has none.
func (f Found) Vars(l *syntax.Loader, sub, from string, merge bool) (*value.Dict, error) {
	files, err := f.Files(sub, from, true)
	if err != nil {
		return nil, err
	}
	var all *value.Dict
	for _, file := range files {
		n, err := l.Once(file)
		if err != nil {
			return nil, err
		}
		v := n.Value
		if empty(v) {
			continue
		}
		d, ok := v.(*value.Dict)
		if !ok {
			return nil, fail("The %s/main.yml file for role '%s' must contain a dictionary of variables", sub, f.Name)
		}
		all = vars.Combine(all, d, merge)
	}
	return all, nil
}

func empty(v value.Value) bool {
	switch v := v.(type) {
	case value.None:
		return true
	case *value.Dict:
		return v.Len() == 0
	case *value.List:
		return len(v.Items) == 0
	case value.Bool:
		return !bool(v)
	}
	s, ok := value.Text(v)
	return ok && s == ""
}

// ArgSpecs returns the role's argument specs by entry point; nil if it has none. meta is what meta/main.yml holds.
func (f Found) ArgSpecs(l *syntax.Loader, meta *value.Dict) (*value.Dict, error) {
	for _, ext := range []string{".yml", ".yaml", ".json"} {
		file := filepath.Join(f.Path, "meta", "argument_specs"+ext)
		if !search.Exists(file) {
			continue
		}
		n, err := l.Once(file)
		if err != nil {
			return nil, err
		}
		v := n.Value
		if d, ok := v.(*value.Dict); ok {
			meta = d
		} else {
			meta = nil
		}
		break
	}
	v, _ := meta.Get("argument_specs")
	specs, _ := v.(*value.Dict)
	return specs, nil
}

// fail is an error in Ansible's words, which begin with a capital.
func fail(format string, a ...any) error {
	return &syntax.Error{Msg: fmt.Sprintf(format, a...)}
}
