package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// closure gathers what a Python module imports of Ansible and of collections, as Ansible itself packs it.
type closure struct {
	p       *Packer
	module  string // dotted, for messages
	home    string // where the package ansible lies
	utils   []string
	version string
	files   map[string][]byte // by path in the pack
	done    map[string]bool   // dotted names that are in it
	queue   []need
}

// need is a dotted name that a file imports.
type need struct {
	name string
	// item reports whether the last part may be something in a module, and no module itself.
	item bool
	// optional: the file does without it if it is not there. behind: a redirect stands for what lies in this package,
	// which may not exist.
	optional, behind bool
}

var releaseVersion = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`(?m)^__version__\s*=\s*['"]([^'"]+)`) })

// packageInit looks for __init__ files of the host's own Ansible too, as under Ansible: a pack holds a part of the
// package only.
const packageInit = "from pkgutil import extend_path\n__path__ = extend_path(__path__, __name__)\n"

// always are the files that every module in Python needs; the loader and the profiles are there since ansible-core
// 2.19, and imported by names that are made up as they run.
var always = []string{
	"ansible.module_utils.basic", "ansible.module_utils._internal._ansiballz._loader",
	"ansible.module_utils._internal._json._profiles._module_legacy_c2m",
	"ansible.module_utils._internal._json._profiles._module_legacy_m2c",
}

// base adds what every module needs.
func (c *closure) base() error {
	for _, home := range c.p.Homes {
		release, err := os.ReadFile(filepath.Join(home, "ansible", "release.py"))
		if err != nil {
			continue
		}
		c.home = home
		if m := releaseVersion().FindSubmatch(release); m != nil {
			c.version = string(m[1])
		}
		c.put("ansible", "ansible/__init__.py",
			[]byte(packageInit+"__version__ = '"+c.version+"'\n__author__ = 'Ansible, Inc.'\n"))
		c.put("ansible.module_utils", "ansible/module_utils/__init__.py", []byte(packageInit))
		for i, name := range always {
			c.queue = append(c.queue, need{name: name, optional: i > 0})
		}
		return c.gather()
	}
	return fmt.Errorf("its module_utils are those of an ansible-core on the controller, and none was found in %s",
		strings.Join(c.p.Homes, ":"))
}

// with returns a closure that begins with what is in this one.
func (c *closure) with(module string) *closure {
	own := *c
	own.module, own.files, own.done, own.queue = module, maps.Clone(c.files), maps.Clone(c.done), nil
	return &own
}

func (c *closure) put(dotted, file string, text []byte) {
	c.files[file] = text
	c.done[dotted] = true
}

// sum returns a digest of the files that are there.
func (c *closure) sum() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		fmt.Fprintf(h, "%s %d\n%s", name, len(c.files[name]), c.files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// add puts the module itself in, and makes packages of the directories above it.
func (c *closure) add(file string, text []byte) {
	c.files[file] = text
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if _, ok := c.files[dir+"/__init__.py"]; !ok {
			c.files[dir+"/__init__.py"] = []byte{}
		}
	}
}

// follow notes what a file imports. dotted is its name; pkg says that it is the __init__ of a package.
func (c *closure) follow(dotted string, text []byte, pkg bool) {
	for _, im := range imports(string(text)) {
		n := need{name: im.name, item: true, optional: im.optional}
		if im.from != "" {
			from, ok := absolute(im.from, dotted, pkg)
			if !ok || !ofUtils(from) {
				continue
			}
			n.name = from + "." + im.name
		} else if !strings.HasPrefix(n.name, "ansible.module_utils.") && !strings.HasPrefix(n.name, "ansible_collections.") {
			continue
		}
		if !c.done[n.name] {
			c.queue = append(c.queue, n)
		}
		if strings.HasPrefix(n.name, "ansible.module_utils.embed") && !im.optional {
			c.embed(dotted, text)
		}
	}
}

// embedded is how a file asks for another one, of any kind, beside what it imports (since ansible-core 2.22): on the
// top level, with literals.
var embedded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\w[\w, ]*=\s*[\w.]+\.embed\(\s*['"]([\w.]+)['"]\s*,\s*['"]([^'"/]+)['"]\s*,?\s*\)`)
})

// embed adds the files that a file asks for.
func (c *closure) embed(dotted string, text []byte) {
	for _, m := range embedded().FindAllSubmatch(text, -1) {
		from, ok := absolute(string(m[1]), dotted, false)
		parts := strings.Split(from, ".")
		dir := filepath.Join(append([]string{c.home}, parts...)...)
		if ok && len(parts) > 3 && parts[0] == "ansible_collections" {
			dir, ok = c.p.Collections(parts[1] + "." + parts[2])
			dir = filepath.Join(append([]string{dir}, parts[3:]...)...)
		}
		if !ok || parts[0] != "ansible" && parts[0] != "ansible_collections" {
			continue
		}
		if content, err := os.ReadFile(filepath.Join(dir, string(m[2]))); err == nil {
			c.add(strings.Join(parts, "/")+"/"+string(m[2]), notNil(content))
		}
	}
}

// ofUtils reports whether Ansible packs what is taken from a module.
func ofUtils(from string) bool {
	return strings.HasPrefix(from, "ansible.module_utils") || strings.HasPrefix(from, "ansible_collections.") &&
		(strings.HasSuffix(from, "plugins.module_utils") || strings.Contains(from, ".plugins.module_utils."))
}

// gather adds what is needed, and what that needs. Packages come before what lies in them.
func (c *closure) gather() error {
	for len(c.queue) > 0 {
		slices.SortStableFunc(c.queue, func(a, b need) int { return strings.Compare(a.name, b.name) })
		n := c.queue[0]
		c.queue = c.queue[1:]
		if c.done[n.name] {
			continue
		}
		u, err := c.find(n)
		if err != nil {
			return err
		}
		if u == nil && !n.optional {
			return fmt.Errorf("Could not find imported module support code for %s.  Looked for (%s)", c.module,
				pyList(c.candidates(n))) //lint:ignore ST1005 the words that users see
		}
		if u == nil || c.done[u.name] {
			continue
		}
		file := strings.ReplaceAll(u.name, ".", "/") + ".py"
		if u.pkg {
			file = strings.ReplaceAll(u.name, ".", "/") + "/__init__.py"
		}
		c.put(u.name, file, u.text)
		c.follow(u.name, u.text, u.pkg)
		for i, r := range u.name {
			if r == '.' {
				c.queue = append(c.queue, need{name: u.name[:i], optional: n.optional, behind: u.moved})
			}
		}
	}
	return nil
}

func pyList(names []string) string { return "['" + strings.Join(names, "', '") + "']" }

// util is a file of module_utils.
type util struct {
	name       string // dotted
	text       []byte
	pkg, moved bool
}

// inUtils returns the parts of a name that lie below a module_utils.
func inUtils(name string) []string {
	parts := strings.Split(name, ".")
	if parts[0] == "ansible" {
		return parts[min(2, len(parts)):]
	}
	return parts[min(5, len(parts)):]
}

// candidates returns the names of the modules that a name may mean.
func (c *closure) candidates(n need) []string {
	if parts := inUtils(n.name); len(parts) > 0 && parts[0] == "six" && strings.HasPrefix(n.name,
		"ansible.module_utils.") {
		return []string{"ansible.module_utils.six"} // it makes what is in it as it runs
	}
	if n.item && len(inUtils(n.name)) > 1 {
		return []string{n.name, n.name[:strings.LastIndexByte(n.name, '.')]}
	}
	return []string{n.name}
}

// find returns the file that a name means; nil if there is none. What lies in module_utils of the project hides
// redirects of old names, but redirects of a collection hide its files.
func (c *closure) find(n need) (*util, error) {
	own := strings.HasPrefix(n.name, "ansible.")
	candidates := c.candidates(n)
	for _, name := range candidates {
		if !own {
			if u, err := c.redirected(name, n); u != nil || err != nil {
				return u, err
			}
		}
		if u := c.source(name); u != nil {
			return u, nil
		}
		if own {
			if u, err := c.redirected(name, n); u != nil || err != nil {
				return u, err
			}
		}
	}
	if n.behind {
		return &util{name: candidates[len(candidates)-1], text: []byte{}, pkg: true}, nil
	}
	return nil, nil
}

// redirected returns a stand-in for a module that another name leads to.
func (c *closure) redirected(name string, n need) (*util, error) {
	below := strings.Join(inUtils(name), ".")
	if below == "" {
		return nil, nil
	}
	collection, dir, ok := "ansible.builtin", filepath.Join(c.home, "ansible", "config"), true
	file := filepath.Join(dir, "ansible_builtin_runtime.yml")
	if parts := strings.Split(name, "."); parts[0] != "ansible" {
		collection = parts[1] + "." + parts[2]
		dir, ok = c.p.Collections(collection)
		file = filepath.Join(dir, "meta", "runtime.yml")
	}
	if !ok {
		if n.optional {
			return nil, nil
		}
		return nil, fmt.Errorf("error processing module_util %s loading redirected collection %s: unable to locate "+
			"collection %s", name, collection, collection)
	}
	r := c.p.routes(file, collection)[below]
	if r.removed != nil {
		return nil, errors.New(r.removed.Removal())
	}
	if r.deprecated != nil && c.p.Deprecate != nil {
		c.p.Deprecate(*r.deprecated)
	}
	if r.to == "" {
		return nil, nil
	}
	target := r.to
	if parts := strings.SplitN(r.to, ".", 3); parts[0] != "ansible_collections" {
		if len(parts) < 3 {
			return nil, fmt.Errorf("invalid redirect for %s: %s", name, r.to)
		}
		target = "ansible_collections." + parts[0] + "." + parts[1] + ".plugins.module_utils." + parts[2]
	}
	text := "import sys\n\nimport " + target + " as target\n\nsys.modules['" + name + "'] = target\n"
	return &util{name: name, text: []byte(text), pkg: true, moved: true}, nil
}

// source reads a Python module or package.
func (c *closure) source(name string) *util {
	parts := strings.Split(name, ".")
	if parts[0] == "ansible_collections" && len(parts) < 6 {
		// these are made up: nobody wants the code of a collection's packages
		return &util{name: name, text: []byte{}, pkg: true}
	}
	for _, base := range c.places(parts) {
		if text, err := os.ReadFile(filepath.Join(base, "__init__.py")); err == nil {
			return &util{name: name, text: notNil(text), pkg: true}
		}
		if info, err := os.Stat(base); err == nil && info.IsDir() && parts[0] != "ansible" {
			return &util{name: name, text: []byte{}, pkg: true} // in collections any directory is a package
		}
		if text, err := os.ReadFile(base + ".py"); err == nil {
			return &util{name: name, text: notNil(text)}
		}
	}
	return nil
}

func notNil(text []byte) []byte { return append([]byte{}, text...) }

// places returns where the parts of a name may lie on the disk.
func (c *closure) places(parts []string) []string {
	rest := filepath.Join(inUtils(strings.Join(parts, "."))...)
	if parts[0] == "ansible" {
		var list []string
		for _, dir := range c.utils {
			list = append(list, filepath.Join(dir, rest))
		}
		return append(list, filepath.Join(c.home, "ansible", "module_utils", rest))
	}
	if dir, ok := c.p.Collections(parts[1] + "." + parts[2]); ok && parts[3] == "plugins" && parts[4] == "module_utils" {
		return []string{filepath.Join(dir, "plugins", "module_utils", rest)}
	}
	return nil
}

// absolute resolves the dots of a relative import.
func absolute(from, dotted string, pkg bool) (string, bool) {
	rest := strings.TrimLeft(from, ".")
	dots := len(from) - len(rest)
	if dots == 0 {
		return from, true
	}
	if pkg {
		dots--
	}
	parts := strings.Split(dotted, ".")
	if dots >= len(parts) {
		return "", false
	}
	base := strings.Join(parts[:len(parts)-dots], ".")
	if rest == "" {
		return base, true
	}
	return base + "." + rest, true
}

// internals returns the arguments with which this Ansible tells modules how they are run: it takes no others.
func (c *closure) internals() []string {
	var names []string
	block := passVars().Find(c.files["ansible/module_utils/common/parameters.py"])
	for _, m := range passed().FindAllSubmatch(block, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

var passVars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?ms)^PASS_VARS\b[^{\n]*\{.*?^\}`) })

var passed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*'(\w+)':`) })
