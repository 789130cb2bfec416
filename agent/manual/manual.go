// Package manual adds to manual pages what the library that writes them from commands does not know: EXIT STATUS,
// ENVIRONMENT, FILES.
package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Entry is a code, a variable or a file, with what it means.
type Entry struct{ Name, Text string }

// Section is a section of a page.
type Section struct {
	Title   string
	Entries []Entry
}

// Add puts sections into all pages of a directory, before SEE ALSO where a page has that.
func Add(dir string, sections []Section) error {
	pages, err := filepath.Glob(filepath.Join(dir, "*.[18]"))
	if err != nil {
		return err
	}
	if len(pages) == 0 {
		return fmt.Errorf("there are no manual pages in %s", dir)
	}
	var b strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&b, ".SH %s\n", s.Title)
		for _, e := range s.Entries {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", plain(e.Name), plain(e.Text))
		}
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		before, after, _ := strings.Cut(string(text), ".SH SEE ALSO\n")
		whole := strings.TrimRight(before, "\n") + "\n" + b.String()
		if after != "" {
			whole += ".SH SEE ALSO\n" + after
		}
		if err := os.WriteFile(page, []byte(whole), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// plain is text that troff shows as it is.
func plain(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
