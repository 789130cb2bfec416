package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// page is one Markdown file.
type page struct {
	source  string // its path in the checkout, with slashes
	address string // its path in the site
	title   string
	text    []byte
	tree    ast.Node
	heads   []head
	links   []string // addresses as they are written
}

// head is a heading, but for the title.
type head struct {
	level    int
	id, text string
}

// sources are the files of which pages are made.
var sources = []string{"README.md", "docs/*.md", "docs/modules/*.md", "docs/decisions/*.md", "agent/wire/PROTOCOL.md"}

// addressOf is where the page of a source stands: docs is the top of the site.
func addressOf(source string) string {
	switch source {
	case "README.md":
		return "index.html"
	case "agent/wire/PROTOCOL.md":
		return "protocol.html"
	}
	dir, name := path.Split(strings.TrimPrefix(source, "docs/"))
	if name == "README.md" {
		name = "contents.md"
	}
	return dir + strings.TrimSuffix(name, ".md") + ".html"
}

// markdown is the dialect of the pages.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough))
}

// newPage parses a file.
func newPage(root, source string) (*page, error) {
	data, err := os.ReadFile(filepath.Join(root, source))
	if err != nil {
		return nil, err
	}
	p := &page{source: source, address: addressOf(source), text: data}
	p.tree = markdown().Parser().Parse(text.NewReader(data), parser.WithContext(parser.NewContext()))
	seen := map[string]int{}
	err = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.heading(n, seen)
		case *ast.Link:
			p.links = append(p.links, string(n.Destination))
		case *ast.Image:
			p.links = append(p.links, string(n.Destination))
		}
		return ast.WalkContinue, nil
	})
	if p.title == "" {
		return nil, fmt.Errorf("%s: has no title", source)
	}
	return p, err
}

// heading gives a heading the name by which links reach it, which is the one that the forges give it.
func (p *page) heading(n *ast.Heading, seen map[string]int) {
	words := plain(n, p.text)
	if p.title == "" {
		p.title = words
	}
	id := headingID(words)
	seen[id]++
	if again := seen[id]; again > 1 {
		id = fmt.Sprintf("%s-%d", id, again-1)
	}
	n.SetAttributeString("id", []byte(id))
	p.heads = append(p.heads, head{n.Level, id, words})
}

// unnamed is what the name of a heading is without.
var unnamed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\p{L}\p{N}_\- ]`) })

// headingID is the name of a heading.
func headingID(words string) string {
	return strings.ReplaceAll(unnamed().ReplaceAllString(strings.ToLower(words), ""), " ", "-")
}

// plain is the text of a node without marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker never fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// has reports whether a link may name a place of the page.
func (p *page) has(id string) bool {
	return slices.ContainsFunc(p.heads, func(h head) bool { return h.id == id })
}

// html is the page's body, with links turned by turn.
func (p *page) html(turn func(link string) string) ([]byte, error) {
	var b bytes.Buffer
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker never fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(turn(string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte(turn(string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
	err := markdown().Renderer().Render(&b, p.text, p.tree)
	return b.Bytes(), err
}
