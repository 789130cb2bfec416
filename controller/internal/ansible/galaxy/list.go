package galaxy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// installed returns the collections under a root. Strict takes none that says nothing of itself.
func installed(screen Screen, root string, lenient bool) ([]*candidate, error) {
	var out []*candidate
	namespaces, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for _, ns := range namespaces {
		if isFile(filepath.Join(root, ns.Name())) {
			continue
		}
		list, err := os.ReadDir(filepath.Join(root, ns.Name()))
		if err != nil {
			return nil, err
		}
		for _, item := range list {
			path := filepath.Join(root, ns.Name(), item.Name())
			if !isDir(path) {
				continue
			}
			one, err := installedAt(screen, path, lenient)
			if err != nil {
				return nil, err
			}
			screen.Verbose(3, fmt.Sprintf("Found installed collection %s at '%s'", one, path))
			out = append(out, one)
		}
	}
	return out, nil
}

// installedAt returns the collection in a directory. One that says nothing usable of itself has the name of its
// directories and no version.
func installedAt(screen Screen, path string, lenient bool) (*candidate, error) {
	one := &candidate{Requirement: Requirement{kind: Dir, source: path, version: "*",
		name: fqcn{filepath.Base(filepath.Dir(path)), filepath.Base(path)}}, installed: true}
	if !collectionDir(path) {
		screen.Warn(fmt.Sprintf("Collection at '%s' does not have a MANIFEST.json file, nor has it galaxy.yml: cannot "+
			"detect version.", path))
		return one, nil
	}
	m, err := metaOfDir(screen, path, lenient)
	if errors.Is(err, errNoMeta) {
		return one, nil
	}
	if err != nil {
		return nil, err
	}
	one.version = m.version
	if m.name.namespace == "" || m.name.name == "" {
		screen.Warn(fmt.Sprintf("Collection at '%s' has a MANIFEST.json or galaxy.yml file but it contains invalid "+
			"metadata.", path))
		one.version = "*"
		return one, nil
	}
	one.name = m.name
	return one, nil
}

// Listed is a collection that List found.
type Listed struct{ Name, Version string }

// Place is a directory of collections with what lies there.
type Place struct {
	Root        string
	Collections []Listed
}

// List finds collections, or the one of a name, in search paths. Paths that are not there are told, but for those in
// quiet.
func (c *Client) List(paths []string, name string, quiet []string) ([]Place, error) {
	var (
		out      []Place
		warnings []string
		usable   bool
	)
	for _, path := range paths {
		if !exists(path) {
			if !slices.Contains(quiet, path) {
				warnings = append(warnings, "- the configured path "+path+" does not exist.")
			}
			continue
		}
		if !isDir(path) {
			warnings = append(warnings, "- the configured path "+path+", exists, but it is not a directory.")
			continue
		}
		usable = true
		place, missing, err := c.listIn(Root(path), name)
		if err != nil {
			return nil, err
		}
		if missing != "" {
			warnings = append(warnings, missing)
		}
		if len(place.Collections) > 0 {
			out = append(out, place)
		}
	}
	if name != "" && len(out) > 0 {
		warnings = nil
	}
	for _, w := range warnings {
		c.Screen.Warn(w)
	}
	if !usable {
		return nil, OptionsError("- None of the provided paths were usable. Please specify a valid path with " +
			"--collections-path")
	}
	return out, nil
}

func (c *Client) listIn(root, name string) (place Place, missing string, err error) {
	place.Root = root
	var list []*candidate
	switch {
	case name != "":
		if err := CheckName(name); err != nil {
			return place, "", err
		}
		path := filepath.Join(root, splitName(name).namespace, splitName(name).name)
		if !isDir(path) {
			return place, "- unable to find " + name + " in collection paths", nil
		}
		one, err := installedAt(c.Screen, path, true)
		if err != nil {
			return place, "", err
		}
		list = []*candidate{one}
	case !isDir(root):
		c.Screen.Verbose(3, "No 'ansible_collections' directory found at "+root)
	default:
		c.Screen.Verbose(3, "Searching "+root+" for collections")
		if list, err = installed(c.Screen, root, true); err != nil {
			return place, "", err
		}
	}
	slices.SortFunc(list, func(a, b *candidate) int { return strings.Compare(a.String(), b.String()) })
	for _, one := range list {
		place.Collections = append(place.Collections, Listed{one.name.String(), one.version})
	}
	return place, "", nil
}

// Table returns a place as people read it.
func (p Place) Table() string {
	width, version := 10, 7
	for _, one := range p.Collections {
		width, version = max(width, len(one.Name)), max(version, len(one.Version))
	}
	lines := []string{"", "# " + p.Root, fmt.Sprintf("%-*s %-*s", width, "Collection", version, "Version"),
		strings.Repeat("-", width) + " " + strings.Repeat("-", version)}
	for _, one := range p.Collections {
		lines = append(lines, fmt.Sprintf("%-*s %-*s", width, one.Name, version, one.Version))
	}
	return strings.Join(lines, "\n")
}
