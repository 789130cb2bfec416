package galaxy

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"hark/modules/py/value"
)

// Kind is where a collection comes from.
type Kind string

// The kinds of sources, by the names that requirement files have for them.
const (
	Galaxy  Kind = "galaxy"
	Git     Kind = "git"
	URL     Kind = "url"
	File    Kind = "file"
	Dir     Kind = "dir"
	Subdirs Kind = "subdirs"
)

// fqcn is the full name of a collection, the zero one where there is none: a repository stands for the collections in
// it.
type fqcn struct{ namespace, name string }

func (c fqcn) String() string {
	if c == (fqcn{}) {
		return "None"
	}
	return c.namespace + "." + c.name
}

var collectionName = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*\.[a-zA-Z_][a-zA-Z0-9_]*$`) })

// validName reports whether a text is the full name of a collection. Words of Python cannot be part of one.
func validName(s string) bool {
	if !collectionName().MatchString(s) {
		return false
	}
	for _, part := range strings.Split(s, ".") {
		if pythonWords[part] {
			return false
		}
	}
	return true
}

// pythonWords are never changed.
var pythonWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("False None True and as assert async await break class continue def del elif else " +
		"except finally for from " +
		"global if import in is lambda nonlocal not or pass raise return try while with yield") {
		m[w] = true
	}
	return m
}()

// CheckName refuses what is no name of a collection, which may have :VERSION behind it.
func CheckName(name string) error {
	if short, _, _ := strings.Cut(name, ":"); validName(short) {
		return nil
	}
	return failf("Invalid collection name '%s', name must be in the format <namespace>.<collection>. \n"+
		"Please make sure namespace and collection name contains characters from [a-zA-Z0-9_] only.", name)
}

// checkNames refuses a collection after whose names no directory can be made below the one of collections. where says
// who named it so.
func (c fqcn) checkNames(where string) error {
	if validName(c.String()) {
		return nil
	}
	return failf("%s: a collection cannot be called %q: directories are named after its namespace and its name, "+
		"so both must be identifiers (letters, digits and _).", where, c.namespace+"."+c.name)
}

func splitName(s string) fqcn {
	namespace, name, _ := strings.Cut(s, ".")
	return fqcn{namespace, name}
}

// Requirement is a collection that is wanted.
type Requirement struct {
	name fqcn
	// version is a version, a range, or *.
	version string
	kind    Kind
	// source is a path or a URL; server is set instead where a certain one is to be asked.
	source     string
	server     *Server
	signatures []string
}

// virtual requirements stand for collections that are known once they are fetched.
func (r Requirement) virtual() bool { return r.kind == Git || r.kind == Subdirs }

// concrete requirements are one collection, whatever servers have.
func (r Requirement) concrete() bool { return r.kind != Galaxy }

// id returns what requirements of the same collection share.
func (r Requirement) id() string {
	if r.virtual() {
		return fmt.Sprintf("<virtual namespace from %s of type %s>", r.source, r.kind)
	}
	return r.name.String()
}

func (r Requirement) String() string {
	switch {
	case r.name != (fqcn{}):
		return r.name.String() + ":" + r.version
	case r.kind == Git:
		return "git collection from a Git repo"
	}
	return string(r.kind) + " collection from a namespace"
}

func gitURL(s string) bool { return strings.HasPrefix(s, "git+") || strings.HasPrefix(s, "git@") }

func httpURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https"))
}

func installedDir(path string) bool { return isFile(filepath.Join(path, manifestName)) }
func sourceDir(path string) bool    { return isFile(filepath.Join(path, "galaxy.yml")) }
func collectionDir(path string) bool {
	return installedDir(path) || sourceDir(path)
}

// collectionsUnder returns the directories of a namespace that are collections.
func collectionsUnder(path string) []string {
	var out []string
	entries, _ := os.ReadDir(path) // no directory has none
	for _, e := range entries {
		if sub := filepath.Join(path, e.Name()); !strings.HasPrefix(e.Name(), ".") && collectionDir(sub) {
			out = append(out, sub)
		}
	}
	return out
}

// kindOf returns what a text points at, "" if that is nothing.
func kindOf(s string) Kind {
	switch {
	case gitURL(s):
		return Git
	case httpURL(s):
		return URL
	case isFile(s):
		return File
	case collectionDir(s):
		return Dir
	case len(collectionsUnder(s)) > 0:
		return Subdirs
	}
	return ""
}

// Parse reads a requirement as it is given on the command line: a name with :VERSION, or what points at a collection.
func (c *Client) Parse(line string, signatures []string) (Requirement, error) {
	d := value.NewDict()
	if kindOf(line) != "" {
		d.Set("name", value.Str(line))
	} else {
		name, version, _ := strings.Cut(line, ":")
		d.Set("name", value.Str(name))
		if version != "" {
			d.Set("version", value.Str(version))
		}
	}
	if signatures != nil {
		list := value.NewList()
		for _, s := range signatures {
			list.Items = append(list.Items, value.Str(s))
		}
		d.Set("signatures", list)
	}
	return c.requirement(d, nil, true)
}

// requirement reads one of a file, in which server is what its source names, if it names one.
func (c *Client) requirement(d *value.Dict, server *Server, strict bool) (Requirement, error) {
	r := Requirement{version: "*", server: server, kind: Kind(text(value.Under(d, "type")))}
	name := text(value.Under(d, "name"))
	if v, ok := d.Get("version"); ok {
		r.version = text(v)
	}
	if server == nil {
		r.source = text(value.Under(d, "source"))
	}
	if v := value.Under(d, "signatures"); v != nil && !value.IsNone(v) {
		if strict && c.Signing.Keyring == "" {
			return r, failf("Signatures were provided to verify %s but no keyring was configured.", name)
		}
		list := items(v)
		if list == nil {
			list = []value.Value{v}
		}
		for _, s := range list {
			r.signatures = append(r.signatures, text(s))
		}
	}
	if err := r.findKind(&name); err != nil {
		return r, err
	}
	if r.kind == Galaxy && name == "" {
		return r, failed("Collections requirement entry should contain the key 'name' if it's requested from a " +
			"Galaxy-like index server.")
	}
	if r.kind != Galaxy && r.source == "" {
		r.source, name = name, ""
	}
	if r.kind == Galaxy && server != nil && !httpURL(server.url) {
		return r, failf("Collections requirement 'source' entry should contain a valid Galaxy API URL but it does not: %s "+
			"is not an HTTP URL.", server.url)
	}
	if name != "" {
		r.name = splitName(name)
		if !r.virtual() { // the name of a repository names no directory
			if err := r.name.checkNames("requirement"); err != nil {
				return r, err
			}
		}
	}
	return c.complete(r)
}

// findKind finds out what a requirement of no type is.
func (r *Requirement) findKind(name *string) error {
	if r.kind == "" {
		kind := kindOf(*name)
		switch {
		case validName(*name):
			r.kind = Galaxy
		case kind == Dir && installedDir(*name) && sourceDir(*name):
			return failf("Collection requirement at '%s' has both a %s file and a galaxy.yml.\nThe requirement must either "+
				"be an installed "+
				"collection directory or a source collection directory, not both.", *name, manifestName)
		case kind != "":
			r.kind, r.source, *name = kind, *name, ""
		default:
			return noCollection(*name, r.source)
		}
	}
	switch r.kind {
	case Galaxy, Git, URL, File, Dir, Subdirs:
		return nil
	}
	return failed("The collection requirement entry key 'type' must be one of file, galaxy, git, dir, subdirs, or url.")
}

func noCollection(name, source string) error {
	tip := ""
	for _, dir := range []string{name, source} {
		if isDir(dir) {
			tip = fmt.Sprintf("\n\nTip: Make sure you are pointing to the right subdirectory — `%s` looks like a directory "+
				"but it is neither a collection, nor a namespace dir.", dir)
		}
	}
	if tip == "" && name != "" {
		tip = "\n\nCould not find " + name + "."
	}
	return failed("Neither the collection requirement entry key 'name', nor 'source' point to a concrete resolvable " +
		"collection artifact. " +
		"Also 'name' is not an FQCN. A valid collection name must be in the format <namespace>.<collection>. Please make " +
		"sure that the namespace and the collection name contain characters from [a-zA-Z0-9_] only." + tip)
}
