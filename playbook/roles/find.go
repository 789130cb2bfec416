// Package roles finds roles and reads what lies in their directories: the role search path of Ansible, roles of
// collections on disk, main files, meta, argument specs. Making steps of a role's tasks is the business of compile.
package roles

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules/dialect"
	"hark/playbook/search"
)

// Finder finds roles, collections and playbooks of collections.
type Finder struct {
	// Paths are ANSIBLE_ROLES_PATH.
	Paths []string
	// CollectionPaths are the directories in which ansible_collections lie, or such directories themselves.
	CollectionPaths []string
	// Books gives the directories of the playbooks that were read, beside which collections may lie too; nil for
	// none. A playbook of a collection finds those of the project by it.
	Books func() []string
	// Met is called with each collection that is found and its directory; it may be nil. It is called
	// from any goroutine that looks for one.
	Met func(name, dir string)
}

// Found is a role's directory.
type Found struct {
	Name       string // as the role calls itself: without the collection; the last part of a path
	Path       string // absolute, symbolic links resolved
	Collection string // namespace.name, "" for a role outside collections
}

// FullName returns the name with the collection.
func (f Found) FullName() string {
	if f.Collection == "" {
		return f.Name
	}
	return f.Collection + "." + f.Name
}

// NotFoundError says where a role was looked for, in Ansible's words.
type NotFoundError struct {
	Name     string
	Searched []string
}

func (e *NotFoundError) Error() string {
	return dialect.RoleNotFound.Text(e.Name) + " in " + strings.Join(e.Searched, ":")
}

// Find finds a role by name or path. playbookDir is the directory of the playbook, near the directory that holds
// the role which depends on this one ("" if none does), collections the collections to search for a short name.
func (f *Finder) Find(name string, playbookDir search.Dir, near string, collections []string) (Found, error) {
	if found, ok := f.inCollections(name, playbookDir, collections); ok {
		return found, nil
	}
	places := append([]string{filepath.Join(string(playbookDir), "roles")}, f.Paths...)
	if near != "" {
		places = append(places, near)
	}
	places = append(places, string(playbookDir))
	for _, place := range places {
		path := search.Real(join(place, name), "")
		if search.Exists(path) {
			return Found{Name: name, Path: path}, nil
		}
	}
	if path := search.Real(name, ""); search.Exists(path) {
		return Found{Name: filepath.Base(name), Path: path}, nil
	}
	return Found{}, &NotFoundError{Name: name, Searched: append(slices.Clone(collections), places...)}
}

// join is Python's os.path.join: an absolute name stands alone.
func join(dir, name string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return name
	}
	return filepath.Join(dir, name)
}

var fullName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w+\.\w+(\.\w+)+$`) })

// inCollections finds a role by its full name, or by its short one in the given collections. A dot parts directories,
// also in short names, so that no path that begins with one leads there.
func (f *Finder) inCollections(name string, playbookDir search.Dir, collections []string) (Found, bool) {
	parts := strings.Split(name, ".")
	called := name
	if fullName().MatchString(name) {
		collections, parts = []string{parts[0] + "." + parts[1]}, parts[2:]
		called = parts[len(parts)-1]
	}
	if slices.Contains(parts, "") {
		return Found{}, false
	}
	rest := filepath.Join(parts...)
	for _, collection := range collections {
		dir, ok := f.Collection(collection, playbookDir)
		if !ok {
			continue
		}
		path := search.Real(filepath.Join(dir, "roles", rest), "")
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return Found{Name: called, Path: path, Collection: collection}, true
		}
	}
	return Found{}, false
}

// Collection finds the directory of a collection: beside the playbook first, then beside others that were read, then
// in the configured paths.
func (f *Finder) Collection(name string, playbookDir search.Dir) (string, bool) {
	namespace, short, ok := strings.Cut(name, ".")
	if !ok || namespace == "" || short == "" {
		return "", false
	}
	bases := []string{filepath.Join(string(playbookDir), "collections")}
	if f.Books != nil {
		for _, dir := range f.Books() {
			bases = append(bases, filepath.Join(dir, "collections"))
		}
	}
	for _, base := range append(bases, f.CollectionPaths...) {
		base = search.Clean(base, "")
		if filepath.Base(base) != "ansible_collections" {
			base = filepath.Join(base, "ansible_collections")
		}
		dir := filepath.Join(base, namespace, short)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			if f.Met != nil {
				f.Met(name, dir)
			}
			return dir, true
		}
	}
	return "", false
}

// Playbook finds a playbook of a collection by its full name; false if the name is not of that form or there is none.
func (f *Finder) Playbook(name string, playbookDir search.Dir) (path, collection string, ok bool) {
	if !fullName().MatchString(strings.TrimSuffix(strings.TrimSuffix(name, ".yml"), ".yaml")) {
		return "", "", false
	}
	parts := strings.SplitN(name, ".", 3)
	collection = parts[0] + "." + parts[1]
	dir, ok := f.Collection(collection, playbookDir)
	if !ok {
		return "", "", false
	}
	resource := parts[2]
	ext := filepath.Ext(resource)
	if ext != ".yml" && ext != ".yaml" {
		ext = ""
	}
	base := filepath.Join(dir, "playbooks", filepath.Join(strings.Split(strings.TrimSuffix(resource, ext), ".")...))
	for _, try := range []string{ext, ".yml", ".yaml"} {
		if info, err := os.Stat(base + try); err == nil && !info.IsDir() {
			return base + try, collection, true
		}
	}
	return "", "", false
}

// CollectionOf names the collection that a file lies in, "" if it lies in none that this Finder knows.
func (f *Finder) CollectionOf(path string, playbookDir search.Dir) string {
	parts := strings.Split(search.Clean(path, ""), "/")
	at := slices.Index(parts, "ansible_collections")
	if at < 0 || at+2 >= len(parts) || slices.Contains(parts[at+1:], "ansible_collections") {
		return ""
	}
	name := parts[at+1] + "." + parts[at+2]
	dir, ok := f.Collection(name, playbookDir)
	if !ok || dir != "/"+filepath.Join(parts[:at+3]...) {
		return ""
	}
	return name
}
