package foreign

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Style is how a module takes its arguments.
type Style string

// The styles that Ansible knows, in the order in which it tries them.
const (
	// Binary: a program; its one argument is a file with the arguments as JSON.
	Binary Style = "binary"
	// Python: it imports ansible.module_utils, or modules of its collection.
	Python Style = "python"
	// JSONArgs: the arguments stand in its text.
	JSONArgs Style = "json_args"
	// WantJSON: a script; its one argument is a file with the arguments as JSON.
	WantJSON Style = "want_json"
	// Old: a script; its one argument is a file with key=value pairs.
	Old Style = "old"
)

// Manifest says what a pack holds: the file "manifest.json" in it.
type Manifest struct {
	Style Style `json:"style"`
	// Entry is what is run: the dotted name of a Python module, or the name of a file in the pack.
	Entry string `json:"entry"`
	// Version is that of the ansible-core whose module_utils these are, "" if there are none.
	Version string `json:"version,omitempty"`
	// Base names, by their content, the files that every module in Python imports: hosts keep interpreters that know them.
	Base string `json:"base,omitempty"`
}

// Packer packs modules. It may be used by several goroutines; a module is packed once.
type Packer struct {
	// Homes are directories that hold the Python packages ansible and ansible_collections, see PythonDirs.
	Homes       []string
	Collections Collections

	mu    sync.Mutex
	packs map[string][]byte // by path; guarded by mu
}

// Pack is a zip archive of the module with everything that it imports of Ansible's, and a Manifest.
func (p *Packer) Pack(m Module) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if raw, ok := p.packs[m.Path]; ok {
		return raw, nil
	}
	raw, err := p.pack(m)
	if err != nil {
		return nil, err
	}
	if p.packs == nil {
		p.packs = map[string][]byte{}
	}
	p.packs[m.Path] = raw
	return raw, nil
}

func (p *Packer) pack(m Module) ([]byte, error) {
	text, err := os.ReadFile(m.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the module %s: %w", m.Name, err)
	}
	style := StyleOf(text)
	if style != Python {
		return archive(Manifest{Style: style, Entry: "module"}, map[string][]byte{"module": text})
	}
	c := &closure{homes: p.Homes, collections: p.Collections, utils: m.Utils, files: map[string][]byte{}}
	if err := c.base(); err != nil {
		return nil, fmt.Errorf("cannot run the module %s, which is written in Python: %w", m.Name, err)
	}
	base := c.sum()
	entry := c.entry(m.Name)
	file := strings.ReplaceAll(entry, ".", "/") + ".py"
	text = bytes.ReplaceAll(text, []byte("#<<INCLUDE_ANSIBLE_MODULE_COMMON>>"), []byte("from ansible.module_utils.basic import *"))
	c.add(file, text)
	c.follow(entry, text, false)
	return archive(Manifest{Style: Python, Entry: entry, Version: c.version, Base: base}, c.files)
}

var newStyle = regexp.MustCompile(`(?m)(?:^|;)\s*(?:from\s+ansible(?:_collections\.[^.]+\.[^.]+\.plugins)?\.module_utils[\w.]*\s+import|import\s+ansible(?:_collections\.[^.]+\.[^.]+\.plugins)?\.module_utils\.)|(?m)^\s*from\s+\.+[\w.]*\s+import`)

// StyleOf tells how a module takes its arguments, by its text.
func StyleOf(text []byte) Style {
	switch {
	case bytes.IndexByte(text[:min(len(text), 8<<10)], 0) >= 0:
		return Binary
	case bytes.Contains(text, []byte("#<<INCLUDE_ANSIBLE_MODULE_COMMON>>")), newStyle.Match(text):
		return Python
	case bytes.Contains(text, []byte("<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>")):
		return JSONArgs
	case bytes.Contains(text, []byte("WANT_JSON")):
		return WantJSON
	}
	return Old
}

// archive makes the zip, whose bytes depend on the content alone.
func archive(m Manifest, files map[string][]byte) ([]byte, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	files["manifest.json"] = raw
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// closure gathers what a Python module imports of Ansible and of collections.
type closure struct {
	homes       []string
	collections Collections
	utils       []string
	home        string // where the package ansible lies
	version     string
	files       map[string][]byte // by path in the pack
}

var releaseVersion = regexp.MustCompile(`(?m)^__version__\s*=\s*['"]([^'"]+)`)

// base adds what every module needs.
func (c *closure) base() error {
	for _, home := range c.homes {
		release, err := os.ReadFile(filepath.Join(home, "ansible", "release.py"))
		if err != nil {
			continue
		}
		c.home = home
		if m := releaseVersion.FindSubmatch(release); m != nil {
			c.version = string(m[1])
		}
		c.add("ansible/__init__.py", []byte("__version__ = '"+c.version+"'\n"))
		c.add("ansible/release.py", release)
		c.imported("ansible.module_utils.basic")
		return nil
	}
	return fmt.Errorf("its module_utils are those of an ansible-core on the controller, and none was found in %s", strings.Join(c.homes, ":"))
}

// sum is a digest of the files that are there.
func (c *closure) sum() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		fmt.Fprintf(h, "%s %d\n%s", name, len(c.files[name]), c.files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// entry is the dotted name under which a module is run.
func (c *closure) entry(name string) string {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) < 3 {
		return "ansible.modules." + name
	}
	return "ansible_collections." + parts[0] + "." + parts[1] + ".plugins.modules." + parts[2]
}

// add puts a file in, and makes packages of the directories above it.
func (c *closure) add(file string, text []byte) {
	c.files[file] = text
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		init := dir + "/__init__.py"
		if _, ok := c.files[init]; !ok {
			c.files[init] = nil
		}
	}
}

// follow adds what a file imports. dotted is its name; pkg tells that it is the __init__ of a package.
func (c *closure) follow(dotted string, text []byte, pkg bool) {
	for _, name := range imports(dotted, string(text), pkg) {
		c.imported(name)
	}
}

// imported adds a dotted name: the module itself, or that which holds the name.
func (c *closure) imported(name string) {
	for ; strings.Contains(name, ".module_utils") || strings.HasPrefix(name, "ansible_collections."); name = name[:strings.LastIndexByte(name, '.')] {
		rel := strings.ReplaceAll(name, ".", "/")
		if _, ok := c.files[rel+".py"]; ok {
			return
		}
		if raw, ok := c.files[rel+"/__init__.py"]; ok && raw != nil {
			return
		}
		if text, pkg, ok := c.source(rel); ok {
			file := rel + ".py"
			if pkg {
				file = rel + "/__init__.py"
			}
			c.add(file, text)
			c.parents(rel)
			c.follow(name, text, pkg)
			return
		}
		if !strings.Contains(name, ".") {
			return
		}
	}
}

// parents adds the __init__ files of the packages above a module, and what they import.
func (c *closure) parents(rel string) {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		init := dir + "/__init__.py"
		if raw := c.files[init]; raw != nil || dir == "ansible" {
			continue
		}
		if text, pkg, ok := c.source(dir); ok && pkg && len(text) > 0 {
			c.files[init] = text
			c.follow(strings.ReplaceAll(dir, "/", "."), text, true)
		}
	}
}

// source reads a Python module or package by its path without extension.
func (c *closure) source(rel string) (text []byte, pkg, ok bool) {
	for _, base := range c.places(rel) {
		if text, err := os.ReadFile(base + ".py"); err == nil {
			return notNil(text), false, true
		}
		if text, err := os.ReadFile(filepath.Join(base, "__init__.py")); err == nil {
			return notNil(text), true, true
		}
	}
	return nil, false, false
}

func notNil(text []byte) []byte {
	if text == nil {
		return []byte{}
	}
	return text
}

// places are where a path of a pack may lie on the disk.
func (c *closure) places(rel string) []string {
	if rest, ok := strings.CutPrefix(rel, "ansible/module_utils/"); ok {
		var list []string
		for _, dir := range c.utils {
			list = append(list, filepath.Join(dir, rest))
		}
		return append(list, filepath.Join(c.home, rel))
	}
	parts := strings.SplitN(rel, "/", 4)
	if parts[0] == "ansible_collections" && len(parts) == 4 {
		if dir, ok := c.collections(parts[1] + "." + parts[2]); ok {
			return []string{filepath.Join(dir, parts[3])}
		}
		return nil
	}
	if rel == "ansible/module_utils" {
		return []string{filepath.Join(c.home, rel)}
	}
	return nil
}

var importLine = regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|(?:[^\n\\]|\\\n)*)|import[ \t]+([^\n]+))`)

// imports are the dotted names that a file of Python may import; a name taken from a module may be a module too.
func imports(dotted, text string, pkg bool) []string {
	var out []string
	for _, m := range importLine.FindAllStringSubmatch(text, -1) {
		if m[3] != "" {
			for _, item := range strings.Split(m[3], ",") {
				out = append(out, firstField(item))
			}
			continue
		}
		from, ok := absolute(m[1], dotted, pkg)
		if !ok {
			continue
		}
		for _, item := range strings.Split(strings.NewReplacer("(", "", ")", "", `\`, "").Replace(withoutComments(m[2])), ",") {
			if name := firstField(item); name != "" && name != "*" {
				out = append(out, from+"."+name)
			}
		}
		out = append(out, from)
	}
	return slices.DeleteFunc(out, func(name string) bool {
		return !strings.HasPrefix(name, "ansible.module_utils") && !strings.HasPrefix(name, "ansible_collections.")
	})
}

func withoutComments(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i], _, _ = strings.Cut(l, "#")
	}
	return strings.Join(lines, "\n")
}

func firstField(s string) string {
	f := strings.Fields(s)
	if len(f) == 0 {
		return ""
	}
	return f[0]
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
