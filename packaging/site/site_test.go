package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// made builds a site of files, beside a README.md and contents.
func made(t *testing.T, files map[string]string) (string, error) {
	t.Helper()
	root, out := t.TempDir(), filepath.Join(t.TempDir(), "site")
	all := map[string]string{"README.md": "# hark\n", "docs/README.md": "# Contents\n\n## All\n\n- [One](one.md)\n", "docs/one.md": "# One\n"}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if err := put(filepath.Join(root, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := build(root, out)
	return out, err
}

func TestDeadLinksAndForgottenPagesAreErrors(t *testing.T) {
	for _, tt := range []struct{ name, file, text, want string }{
		{"a page", "docs/one.md", "# One\n[x](two.md)\n", "docs/one.md: the link two.md leads nowhere"},
		{"a heading", "docs/one.md", "# One\n[x](#there)\n", "docs/one.md: the page of the link #there has no such heading"},
		{"a heading elsewhere", "docs/one.md", "# One\n[x](README.md#every)\n", "the link README.md#every has no such heading"},
		{"a picture", "docs/one.md", "# One\n![x](x.svg)\n", "the link x.svg leads nowhere"},
		{"a file outside", "docs/one.md", "# One\n[x](../../x.md)\n", "the link ../../x.md leads nowhere"},
		{"a directory", "docs/one.md", "# One\n[x](../docs/more)\n", "leads nowhere"},
		{"a page that the contents lack", "docs/two.md", "# Two\n", "docs/README.md: has no link to docs/two.md"},
		{"a decision that its list lacks", "docs/decisions/0001-x.md", "# 1. X\n", "docs/decisions/README.md: has no link to docs/decisions/0001-x.md"},
		{"a page without a title", "docs/one.md", "words\n", "docs/one.md: has no title"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := made(t, map[string]string{tt.file: tt.text}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v and should say %q", err, tt.want)
			}
		})
	}
}

func TestPagesLinkToPages(t *testing.T) {
	out, err := made(t, map[string]string{
		"docs/one.md":            "# One\n\n[up](../README.md) [the *first*](modules/a.md#whats-new) ![p](p.svg)\n\n    $ hark run  # remark\n",
		"docs/p.svg":             "<svg/>",
		"docs/modules/a.md":      "# a\n\n## What's new\n\n[one](../one.md)\n",
		"docs/modules/README.md": "# Modules\n\n[a](a.md)\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"one.html":       {`href="index.html"`, `href="modules/a.html#whats-new"`, `src="p.svg"`, "<b>$ </b>hark run  <i># remark</i>", `aria-current="page"`},
		"modules/a.html": {`<h2 id="whats-new">`, `href="../one.html"`, `href="../style.css"`},
		"words.js":       {`"h":"What's new"`, `"u":"modules/a.html#whats-new"`},
		"p.svg":          {"<svg/>"},
	} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(strings.ReplaceAll(string(text), `\u0027`, "'"), want) {
				t.Errorf("%s lacks %s:\n%s", name, want, text)
			}
		}
	}
}

// TestTheSiteAsksNobody: every address that a browser would load by itself is one of the site, and every link within
// it leads to a file.
func TestTheSiteAsksNobody(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	if _, err := build("../..", out); err != nil {
		t.Fatal(err)
	}
	loads := regexp.MustCompile(`(?:src|href|data-top)="([^"]*)"|url\(([^)]*)\)|@import`)
	pages := 0
	err := fs.WalkDir(os.DirFS(out), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == "words.js" || name == "search.js" {
			return err
		}
		pages++
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		for _, m := range loads.FindAllStringSubmatch(string(text), -1) {
			link, _, _ := strings.Cut(m[1], "#")
			if outside(link) && !strings.Contains(m[0], "href=") || strings.HasPrefix(link, "//") || m[2] != "" || m[0] == "@import" {
				t.Errorf("%s loads %s", name, m[0])
			}
			if _, err := os.Stat(filepath.Join(out, filepath.Dir(name), link)); err != nil && !outside(link) && link != "data:," {
				t.Errorf("%s: the link %s leads nowhere", name, link)
			}
		}
		return nil
	})
	if err != nil || pages < 100 {
		t.Errorf("%d pages, %v", pages, err)
	}
}
