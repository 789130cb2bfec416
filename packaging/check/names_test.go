package check

import (
	"go/ast"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hark/modules/all"
)

// named are how many literals that begin with the name of Ansible's own collection a package may have. The names of
// modules are the matter of the modules, where those that hark itself calls are constants. Other code goes by
// flags of a module's declaration.
func named() map[string]int {
	return map[string]int{
		"playbook/plan": 7, // what is part of the language and no module: includes, imports and meta
	}
}

func TestOnlyModulesNameModules(t *testing.T) {
	count := map[string]int{}
	eachSource(t, func(dir string, file *ast.File) {
		if under(dir, "modules") || under(dir, "packaging") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, _ := strconv.Unquote(lit.Value); strings.HasPrefix(text, "ansible.builtin.") && text != "ansible.builtin." {
					count[dir]++
				}
			}
			return true
		})
	})
	held(t, "names of modules in", count, named(), 0)
}

// compared are how many comparisons of an action with the short name of a native module a package may have. A trait
// of the declaration is the rule; what stays is about names as they are written.
func compared() map[string]int {
	return map[string]int{
		"controller/internal/ui/view":          3, // views go by the name of the task, as Ansible's callbacks do: debug, what prints text, what gathers facts
		"controller/internal/console/runmodel": 2, // the same
		"controller/internal/runs/record":      1, // records have no more than that name either
		"controller/cli":                       9, // ad-hoc commands and ansible-pull take the name as it is typed
		"controller/internal/duties/keeper":    1, // what a person would be asked is looked for before a run, in the text of its steps
		"controller/internal/play":             2, // what sessions ask for has these names: add_host and group_by
		"agent/internal/runner":                1, // Ansible looks for files of with_ in templates where "template" is in the name as it is written
	}
}

func TestActionsAreNotComparedWithModules(t *testing.T) {
	names := map[string]bool{}
	for _, m := range all.Modules() {
		if short, ok := strings.CutPrefix(m.Name, "ansible.builtin."); ok {
			names[short] = true
		}
	}
	count := map[string]int{}
	eachSource(t, func(dir string, file *ast.File) {
		if under(dir, "modules") || under(dir, "packaging") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					count[dir] += namesIn(names, n.Y) * of(n.X)
				}
			case *ast.SwitchStmt:
				for _, c := range n.Body.List {
					count[dir] += namesIn(names, c.(*ast.CaseClause).List...) * max(of(n.Tag), of(n.Init))
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 2 && (f.Sel.Name == "HasSuffix" || f.Sel.Name == "Contains") {
					count[dir] += namesIn(names, n.Args[1]) * of(n.Args[0])
				}
			}
			return true
		})
	})
	maps.DeleteFunc(count, func(_ string, n int) bool { return n == 0 })
	held(t, "comparisons with modules in", count, compared(), 0)
}

// namesIn is how many of the expressions are literals with a name.
func namesIn(names map[string]bool, list ...ast.Expr) int {
	n := 0
	for _, e := range list {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, _ := strconv.Unquote(lit.Value); names[strings.TrimPrefix(text, ".")] {
				n++
			}
		}
	}
	return n
}

// of is 1 for what speaks of an action or a module, else 0.
func of(n ast.Node) int {
	if n == nil || reflect.ValueOf(n).IsNil() {
		return 0
	}
	found := 0
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			name := strings.ToLower(id.Name)
			if strings.Contains(name, "action") || strings.Contains(name, "module") && name != "modules" {
				found = 1
			}
		}
		return true
	})
	return found
}

// marking are how many literals with keys of marks a package may have. modules/result is the one place where results
// are given marks and asked for them.
func marking() map[string]int {
	return map[string]int{
		"modules/result":  1,
		"modules/foreign": 1, // the arguments by which Ansible tells modules in Python how they are run have the same beginning
	}
}

func TestMarksOfResultsHaveOneHome(t *testing.T) {
	count := map[string]int{}
	eachSource(t, func(dir string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && !under(dir, "packaging") {
				if text, _ := strconv.Unquote(lit.Value); strings.HasPrefix(text, "_ansible_") || strings.Contains(text, `"_ansible_`) {
					count[dir]++
				}
			}
			return true
		})
	})
	held(t, "keys of marks in", count, marking(), 0)
}

// TestResultsAreDecodedOnce: what a host tells of a result is decoded by wire.Outcome.Said, and all who look at it
// share that.
func TestResultsAreDecodedOnce(t *testing.T) {
	seen := 0
	eachSource(t, func(dir string, file *ast.File) {
		if !under(dir, "controller") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if f.Sel.Name == "Said" {
				seen++
			}
			if slices.Contains([]string{"Unmarshal", "Decode", "DecodeMoments", "NewReader", "NewDecoder"}, f.Sel.Name) && slices.ContainsFunc(call.Args, ofOutcome) {
				t.Errorf("%s: a result of an outcome is decoded by %s: ask Outcome.Said", dir, f.Sel.Name)
			}
			return true
		})
	})
	if seen == 0 {
		t.Error("nobody asks outcomes what they say: the check looks in the wrong place")
	}
}

// ofOutcome tells the expressions o.Result and x.Outcome.Result.
func ofOutcome(e ast.Expr) bool {
	of, ok := e.(*ast.SelectorExpr)
	if !ok || of.Sel.Name != "Result" {
		return false
	}
	switch x := of.X.(type) {
	case *ast.Ident:
		return x.Name == "o"
	case *ast.SelectorExpr:
		return x.Sel.Name == "Outcome"
	}
	return false
}
