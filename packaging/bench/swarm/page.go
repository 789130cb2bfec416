package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// docs is the page on record.
const docs = "docs/scale.md"

// The marks between which a page has the figures.
const (
	from = "<!-- figures -->\n"
	to   = "<!-- end of figures -->\n"
)

// write puts the figures into the page and draws the chart beside it, or prints them.
func (b bench) write(rows []row) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %s of this commit's parent %s, %s, %d cores.\n\n", time.Now().UTC().Format("2006-01-02"),
		runtime.Version(), commit(), runtime.GOARCH, runtime.NumCPU())
	out.WriteString(
		"| agents | work | wall s | controller s (ms each) | broker s (ms each) | agents s (ms each) | controller MB | " +
			"broker MB | agents MB | controller wrote MB | broker wrote MB |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintln(&out, r)
	}
	if b.page == "" {
		_, err := fmt.Print(out.String())
		return err
	}
	text, err := os.ReadFile(b.page)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), from)
	_, after, end := strings.Cut(rest, to)
	if !ok || !end {
		return fmt.Errorf("%s has no place for figures: %q and %q", b.page, from, to)
	}
	page := before + from + out.String() + to + after
	if err := os.WriteFile(chartOf(b.page), []byte(chartText(page)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(b.page, []byte(page), 0o644)
}

// chartOf is where the chart of a page lies.
func chartOf(page string) string { return strings.TrimSuffix(page, ".md") + ".svg" }

// commit is what was measured.
func commit() string {
	out, err := exec.CommandContext(context.Background(), "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(string(out))
}
