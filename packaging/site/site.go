package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// contents is the page whose lists are the site's navigation.
const contents = "docs/README.md"

// site is all pages of a checkout.
type site struct {
	root  string
	pages []*page
	// files are what links lead to beside pages, by their path in the checkout.
	files map[string]bool
	nav   []section
}

// section is a heading of the contents with its links.
type section struct {
	title string
	pages []*page
}

func read(root string) (*site, error) {
	s := &site{root: root, files: map[string]bool{}}
	for _, pattern := range sources {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			source, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			p, err := newPage(root, filepath.ToSlash(source))
			if err != nil {
				return nil, err
			}
			s.pages = append(s.pages, p)
		}
	}
	if s.page(contents) == nil || s.page("README.md") == nil {
		return nil, fmt.Errorf("%s: there is no README.md, or no %s", root, contents)
	}
	s.readContents()
	return s, nil
}

// page is the one of a source, nil if there is none.
func (s *site) page(source string) *page {
	for _, p := range s.pages {
		if p.source == source {
			return p
		}
	}
	return nil
}

// readContents takes the navigation from the contents: each second heading is a section of the links below it.
func (s *site) readContents() {
	c := s.page(contents)
	_ = ast.Walk(c.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker never fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				s.nav = append(s.nav, section{title: plain(n, c.text)})
			}
		case *ast.Link:
			if p := s.page(c.leads(string(n.Destination))); p != nil && len(s.nav) > 0 {
				last := &s.nav[len(s.nav)-1]
				last.pages = append(last.pages, p)
			}
		}
		return ast.WalkContinue, nil
	})
}

// leads is the source that a link of the page leads to, "" for another site's.
func (p *page) leads(link string) string {
	to, _, _ := strings.Cut(link, "#")
	switch {
	case outside(link):
		return ""
	case to == "":
		return p.source
	}
	return path.Join(path.Dir(p.source), to)
}

// outside describes links to other sites.
func outside(link string) bool {
	return strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:")
}

// check holds every link, and that the README.md of each directory of docs names all of its pages.
func (s *site) check() error {
	var bad []error
	for _, p := range s.pages {
		for _, link := range p.links {
			if !outside(link) {
				bad = append(bad, s.checkLink(p, link))
			}
		}
	}
	for _, p := range s.pages {
		if list := path.Join(path.Dir(p.source), "README.md"); strings.HasPrefix(list, "docs/") && p.source != list &&
			!s.lists(list, p) {
			bad = append(bad, fmt.Errorf("%s: has no link to %s", list, p.source))
		}
	}
	return errors.Join(bad...)
}

// lists reports whether the page of a directory, which should name all others of it, has a link to one.
func (s *site) lists(list string, p *page) bool {
	l := s.page(list)
	return l != nil && slices.ContainsFunc(l.links, func(link string) bool { return l.leads(link) == p.source })
}

func (s *site) checkLink(p *page, link string) error {
	source := p.leads(link)
	_, id, _ := strings.Cut(link, "#")
	if to := s.page(source); to != nil {
		if id != "" && !to.has(id) {
			return fmt.Errorf("%s: the page of the link %s has no such heading", p.source, link)
		}
		return nil
	}
	st, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(source)))
	switch {
	case err != nil || strings.HasPrefix(source, "../"):
		return fmt.Errorf("%s: the link %s leads nowhere", p.source, link)
	case st.IsDir() && s.page(source+"/README.md") == nil:
		return fmt.Errorf("%s: the link %s leads to a directory without a page", p.source, link)
	case !st.IsDir():
		s.files[source] = true
	}
	return nil
}

// turn is a link of a page as it is in the site.
func (s *site) turn(p *page, link string) string {
	if outside(link) || strings.HasPrefix(link, "#") {
		return link
	}
	source := p.leads(link)
	to := s.page(source)
	if to == nil {
		to = s.page(source + "/README.md")
	}
	address := fileAddress(source)
	if to != nil {
		address = to.address
	}
	if _, id, ok := strings.Cut(link, "#"); ok {
		address += "#" + id
	}
	return up(p.address) + address
}

// fileAddress is where a file of the checkout that is no page stands in the site.
func fileAddress(source string) string { return strings.TrimPrefix(source, "docs/") }

// up leads from a page to the top of the site.
func up(address string) string { return strings.Repeat("../", strings.Count(address, "/")) }
