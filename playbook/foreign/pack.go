package foreign

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"hark/playbook/deprecation"
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
	// PowerShell: for Windows, and not run.
	PowerShell Style = "powershell"
	// Old: a script; its one argument is a file with key=value pairs.
	Old Style = "old"
)

// Manifest says what a pack holds: the file "manifest.json" in it.
type Manifest struct {
	Style Style `json:"style"`
	// Entry is what is run: the dotted name of a Python module, or the name of a file in the pack.
	Entry string `json:"entry"`
	// Version is that of the ansible-core on the controller, "" if there is none.
	Version string `json:"version,omitempty"`
	// Base names, by their content, the files that every module in Python imports: hosts keep interpreters that know
	// them.
	Base string `json:"base,omitempty"`
	// Internals are the arguments that modules of that version take beside their own.
	Internals []string `json:"internals,omitempty"`
}

// Packer packs modules. It may be used by several goroutines; a module is packed once.
type Packer struct {
	// Homes are directories that hold the Python packages ansible and ansible_collections, see PythonDirs.
	Homes       []string
	Collections Collections
	// Deprecate hears of module_utils that are deprecated; nil drops it.
	Deprecate func(deprecation.Notice)

	mu       sync.Mutex
	packs    map[string][]byte             // by path; guarded by mu
	bases    map[string]*closure           // by their directories of module_utils; guarded by mu
	redirect map[string]map[string]routing // of module_utils, by file; guarded by mu
}

// Pack returns a zip archive of the module with everything that it imports of Ansible's, and a Manifest.
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

// base returns what every module needs that these directories of module_utils stand before. It assumes mu held.
func (p *Packer) base(utils []string) (*closure, error) {
	key := strings.Join(utils, "\x00")
	if c := p.bases[key]; c != nil {
		return c, nil
	}
	c := &closure{p: p, module: "ansible.module_utils.basic", utils: utils, files: map[string][]byte{},
		done: map[string]bool{}}
	if err := c.base(); err != nil {
		return nil, err
	}
	if p.bases == nil {
		p.bases = map[string]*closure{}
	}
	p.bases[key] = c
	return c, nil
}

// routes returns the redirects of module_utils that a file lists. It assumes mu held.
func (p *Packer) routes(file, collection string) map[string]routing {
	r, ok := p.redirect[file]
	if !ok {
		r = readRouting(file, collection, "module_utils")
		if p.redirect == nil {
			p.redirect = map[string]map[string]routing{}
		}
		p.redirect[file] = r
	}
	return r
}

func (p *Packer) pack(m Module) ([]byte, error) {
	text, err := os.ReadFile(m.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the module %s: %w", m.Name, err)
	}
	style := StyleOf(text)
	switch style {
	case PowerShell:
		return nil, fmt.Errorf("cannot run the module %s: it is written in PowerShell, for Windows", m.Name)
	case Python:
		return p.packPython(m, text)
	}
	manifest := Manifest{Style: style, Entry: "module"}
	if base, err := p.base(m.Utils); err == nil { // a module that is no Python does without an ansible-core
		manifest.Version, manifest.Internals = base.version, base.internals()
	}
	return archive(manifest, map[string][]byte{"module": text})
}

func (p *Packer) packPython(m Module, text []byte) ([]byte, error) {
	base, err := p.base(m.Utils)
	if err != nil {
		return nil, fmt.Errorf("cannot run the module %s, which is written in Python: %w", m.Name, err)
	}
	c := base.with(entry(m))
	manifest := Manifest{Style: Python, Entry: c.module, Version: c.version, Base: c.sum(), Internals: c.internals()}
	text = bytes.ReplaceAll(text, []byte("#<<INCLUDE_ANSIBLE_MODULE_COMMON>>"),
		[]byte("from ansible.module_utils.basic import *"))
	c.follow(c.module, text, false)
	if err := c.gather(); err != nil {
		return nil, err
	}
	c.add(strings.ReplaceAll(c.module, ".", "/")+".py", text)
	return archive(manifest, c.files)
}

var ownPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/(ansible_collections/[^/]+/[^/]+/plugins/modules/.*|ansible/modules/[^/]+)\.py$`)
})

// entry returns the dotted name under which a module is run.
func entry(m Module) string {
	if at := ownPath().FindStringSubmatch(m.Path); at != nil && !strings.Contains(at[1], ".") {
		return strings.ReplaceAll(at[1], "/", ".")
	}
	return "ansible.modules." + m.Name[strings.LastIndexByte(m.Name, '.')+1:]
}

// newStyle matches a module that imports Ansible's module_utils, or its collection's, by the words: they may stand
// in a comment.
var newStyle = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`from +(?:\.{2,} *module_utils|ansible_collections\.[^.]+\.[^.]+\.plugins\.module_utils|` +
		`ansible\.module_utils).* +import |` +
		`import +(?:ansible_collections\.[^.]+\.[^.]+\.plugins\.module_utils|ansible\.module_utils\.)`)
})

// powerShell matches a module for Windows.
var powerShell = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`# POWERSHELL_COMMON|(?i:#Requires -(?:Module|Version)|#AnsibleRequires -(?:OSVersion|` +
		`PowerShell|CSharpUtil|Wrapper))`)
})

// StyleOf describes how a module takes its arguments, by its text.
func StyleOf(text []byte) Style {
	switch {
	case slices.ContainsFunc(text[:min(len(text), 1<<10)], binary):
		return Binary
	case bytes.Contains(text, []byte("#<<INCLUDE_ANSIBLE_MODULE_COMMON>>")), newStyle().Match(text):
		return Python
	case powerShell().Match(text):
		return PowerShell
	case bytes.Contains(text, []byte("<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>")):
		return JSONArgs
	case bytes.Contains(text, []byte("WANT_JSON")):
		return WantJSON
	}
	return Old
}

// binary reports whether b is a byte that no text has.
func binary(b byte) bool {
	return b < ' ' && bytes.IndexByte([]byte("\a\b\t\n\f\r\x1b"), b) < 0 || b == 0x7f
}

// archive makes the zip, whose bytes depend on the content only.
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
