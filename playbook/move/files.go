package move

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/search"
	"hark/playbook/syntax"
)

// largest is the size in bytes of the largest file of a role or of variables that is read as text.
const largest = 1 << 20

// node reads a file once; nil if it was read before or cannot be read.
func (p *project) node(file string) *syntax.Node {
	if p.seen[file] {
		return nil
	}
	p.seen[file] = true
	n, err := p.in.Loader.Node(file)
	if err != nil {
		p.report.Unread = append(p.report.Unread, err)
		return nil
	}
	p.report.Files++
	return n
}

// playbook reads a playbook with all that it leads to.
func (p *project) playbook(path string) {
	dir := filepath.Dir(path)
	p.varsBeside(dir)
	p.pluginsBeside(dir)
	n := p.node(path)
	if n == nil {
		return
	}
	r := reader{p: p, file: path, book: dir}
	for _, entry := range n.Items {
		r.play(entry)
	}
}

// varsBeside reads group_vars and host_vars of a directory.
func (p *project) varsBeside(dir string) {
	for _, kind := range []string{"group_vars", "host_vars"} {
		p.varsUnder(filepath.Join(dir, kind))
	}
}

// varsUnder reads all files of variables below a directory.
func (p *project) varsUnder(dir string) {
	p.walk(dir, func(path string) {
		if name := filepath.Base(path); strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			return
		}
		switch filepath.Ext(path) {
		case "", ".yml", ".yaml", ".json":
			p.varsFile(path)
		}
	})
}

// varsFile reads a file of variables.
func (p *project) varsFile(path string) {
	if n := p.node(path); n != nil {
		r := reader{p: p, file: path}
		r.vars(n)
	}
}

// walk calls f for the files below a directory.
func (p *project) walk(dir string, f func(path string)) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what cannot be looked into holds nothing that a run could read
		if err == nil && !d.IsDir() {
			f(path)
		}
		return nil
	})
}

// role reads all files of a role that a run could come to.
func (p *project) role(name, book, near string) {
	if strings.Contains(name, "{{") {
		p.report.Unfollowed++
		return
	}
	found, err := p.in.Roles.Find(name, search.Dir(book), near, nil)
	if err != nil {
		p.report.Unread = append(p.report.Unread, err)
		return
	}
	if p.seen[found.Path] {
		return
	}
	p.seen[found.Path] = true
	for _, sub := range []string{"defaults", "vars"} {
		p.varsUnder(filepath.Join(found.Path, sub))
	}
	for _, sub := range []string{"tasks", "handlers"} {
		p.walk(filepath.Join(found.Path, sub), func(path string) {
			if ext := filepath.Ext(path); ext == ".yml" || ext == ".yaml" || ext == "" {
				p.taskFile(path, book)
			}
		})
	}
	p.walk(filepath.Join(found.Path, "templates"), p.template)
	p.pluginsBeside(found.Path)
	for _, ext := range []string{".yml", ".yaml"} {
		if path := filepath.Join(found.Path, "meta", "main"+ext); search.Exists(path) {
			r := reader{p: p, file: path, book: book}
			if n := p.node(path); n != nil {
				r.roles(n.Get("dependencies"), filepath.Dir(found.Path))
			}
		}
	}
}

// taskFile reads a file of tasks.
func (p *project) taskFile(path, book string) {
	if n := p.node(path); n != nil {
		r := reader{p: p, file: path, book: book}
		r.entries(n, false, false)
	}
}

// template reads the text of a template file.
func (p *project) template(path string) {
	if p.seen[path] {
		return
	}
	p.seen[path] = true
	if info, err := os.Stat(path); err != nil || info.Size() > largest {
		return
	}
	text, err := p.in.Loader.Read(path)
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return
	}
	p.report.Files++
	p.sites = append(p.sites, site{at: syntax.Place{File: path, Line: 1, Column: 1}, v: value.YAMLStr(text), file: true})
}

// pluginsBeside counts the files of Python that templates call, or that see what they give.
func (p *project) pluginsBeside(dir string) {
	for _, kind := range []string{"filter_plugins", "test_plugins", "lookup_plugins", "action_plugins", "callback_plugins", "vars_plugins", "library"} {
		p.walk(filepath.Join(dir, kind), func(path string) {
			if filepath.Ext(path) == ".py" && !p.seen[path] {
				p.seen[path] = true
				p.report.Plugins++
			}
		})
	}
}

// inventories looks for files of inventories that were passed over.
func (p *project) inventories() {
	for _, dir := range p.in.Inventories {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if !e.IsDir() && filepath.Ext(e.Name()) == ".ini" {
				p.found(site{at: syntax.Place{File: filepath.Join(dir, e.Name())}}, "ini-inventory", Differs, "this file in a directory of inventories is read")
			}
		}
	}
}
