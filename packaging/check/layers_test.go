// Package check holds the project's rules that a program can check, such as which directory may import which.
package check

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// layers is the order of rooms in docs/design.md, section 3, room by room. A package may import what stands under the
// longest prefix that matches it, and its own sub-packages. Changing the table is a decision with a note.
var layers = []struct {
	room    string
	imports []string
}{
	{"modules/py", []string{"modules/py"}},         // docs/decisions/0005
	{"modules/dialect", []string{"modules/py"}},    // docs/decisions/0026
	{"modules/internal/host", []string{"modules"}}, // docs/decisions/0014
	{"modules/nss", nil},                           // docs/decisions/0028
	{"modules/internal", []string{"modules/internal", "modules/dialect", "modules/py", "modules/nss"}}, // docs/decisions/0016
	{"modules/mask", []string{"modules/py"}},                                                           // docs/decisions/0023
	{"modules/modtest", []string{"modules"}},
	{"modules/all", []string{"modules"}},
	{"modules", []string{"modules"}},
	{"playbook/jinja", []string{"playbook/jinja", "modules/dialect", "modules/py", "modules/nss", "modules/mask"}},
	{"playbook/plan", []string{"modules/dialect", "modules/py"}},
	{"playbook", []string{"modules", "playbook"}},
	{"agent", []string{"modules", "playbook/plan", "playbook/jinja", "playbook/vars", "agent"}},
	{"controller/internal/play/strategy", []string{"playbook/plan"}}, // docs/decisions/0015
	{"controller", []string{"modules", "playbook", "agent", "controller"}},
	{"packaging", []string{"modules", "playbook", "agent", "controller", "packaging"}},
}

// root is the module's directory, seen from this package.
const root = "../.."

func TestRoomsImportOnlyRoomsBeforeThem(t *testing.T) {
	checked := 0
	eachImport(t, func(file, pkg, imported string) {
		checked++
		if !allowed(pkg, imported) {
			t.Errorf("%s: package %s must not import %s (docs/design.md, section 3)", file, pkg, imported)
		}
	})
	if checked == 0 {
		t.Fatal("no import of ours was found: the check looks in the wrong place")
	}
}

func TestAgentsLinkNoBroker(t *testing.T) {
	eachFile(t, func(file, pkg string, imports []string) {
		for _, name := range imports {
			server := strings.HasPrefix(name, "github.com/nats-io/nats-server")
			test := strings.HasSuffix(file, "_test.go") || ofTests(pkg)
			if server && !strings.HasPrefix(pkg, "controller") && !test {
				t.Errorf("%s: only the controller may embed the NATS server", file)
			}
			if ours, ok := strings.CutPrefix(name, "hark/"); ok && ofTests(ours) && !test {
				t.Errorf("%s imports %s, which is for tests", file, ours)
			}
		}
	})
}

func allowed(pkg, imported string) bool {
	if under(imported, pkg) {
		return true
	}
	for _, l := range layers {
		if !under(pkg, l.room) {
			continue
		}
		for _, room := range l.imports {
			if under(imported, room) {
				return true
			}
		}
		return false
	}
	return false
}

func under(pkg, room string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }

func eachImport(t *testing.T, f func(file, pkg, imported string)) {
	eachFile(t, func(file, pkg string, imports []string) {
		for _, name := range imports {
			if ours, ok := strings.CutPrefix(name, "hark/"); ok {
				f(file, pkg, ours)
			}
		}
	})
}

func eachFile(t *testing.T, f func(file, pkg string, imports []string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return skip(err)
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		var imports []string
		for _, spec := range parsed.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			imports = append(imports, name)
		}
		rel, _ := filepath.Rel(root, path)
		f(rel, filepath.ToSlash(filepath.Dir(rel)), imports)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func skip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}
