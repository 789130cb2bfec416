package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kept are the variables of packages of agents and modules that hold something beyond one call, and why they may: an
// agent lives for months, and what a new process would read from the machine must be read again.
func kept() map[string]string {
	return map[string]string{
		"modules/internal/hostfs.confined": "it is the policy of the process, which is set once when a worker starts",
		"modules/internal/host/httpx.machineAuthorities": "its certificates are those of files and directories whose names, sizes and times " +
			"it looks at each time",
		"modules/nss.machine":            "names of ids are forgotten when the call of a task begins (nss.Forget in agent/internal/call)",
		"modules/py/localtime.ofMachine": "the zone is that of /etc/localtime, whose link, size, time and inode it looks at each time",
	}
}

// TestAgentsKeepNothingThatANewProcessWouldRead: a variable of a package that is set while the program runs, or on
// first use by a function that may read the machine, is a row of kept.
func TestAgentsKeepNothingThatANewProcessWouldRead(t *testing.T) {
	rows, found, constant := kept(), map[string]bool{}, 0
	packages := map[string][]*ast.File{}
	eachFile(t, func(name, pkg string, _ []string) {
		if strings.HasSuffix(name, "_test.go") || ofTests(pkg) || !under(pkg, "agent") && !under(pkg, "modules") {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0) // with objects: local names hide those of packages
		if err != nil {
			t.Fatal(err)
		}
		packages[pkg] = append(packages[pkg], file)
	})
	for pkg, files := range packages {
		locked := states(files)
		for name, spec := range variablesOf(files) {
			why := ""
			switch {
			case remembers(spec.value):
				why = "is computed once, by a function that may read the machine"
			case spec.typed && holds(spec.kind), locked[typeOf(spec)]:
				why = "is of a type that is there to remember"
			case isSet(files, name):
				why = "is set while the program runs"
			default:
				constant++
				continue
			}
			found[pkg+"."+name] = true
			if rows[pkg+"."+name] == "" {
				t.Errorf("%s.%s %s: read it each time, tie it to the identity of its file, or give the reason here", pkg, name, why)
			}
		}
	}
	for name, why := range rows {
		if !found[name] || len(strings.Fields(why)) < 3 {
			t.Errorf("%s is no such variable any more, or has no reason: %q", name, why)
		}
	}
	if constant < 100 || len(found) == 0 {
		t.Errorf("%d constant variables and %d others: the check looks in the wrong place", constant, len(found))
	}
}

// variable is a variable of a package.
type variable struct {
	kind, value ast.Expr
	typed       bool
}

func variablesOf(files []*ast.File) map[string]variable {
	all := map[string]variable{}
	for _, file := range files {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.ValueSpec)
				for i, name := range spec.Names {
					v := variable{kind: spec.Type, typed: spec.Type != nil}
					if i < len(spec.Values) {
						v.value = spec.Values[i]
					}
					if name.Name != "_" {
						all[name.Name] = v
					}
				}
			}
		}
	}
	return all
}

// machine are packages through which something of the machine can be read.
func machine() []string {
	return []string{"os", "nss", "hostfs", "syscall", "unix", "exec", "net", "filepath", "runtime", "time", "x509", "localtime", "fsx", "procx", "cwd"}
}

// remembers reports whether a value is a sync.OnceValue and the like whose function may read the machine: it uses such a
// package, or is not written there.
func remembers(value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return false
	}
	if sel, ok := call.Fun.(*ast.SelectorExpr); !ok || identOf(sel.X) != "sync" || len(call.Args) != 1 {
		return false
	}
	f, ok := call.Args[0].(*ast.FuncLit)
	if !ok {
		return true
	}
	reads := false
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains(machine(), identOf(sel.X)) {
			reads = true
		}
		return true
	})
	return reads
}

// holds reports whether a type is one of package sync or atomic, or has one in it.
func holds(kind ast.Expr) bool {
	found := false
	ast.Inspect(kind, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			found = found || identOf(sel.X) == "sync" || path.Base(identOf(sel.X)) == "atomic"
		}
		_, isFunc := n.(*ast.FuncType)
		return !isFunc
	})
	return found
}

// states are the types of a package that are locked: their values change.
func states(files []*ast.File) map[string]bool {
	all := map[string]bool{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && holds(spec.Type) {
				all[spec.Name.Name] = true
			}
			return true
		})
	}
	return all
}

// typeOf is the name of the type of a variable, or of what it points to, "" if the declaration does not say it.
func typeOf(v variable) string {
	if v.kind != nil {
		return identOf(v.kind)
	}
	e := v.value
	if unary, ok := e.(*ast.UnaryExpr); ok && unary.Op == token.AND {
		e = unary.X
	}
	if lit, ok := e.(*ast.CompositeLit); ok {
		return identOf(lit.Type)
	}
	return ""
}

// isSet reports whether a function assigns to a variable of its package, or to something in it, or hands out its address.
// A name without an object is that of another file of the package.
func isSet(files []*ast.File, name string) bool {
	set := false
	mark := func(file *ast.File, e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
				continue
			case *ast.SelectorExpr:
				e = x.X
				continue
			case *ast.ParenExpr:
				e = x.X
				continue
			case *ast.StarExpr:
				e = x.X
				continue
			case *ast.Ident:
				set = set || x.Name == name && (x.Obj == nil || x.Obj == file.Scope.Lookup(name))
			}
			return
		}
	}
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if n.Tok != token.DEFINE {
						for _, e := range n.Lhs {
							mark(file, e)
						}
					}
				case *ast.IncDecStmt:
					mark(file, n.X)
				case *ast.UnaryExpr:
					if n.Op == token.AND {
						mark(file, n.X)
					}
				}
				return true
			})
		}
	}
	return set
}
