package galaxy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// Role is one that is wanted, or lies in a search path.
type Role struct {
	Name, Version string
	src, scm      string
	// paths are where it may be, path where it is or will be.
	paths []string
	path  string
	// metaData is what was read of an archive, before it lies there.
	metaData value.Value
	url      string // of the archive, if the server gave one
}

// String returns the name with the version.
func (r *Role) String() string {
	if r.Version != "" {
		return r.Name + " (" + r.Version + ")"
	}
	return r.Name
}

// roleName returns the name of the role in a repository or an archive.
func roleName(source string) string {
	if !strings.Contains(source, "://") && !strings.Contains(source, "@") {
		return source
	}
	name := source[strings.LastIndex(source, "/")+1:]
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".git"), ".tar.gz")
	name, _, _ = strings.Cut(name, ",")
	return name
}

// NewRole reads a requirement: name[,version[,name]] or a mapping.
func (c *Client) NewRole(v value.Value, paths []string) (*Role, error) {
	r := &Role{}
	switch v := v.(type) {
	case *value.Dict:
		if err := r.fromDict(v); err != nil {
			return nil, err
		}
	default:
		if err := r.fromLine(text(v)); err != nil {
			return nil, err
		}
	}
	if r.src == "" {
		r.src = r.Name
	}
	for _, p := range paths {
		r.paths = append(r.paths, pathIn(p, r.Name))
	}
	if len(r.paths) > 0 {
		r.path = r.paths[0]
	}
	return r, nil
}

// pathIn returns where a role lies in a search path. A name that is a path stands for itself, as Python joins paths.
func pathIn(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

func (r *Role) fromLine(line string) error {
	parts := strings.Split(strings.TrimSpace(line), ",")
	if len(parts) > 3 {
		return failf("Invalid role line (%s). Proper format is 'role_name[,version[,name]]'", line)
	}
	parts = append(parts, "", "")
	r.src, r.Version, r.Name = parts[0], parts[1], parts[2]
	if r.Name == "" {
		r.Name = roleName(r.src)
	}
	if scm, src, ok := strings.Cut(r.src, "+"); ok {
		r.scm, r.src = scm, src
	}
	return nil
}

func (r *Role) fromDict(d *value.Dict) error {
	r.Version, r.scm = text(value.Under(d, "version")), text(value.Under(d, "scm"))
	if name := text(value.Under(d, "role")); name != "" {
		if strings.Contains(name, ",") {
			return failf("Invalid old style role requirement: %s", name)
		}
		r.Name, r.src = name, text(value.Under(d, "src"))
		return nil
	}
	r.Name, r.src = text(value.Under(d, "name")), text(value.Under(d, "src"))
	if r.src != "" {
		if strings.Contains(r.src, "github.com") && strings.Contains(r.src, "http") && !strings.Contains(r.src, "+") &&
			!strings.HasSuffix(r.src, ".tar.gz") {
			r.src = "git+" + r.src
		}
		if scm, src, ok := strings.Cut(r.src, "+"); ok {
			r.scm, r.src = scm, src
		}
		if r.Name == "" {
			r.Name = roleName(r.src)
		}
	}
	if r.Name == "" {
		return failed("Must specify name or src for role")
	}
	return nil
}

// firstYAML returns the first of the files that is there and can be read.
func firstYAML(paths ...string) value.Value {
	for _, path := range paths {
		if isFile(path) {
			v, err := readYAML(path)
			if err != nil {
				return nil
			}
			return v
		}
	}
	return nil
}

// meta returns the role's meta/main.yml, from the archive or from where it lies.
func (r *Role) meta() value.Value {
	if r.metaData != nil {
		return r.metaData
	}
	for _, p := range r.paths {
		if v := firstYAML(filepath.Join(p, "meta/main.yml"), filepath.Join(p, "meta/main.yaml")); v != nil {
			return v
		}
	}
	return nil
}

// dependencies returns what the role names in meta/main.yml and meta/requirements.yml.
func (r *Role) dependencies() ([]value.Value, error) {
	list := value.Under(r.meta(), "dependencies")
	if value.IsTrue(list) && !isList(list) {
		return nil, SyntaxError(fmt.Sprintf("Expected role dependencies to be a list. Role %s has meta/main.yml with "+
			"dependencies %s", r, text(list)))
	}
	more := firstYAML(filepath.Join(r.path, "meta/requirements.yml"), filepath.Join(r.path, "meta/requirements.yaml"))
	if value.IsTrue(more) && !isList(more) {
		return nil, SyntaxError(fmt.Sprintf("Expected role dependencies to be a list. Role %s has meta/requirements.yml %s",
			r, text(more)))
	}
	return append(append([]value.Value(nil), items(list)...), items(more)...), nil
}

const installInfo = "meta/.galaxy_install_info"

// installedVersion returns the version that was installed, false if the role was not installed by this command.
func (r *Role) installedVersion() (string, bool) {
	v, err := readYAML(filepath.Join(r.path, installInfo))
	d, ok := v.(*value.Dict)
	if err != nil || !ok {
		return "", false
	}
	return text(value.Under(d, "version")), true
}

func (r *Role) writeInfo(now time.Time) error {
	version := value.Value(value.None{})
	if r.Version != "" {
		version = value.Str(r.Version)
	}
	words, err := pyyaml.Dump(pairs("install_date", value.Str(now.UTC().Format("Mon Jan _2 15:04:05 2006")), "version",
		version), pyyaml.DumpOptions{})
	if err != nil {
		return err
	}
	path := filepath.Join(r.path, installInfo)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(words), 0o644)
}

// remove takes the role away. It says no where no role lies.
func (r *Role) remove() bool {
	return value.IsTrue(r.meta()) && os.RemoveAll(r.path) == nil
}

// RemoveRoles takes roles away.
func (c *Client) RemoveRoles(names, paths []string) error {
	for _, name := range names {
		r, err := c.NewRole(value.Str(name), paths)
		if err != nil {
			return err
		}
		if r.remove() {
			c.Screen.Say("- successfully removed " + name)
		} else {
			c.Screen.Say("- " + name + " is not installed, skipping.")
		}
	}
	return nil
}

// ListRoles shows the roles of search paths, or the one of a name.
func (c *Client) ListRoles(paths []string, name string) error {
	var warnings []string
	usable, found := false, false
	for _, path := range paths {
		if !isDir(path) {
			warnings = append(warnings, "- the configured path "+path+" does not exist.")
			continue
		}
		usable = true
		if name != "" {
			if found = isDir(filepath.Join(path, name)); found {
				c.Screen.Say("# " + path)
				c.showRole(path, name)
				break
			}
			warnings = append(warnings, "- the role "+name+" was not found")
			continue
		}
		c.Screen.Say("# " + path)
		entries, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if r := roleAt(path, e.Name(), paths); value.IsTrue(r.meta()) {
				c.showRole(path, e.Name())
			}
		}
	}
	if !found {
		for _, w := range warnings {
			c.Screen.Warn(w)
		}
	}
	if !usable {
		return OptionsError("- None of the provided paths were usable. Please specify a valid path with --roles-path")
	}
	return nil
}

func roleAt(path, name string, paths []string) *Role {
	r := &Role{Name: name, path: filepath.Join(path, name)}
	for _, p := range paths {
		r.paths = append(r.paths, filepath.Join(p, name))
	}
	return r
}

func (c *Client) showRole(path, name string) {
	version, _ := roleAt(path, name, nil).installedVersion()
	if version == "" {
		version = "(unknown version)"
	}
	c.Screen.Say("- " + name + ", " + version)
}
