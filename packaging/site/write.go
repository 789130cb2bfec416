package main

import (
	"embed"
	"encoding/json"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
)

//go:embed look
var look embed.FS

// view is what the template of a page sees.
type view struct {
	Title, Up, Address string
	Nav                []navSection
	Heads              []headView
	Body               template.HTML
}

type navSection struct {
	Title string
	Links []navLink
}

type navLink struct {
	Title, To string
	Here      bool
}

type headView struct{ ID, Text string }

// write makes the directory of the site anew.
func (s *site) write(out string) error {
	tmpl, err := template.ParseFS(look, "look/page.html")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	index, err := json.Marshal(s.index())
	if err != nil {
		return err
	}
	if err := put(filepath.Join(out, "words.js"), append([]byte("const words = "), index...)); err != nil {
		return err
	}
	for _, name := range []string{"style.css", "search.js"} {
		text, err := look.ReadFile("look/" + name)
		if err != nil {
			return err
		}
		if err := put(filepath.Join(out, name), text); err != nil {
			return err
		}
	}
	for file := range s.files {
		text, err := os.ReadFile(filepath.Join(s.root, file))
		if err != nil {
			return err
		}
		if err := put(filepath.Join(out, fileAddress(file)), text); err != nil {
			return err
		}
	}
	for _, p := range s.pages {
		if err := s.writePage(tmpl, p, out); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) writePage(tmpl *template.Template, p *page, out string) error {
	body, err := p.html(func(link string) string { return s.turn(p, link) })
	if err != nil {
		return err
	}
	v := view{Title: p.title, Up: up(p.address), Address: p.address, Body: template.HTML(shade(string(body)))}
	for _, section := range s.nav {
		one := navSection{Title: section.title}
		for _, to := range section.pages {
			one.Links = append(one.Links, navLink{to.title, up(p.address) + to.address, to == p})
		}
		v.Nav = append(v.Nav, one)
	}
	for _, h := range p.heads {
		if h.level == 2 {
			v.Heads = append(v.Heads, headView{h.id, h.text})
		}
	}
	var b strings.Builder
	if err := tmpl.Execute(&b, v); err != nil {
		return err
	}
	return put(filepath.Join(out, filepath.FromSlash(p.address)), []byte(b.String()))
}

// put writes a file with the directories above it.
func put(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

var (
	codeBlocks = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)<pre><code[^>]*>.*?</code></pre>`)
	})
	prompts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^((?:<pre><code[^>]*>)?)(\$ )`) })
	remarks = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(  +)(# .*?)((?:</code></pre>)?)$`)
	})
)

// shade sets prompts and remarks in code apart from what one types.
func shade(body string) string {
	return codeBlocks().ReplaceAllStringFunc(body, func(code string) string {
		code = remarks().ReplaceAllString(code, `$1<i>$2</i>$3`)
		return prompts().ReplaceAllString(code, `$1<b>$2</b>`)
	})
}

// entry is one place that the search knows: a page, or a section of it.
type entry struct {
	Page string `json:"p"`
	To   string `json:"u"`
	Head string `json:"h,omitempty"`
	Text string `json:"t"`
}

// index is what the search looks through.
func (s *site) index() []entry {
	var all []entry
	for _, p := range s.pages {
		at := entry{Page: p.title, To: p.address}
		for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
			if h, ok := n.(*ast.Heading); ok && h.Level > 1 {
				all = append(all, at)
				id, _ := h.AttributeString("id")
				at = entry{Page: p.title, To: p.address + "#" + string(id.([]byte)), Head: plain(h, p.text)}
				continue
			}
			at.Text += spaced(n, p.text) + " "
		}
		all = append(all, at)
	}
	return all
}

// spaced is the text of a block with its cells and items parted.
func spaced(n ast.Node, source []byte) string {
	if n.FirstChild() == nil || n.FirstChild().Type() == ast.TypeInline {
		return strings.Join(strings.Fields(plain(n, source)), " ")
	}
	var parts []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		parts = append(parts, spaced(c, source))
	}
	return strings.Join(parts, " ")
}
