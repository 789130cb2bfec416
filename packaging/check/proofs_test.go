package check

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// proof is a row of the table in docs/security.md: a claim, and the test that proves it.
type proof struct {
	claim, test, dir string
}

// TestProofsOfSecurityAreThere: every test that docs/security.md names as a proof is a test of the package it names.
func TestProofsOfSecurityAreThere(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	proofs, err := proofsIn(string(page))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range proofs {
		if err := p.check(root); err != nil {
			t.Errorf("%s: %v", p.claim, err)
		}
	}
	if len(proofs) < 50 {
		t.Errorf("%d proofs were found: the check looks in the wrong place", len(proofs))
	}
}

// TestTheCheckOfProofsSeesMistakes: what it is there for.
func TestTheCheckOfProofsSeesMistakes(t *testing.T) {
	const here = "packaging/check"
	for want, p := range map[string]proof{
		"":              {"x", "TestProofsOfSecurityAreThere", here},
		"has no test":   {"x", "TestProofsOfSecurity", here},
		"is not a test": {"x", "proofsIn", here},
		"holds no test": {"x", "TestProofsOfSecurityAreThere", "packaging/nowhere"},
	} {
		if err := p.check(root); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
	const table = "# A\n\n## What proves it\n\n| Claim | Test | Package |\n|---|---|---|\n"
	for name, page := range map[string]string{
		"no table":                "# A\n",
		"an empty claim":          table + "|  | `TestX` | `x` |\n",
		"a cell less":             table + "| a | `TestX` |\n",
		"a name that is not code": table + "| a | TestX | `x` |\n",
	} {
		if proofs, err := proofsIn(page); err == nil {
			t.Errorf("%s: read as %v", name, proofs)
		}
	}
	proofs, err := proofsIn(table + "| a | `TestX` | `x/y` |\n")
	if err != nil || len(proofs) != 1 || proofs[0] != (proof{"a", "TestX", "x/y"}) {
		t.Errorf("read as %v, %v", proofs, err)
	}
}

var proofRow = regexp.MustCompile("^\\| ([^|]*[^| ]) \\| `(\\w+)` \\| `([\\w/]+)` \\|$")

// proofsIn reads the table of a page: the rows below its heading, without the two at the top.
func proofsIn(page string) ([]proof, error) {
	_, section, found := strings.Cut(page, "\n## What proves it\n")
	if !found {
		return nil, fmt.Errorf("the page has no section What proves it")
	}
	var proofs []proof
	rows := 0
	for _, line := range strings.Split(section, "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		if rows++; rows <= 2 {
			continue
		}
		m := proofRow.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("a row is not a claim, a test and a package: %s", line)
		}
		proofs = append(proofs, proof{m[1], m[2], m[3]})
	}
	return proofs, nil
}

// check looks for the test in the files of its package.
func (p proof) check(root string) error {
	if !strings.HasPrefix(p.test, "Test") {
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
		if strings.Contains(string(text), "\nfunc "+p.test+"(t *testing.T) {") {
			return nil
		}
	}
	return fmt.Errorf("the package %s has no test %s", p.dir, p.test)
}
