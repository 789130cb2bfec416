package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What was reached on 2026-11-22 and is held (docs/decisions/0010): figures may sink, and then those here sink with
// them. What comes new keeps the general limit.
const (
	// mostMethods is how many methods a type may have.
	mostMethods = 40
	// deepestImport is how many packages of ours the longest chain of imports may have. It ends in the texts of errors
	// of the operating system, which quote paths as Python does.
	deepestImport = 12
)

// cut are the packages, with all below them, whose types were cut into parts, and how many methods a type of theirs
// may have.
func cut() map[string]int {
	return map[string]int{
		"controller/internal/play": 24, // how plays are driven (docs/decisions/0015)
		"agent/internal/runner":    28, // how a host walks its plan (docs/decisions/0018)
		// hosts, groups and their variables; what a run is made of (docs/decisions/0020)
		"playbook/inventory": 24, "controller/internal/ansible/project": 18,
		// these two lie below play and are not parts of a batch
		"controller/internal/play/link": mostMethods, "controller/internal/play/answer": mostMethods,
	}
}

// roomOf returns the directory of cut that holds dir most closely, or "".
func roomOf(dir string) string {
	room := ""
	for candidate := range cut() {
		if under(dir, candidate) && len(candidate) > len(room) {
			room = candidate
		}
	}
	return room
}

func TestTypesKeepTheirMethodsFew(t *testing.T) {
	count, ofCut := map[string]int{}, map[string]map[string]int{}
	for dir := range cut() {
		ofCut[dir] = map[string]int{}
	}
	eachSource(t, func(dir string, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				name := dir + "." + receiver(f.Recv.List[0].Type)
				count[name]++
				if types, ok := ofCut[roomOf(dir)]; ok {
					types[name]++
				}
			}
		}
	})
	held(t, "methods of", count, nil, mostMethods)
	for room, most := range cut() {
		held(t, "methods of", ofCut[room], nil, most)
	}
}

// TestDictsAreWrittenInPairs: value.DictOf takes keys and values in turns, which the compiler cannot see.
func TestDictsAreWrittenInPairs(t *testing.T) {
	calls := 0
	eachSource(t, func(dir string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isDictOf(call.Fun) {
				return true
			}
			calls++
			if len(call.Args)%2 != 0 {
				t.Errorf("%s: DictOf with a key that has no value", dir)
			}
			for i := 0; i < len(call.Args); i += 2 {
				if lit, ok := call.Args[i].(*ast.BasicLit); ok && lit.Kind != token.STRING {
					t.Errorf("%s: DictOf with the key %s", dir, lit.Value)
				}
			}
			return true
		})
	})
	if calls < 100 {
		t.Errorf("%d calls of DictOf were found: the check looks in the wrong place", calls)
	}
}

func isDictOf(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "DictOf"
}

// TestProgramsStartWithoutExpressions: a regular expression that is compiled with its package costs each start of
// hark and of an agent, whether it is used or not. sync.OnceValue compiles it when it is first used.
func TestProgramsStartWithoutExpressions(t *testing.T) {
	eachSource(t, func(dir string, file *ast.File) {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR || under(dir, "packaging") {
				continue
			}
			ast.Inspect(g, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "MustCompile" {
					t.Errorf("%s: a variable of the package compiles an expression at start: use sync.OnceValue", dir)
				}
				_, later := n.(*ast.FuncLit)
				return !later
			})
		}
	})
}

// held compares what was counted with what is allowed. An allowance that nobody needs any more is taken back.
func held(t *testing.T, what string, count, allowed map[string]int, general int) {
	t.Helper()
	if len(count) == 0 {
		t.Fatalf("no %s anything were found: the check looks in the wrong place", what)
	}
	for name, n := range count {
		limit := max(allowed[name], general)
		if n > limit {
			t.Errorf("%s %s: %d, and %d are allowed", what, name, n, limit)
		}
	}
	for name, limit := range allowed {
		if count[name] <= general {
			t.Errorf("%s %s: %d; take the %d out that are allowed here", what, name, count[name], limit)
		}
	}
}

// untested are the packages with functions and without tests of their own, and why.
func untested() map[string]string {
	return map[string]string{
		"agent/evaluate":                           "it hands on to agent/internal/runner, which has them",
		"modules/internal/fqdn":                    "it asks the resolver of the machine, and tests ask nobody beyond the loopback",
		"controller/internal/ansible/ansibleerror": "it formats, and each of its users looks at the words",
		"packaging/console/pictures":               "a program that takes pictures",
	}
}

// TestPackagesWithFunctionsHaveTests: who breaks a package sees it where it broke. Packages that only tests use are
// tested by these.
func TestPackagesWithFunctionsHaveTests(t *testing.T) {
	functions, tested := map[string]bool{}, map[string]bool{}
	eachSource(t, func(dir string, file *ast.File) {
		for _, d := range file.Decls {
			if _, ok := d.(*ast.FuncDecl); ok {
				functions[dir] = true
			}
		}
	})
	eachFile(t, func(name, pkg string, _ []string) { tested[pkg] = tested[pkg] || strings.HasSuffix(name, "_test.go") })
	reasons := untested()
	for pkg := range functions {
		_, excepted := reasons[pkg]
		switch {
		case !tested[pkg] && !excepted:
			t.Errorf("%s has functions and no tests", pkg)
		case tested[pkg] && excepted:
			t.Errorf("%s has tests: take it out of those that need none", pkg)
		}
		delete(reasons, pkg)
	}
	for pkg := range reasons {
		t.Errorf("%s needs no tests, and is not there", pkg)
	}
}

func TestChainsOfImportsStayShort(t *testing.T) {
	imports := map[string][]string{}
	eachImport(t, func(file, pkg, imported string) {
		if !strings.HasSuffix(file, "_test.go") {
			imports[pkg] = append(imports[pkg], imported)
		}
	})
	longest := map[string][]string{}
	var chain func(pkg string) []string
	chain = func(pkg string) []string {
		if c, ok := longest[pkg]; ok {
			return c
		}
		var best []string
		for _, next := range imports[pkg] {
			if c := chain(next); len(c) > len(best) {
				best = c
			}
		}
		longest[pkg] = append([]string{pkg}, best...)
		return longest[pkg]
	}
	var deepest []string
	for pkg := range imports {
		if c := chain(pkg); len(c) > len(deepest) {
			deepest = c
		}
	}
	if len(deepest) > deepestImport {
		t.Errorf("the longest chain of imports has %d packages, %d are held:\n%s", len(deepest), deepestImport, strings.Join(deepest, "\n"))
	}
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// ofTests reports whether only tests use a package, such as natstest and modtest.
func ofTests(pkg string) bool {
	return slices.ContainsFunc(strings.Split(pkg, "/"), func(dir string) bool { return strings.HasSuffix(dir, "test") })
}

// eachSource reads every source file of ours that is no test.
func eachSource(t *testing.T, f func(dir string, file *ast.File)) {
	t.Helper()
	eachFile(t, func(name, pkg string, _ []string) {
		if strings.HasSuffix(name, "_test.go") || ofTests(pkg) {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		f(pkg, file)
	})
}
