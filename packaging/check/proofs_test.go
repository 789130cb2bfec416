package check

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/proofs.md")

// The lines of proofs.txt have a claim, the test that shows it and the test's package. Those of a promise begin with
// what breaks.
const (
	proofsFile = "proofs.txt"
	proofsPage = "docs/proofs.md"
)

// proof is a claim of hark's, and the test that shows it. when is what breaks, empty in the section Security.
type proof struct {
	when, claim, test, dir string
}

// section is a table of the page.
type section struct {
	title  string
	proofs []proof
}

// TestProofsAreThere: every test that is named as a proof is a test of the package it names, and the page is fresh.
func TestProofsAreThere(t *testing.T) {
	text, err := os.ReadFile(proofsFile)
	if err != nil {
		t.Fatal(err)
	}
	sections, err := proofsIn(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		if len(s.proofs) < 20 {
			t.Errorf("%s has %d proofs: the check looks in the wrong place", s.title, len(s.proofs))
		}
		for _, p := range s.proofs {
			if err := p.check(root); err != nil {
				t.Errorf("%s: %v", p.claim, err)
			}
		}
	}
	page := filepath.Join(root, filepath.FromSlash(proofsPage))
	want := proofsText(sections)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("%s is stale (%v): go test ./packaging/check -run TestProofs -update makes it anew", proofsPage, err)
	}
}

// proofsText returns the page of all proofs.
func proofsText(sections []section) string {
	var b strings.Builder
	b.WriteString("<!-- Made from packaging/check/proofs.txt: go test ./packaging/check -run TestProofs -update -->\n\n" +
		"# What proves it\n\nWhat hark promises, and the test that shows it. CI runs them all: `packaging/fleet` on booted hosts,\n" +
		"`packaging/hostile` with attacks on the real programs. A test that is not there fails `packaging/check`.\n")
	for _, s := range sections {
		promises := s.proofs[0].when != ""
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		if promises {
			b.WriteString("| When | hark promises | Test | Package |\n|---|---|---|---|\n")
		} else {
			b.WriteString("| Claim | Test | Package |\n|---|---|---|\n")
		}
		for _, p := range s.proofs {
			if promises {
				fmt.Fprintf(&b, "| %s ", p.when)
			}
			fmt.Fprintf(&b, "| %s | `%s` | `%s` |\n", p.claim, p.test, p.dir)
		}
	}
	return b.String()
}

// TestTheCheckOfProofsSeesMistakes: what it is there for.
func TestTheCheckOfProofsSeesMistakes(t *testing.T) {
	const here = "packaging/check"
	for want, p := range map[string]proof{
		"":              {"", "x", "TestProofsAreThere", here},
		"has no test":   {"", "x", "TestProofsOfSecurity", here},
		"is not a test": {"", "x", "proofsIn", here},
		"holds no test": {"", "x", "TestProofsAreThere", "packaging/nowhere"},
	} {
		if err := p.check(root); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
	for name, text := range map[string]string{
		"no section":           "a | TestX | x\n",
		"an empty claim":       "== A\n | TestX | x\n",
		"a cell less":          "== A\na | TestX\n",
		"a cell more":          "== A\na | b | TestX | x | y\n",
		"a promise in a claim": "== A\na | TestX | x\na | b | TestX | x\n",
		"a section of nothing": "== A\n",
	} {
		if sections, err := proofsIn(text); err == nil {
			t.Errorf("%s: read as %v", name, sections)
		}
	}
	sections, err := proofsIn("# words\n\n== A\na | b | TestX | x/y\n")
	if err != nil || len(sections) != 1 || sections[0].proofs[0] != (proof{"a", "b", "TestX", "x/y"}) {
		t.Errorf("read as %v, %v", sections, err)
	}
}

// proofsIn reads proofs.txt. All lines of a section have as many cells.
func proofsIn(text string) ([]section, error) {
	var sections []section
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if title, ok := strings.CutPrefix(line, "== "); ok {
			sections = append(sections, section{title: title})
			continue
		}
		if len(sections) == 0 {
			return nil, fmt.Errorf("%s:%d: a line without a section", proofsFile, i+1)
		}
		s := &sections[len(sections)-1]
		p, err := readProof(strings.Split(line, " | "))
		if err == nil && len(s.proofs) > 0 && (p.when == "") != (s.proofs[0].when == "") {
			err = fmt.Errorf("the section has lines of another kind")
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w: %s", proofsFile, i+1, err, line)
		}
		s.proofs = append(s.proofs, p)
	}
	for _, s := range sections {
		if len(s.proofs) == 0 {
			return nil, fmt.Errorf("%s: the section %s is empty", proofsFile, s.title)
		}
	}
	return sections, nil
}

// readProof reads the cells of a line.
func readProof(cells []string) (proof, error) {
	for _, c := range cells {
		if strings.TrimSpace(c) == "" {
			return proof{}, fmt.Errorf("a cell is empty")
		}
	}
	switch len(cells) {
	case 3:
		return proof{"", cells[0], cells[1], cells[2]}, nil
	case 4:
		return proof{cells[0], cells[1], cells[2], cells[3]}, nil
	}
	return proof{}, fmt.Errorf("a line is a claim, a test and a package, or what breaks and these three")
}

// check looks for the test in the files of its package.
func (p proof) check(root string) error {
	if !strings.HasPrefix(p.test, "Test") && !strings.HasPrefix(p.test, "Fuzz") {
		return fmt.Errorf("%s is not a test", p.test)
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(p.dir), "*_test.go"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("the package %s holds no tests", p.dir)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.Contains(string(text), "\nfunc "+p.test+"(t *testing.T) {") ||
			strings.Contains(string(text), "\nfunc "+p.test+"(f *testing.F) {") {
			return nil
		}
	}
	return fmt.Errorf("the package %s has no test %s", p.dir, p.test)
}
