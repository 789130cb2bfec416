package check

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	mdLink    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#+[ \t]+(.*)$`)
	mdCode    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	// unnamed is what the name of a heading is without.
	unnamed = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// TestLinksOfPagesLeadSomewhere: to a file that is there, and to a heading of it.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(root, "docs", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages = append(slices.Concat(pages, more), filepath.Join(root, "README.md"), filepath.Join(root, "agent", "wire", "PROTOCOL.md"))
	checked := 0
	for _, page := range pages {
		for _, link := range linksOf(t, page) {
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			checked++
			path, heading, _ := strings.Cut(link, "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, link)
			} else if heading != "" && !slices.Contains(headingsOf(t, target), heading) {
				t.Errorf("%s: the page of the link %s has no such heading", page, link)
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d links were found: the check looks in the wrong place", checked)
	}
}

// linksOf are the links of a page, but for what is code in it.
func linksOf(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var links []string
	for _, m := range mdLink.FindAllStringSubmatch(mdCode.ReplaceAllString(string(text), ""), -1) {
		links = append(links, m[1])
	}
	return links
}

// headingsOf are the names by which links lead to the headings of a page.
func headingsOf(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range mdHeading.FindAllStringSubmatch(string(text), -1) {
		names = append(names, strings.ReplaceAll(unnamed.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return names
}
