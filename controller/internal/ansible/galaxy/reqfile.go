package galaxy

import (
	"os"
	"strings"

	"hark/modules/py/value"
)

// RequirementsFile is what a requirements.yml asks for.
type RequirementsFile struct {
	Roles       []*Role
	Collections []Requirement
}

// ReadRequirements reads a file of requirements: a list of roles, or a mapping of roles and collections.
func (c *Client) ReadRequirements(path string, old, strict bool, paths []string) (*RequirementsFile, error) {
	if !exists(path) {
		return nil, failf("The requirements file '%s' does not exist.", path)
	}
	c.Screen.Verbose(3, "Reading requirement file at '"+path+"'")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	v, err := parseYAML(data)
	if err != nil {
		return nil, failf("Failed to parse the requirements yml at '%s' with the following error:\n%s", path,
			yamlWords(err, path))
	}
	out := &RequirementsFile{}
	switch v := v.(type) {
	case *value.List:
		if !old {
			return nil, failed("Expecting requirements file to be a dict with the key 'collections' that contains a list of " +
				"collections to install")
		}
		return out, c.rolesOf(v.Items, path, paths, out)
	case *value.Dict:
		return out, c.bothOf(v, path, strict, paths, out)
	case value.None:
		return nil, failf("No requirements found in file '%s'", path)
	}
	return nil, failf("The requirements file '%s' must be a list or a mapping", path)
}

func (c *Client) bothOf(d *value.Dict, path string, strict bool, paths []string, out *RequirementsFile) error {
	if more := unknownKeys(d, []string{"roles", "collections"}); len(more) > 0 {
		return failf("Expecting only 'roles' and/or 'collections' as base keys in the requirements file. Found: %s",
			strings.Join(more, ", "))
	}
	for _, key := range []string{"roles", "collections"} {
		if v := value.Under(d, key); value.IsTrue(v) && !isList(v) {
			return failf("'%s' in the requirements file '%s' must be a list", key, path)
		}
	}
	if err := c.rolesOf(items(value.Under(d, "roles")), path, paths, out); err != nil {
		return err
	}
	for _, entry := range items(value.Under(d, "collections")) {
		one, server, err := c.entry(entry)
		if err != nil {
			return err
		}
		r, err := c.requirement(one, server, strict)
		if err != nil {
			return err
		}
		out.Collections = append(out.Collections, r)
	}
	return nil
}

// entry returns a collection of the file with the server that its source names: one of the configuration, or a URL.
func (c *Client) entry(v value.Value) (*value.Dict, *Server, error) {
	d, ok := v.(*value.Dict)
	if !ok {
		return pairs("name", value.Str(text(v))), nil, nil
	}
	source := text(value.Under(d, "source"))
	if kind := text(value.Under(d, "type")); value.Under(d, "name") == nil || source == "" ||
		kind != "" && kind != "galaxy" {
		return d, nil, nil
	}
	for _, s := range c.Servers {
		if source == s.o.Name || source == s.url {
			return d, s, nil
		}
	}
	s, err := NewServer(ServerOptions{Name: "explicit_requirement_" + text(value.Under(d, "name")), URL: source,
		Insecure: c.Insecure, Timeout: patience}, c.Screen)
	return d, s, err
}

// rolesOf reads the roles, and those of the files that entries include.
func (c *Client) rolesOf(list []value.Value, path string, paths []string, out *RequirementsFile) error {
	for _, v := range list {
		include := text(value.Under(v, "include"))
		if include == "" {
			r, err := c.NewRole(v, paths)
			if err != nil {
				return err
			}
			c.Screen.Verbose(3, "found role "+r.Name+" in yaml file")
			out.Roles = append(out.Roles, r)
			continue
		}
		if !isFile(include) {
			return failf("Failed to find include requirements file '%s' in '%s'", include, path)
		}
		more, err := readYAML(include)
		for _, one := range items(more) {
			var r *Role
			if r, err = c.NewRole(one, paths); err != nil {
				break
			}
			out.Roles = append(out.Roles, r)
		}
		if err != nil {
			return failf("Unable to load data from include requirements file: %s %v", path, err)
		}
	}
	return nil
}

// Wanted returns the collections of a call: those named, or those of a file, never both.
func (c *Client) Wanted(names []string, file string, signatures []string) (*RequirementsFile, error) {
	switch {
	case len(names) > 0 && file != "":
		return nil, failed("The positional collection_name arg and --requirements-file are mutually exclusive.")
	case len(names) == 0 && file == "":
		return nil, failed("You must specify a collection name or a requirements file.")
	case file != "" && signatures != nil:
		return nil, failed("The --signatures option and --requirements-file are mutually exclusive. Use the --signatures " +
			"with positional " +
			"collection_name args or provide a 'signatures' key for requirements in the --requirements-file.")
	case file != "":
		return c.ReadRequirements(file, false, true, nil)
	}
	out := &RequirementsFile{}
	for _, name := range names {
		r, err := c.Parse(name, signatures)
		if err != nil {
			return nil, err
		}
		out.Collections = append(out.Collections, r)
	}
	return out, nil
}

// LiesIn reports whether a directory has the role, in the version that is wanted if it says which one it has.
func (r *Role) LiesIn(dirs []string) bool {
	for _, dir := range dirs {
		there := &Role{path: pathIn(dir, r.Name)}
		if have, told := there.installedVersion(); told && have == r.Version || !told && isDir(there.path) {
			return true
		}
	}
	return false
}

// Absent returns those collections of a list that are in none of some search paths, in a version that is wanted. One
// whose name only its source says is absent.
func (c *Client) Absent(list []Requirement, paths []string) ([]Requirement, error) {
	var there []*candidate
	for _, path := range paths {
		if !isDir(Root(path)) {
			continue
		}
		more, err := installed(c.Screen, Root(path), true)
		if err != nil {
			return nil, err
		}
		there = append(there, more...)
	}
	var out []Requirement
	for _, r := range list {
		open, err := unsatisfied([]Requirement{r}, there, InstallOptions{})
		if err != nil {
			return nil, err
		}
		if open {
			out = append(out, r)
		}
	}
	return out, nil
}
