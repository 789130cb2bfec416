package dialect

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

// root is the module's directory, seen from this package.
const root = "../.."

func TestChangesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Changes() {
		if c.ID == "" || seen[c.ID] {
			t.Errorf("the id %q is missing or there twice", c.ID)
		}
		seen[c.ID] = true
		if c.What == "" || c.After == "" || !strings.HasPrefix(c.Since, "2.") {
			t.Errorf("%s: something is missing", c.ID)
		}
		if !c.Level().Known() {
			t.Errorf("%s: there is no level %q", c.ID, c.Level())
		}
		if c.With != nil && (c.With.With != nil || c.With.Level() != c.Level()) {
			t.Errorf("%s did not come with %s", c.ID, c.With.ID)
		}
		if c.Built() {
			if _, err := os.Stat(filepath.Join(root, c.Where)); err != nil {
				t.Errorf("%s: %v", c.ID, err)
			}
		}
	}
}

func TestLevelsHaveWhatCameBeforeThem(t *testing.T) {
	for _, c := range Changes() {
		for _, l := range Levels() {
			if want := l != Level214 && l >= c.Level(); l.Has(c) != want {
				t.Errorf("level %s has %s: %v", l, c.ID, !want)
			}
		}
	}
}

// Each row is in the table, and code asks for it: else the table says what nobody does.
func TestEveryChangeIsAsked(t *testing.T) {
	asked := map[string]bool{}
	eachSource(t, func(path string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && isName(s.X, "dialect") {
				asked[s.Sel.Name] = true
			}
			return true
		})
	})
	listed := Changes()
	names := map[*Change]string{}
	for name, c := range declared(t, listed) {
		names[c] = name
	}
	asked["VariableNames"] = true // Level.NamesVariable asks it
	for _, c := range listed {
		name := names[c]
		switch by := c.With; {
		case name == "":
			t.Errorf("%s has no variable of this package", c.ID)
		case !c.Built():
			if asked[name] {
				t.Errorf("%s is asked and names no package that decides it", name)
			}
		case by != nil:
			if !asked[names[by]] {
				t.Errorf("%s: nobody asks %s", name, names[by])
			}
		case !asked[name]:
			t.Errorf("nobody asks %s: what does it say that hark does?", name)
		}
	}
}

// declared are the variables of this package that are changes; each is in the table.
func declared(t *testing.T, listed []*Change) map[string]*Change {
	t.Helper()
	byID := map[string]*Change{}
	for _, c := range listed {
		byID[c.ID] = c
	}
	out := map[string]*Change{}
	paths, err := filepath.Glob("changes_*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no rows were found: %v", err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				return true
			}
			c := byID[idOf(v.Values[0])]
			if c == nil {
				t.Errorf("%s: %s is not in the table", path, v.Names[0].Name)
				return false
			}
			out[v.Names[0].Name] = c
			return false
		})
	}
	return out
}

// idOf is the ID of a composite literal.
func idOf(x ast.Expr) string {
	id := ""
	ast.Inspect(x, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok && isName(kv.Key, "ID") {
			id = strings.Trim(kv.Value.(*ast.BasicLit).Value, `"`)
		}
		return true
	})
	return id
}

// Nobody asks for a level itself: what differs has a row, and code asks the row.
func TestBranchesNameTheirRows(t *testing.T) {
	levels := []string{"Level219", "Level220", "Level221", "Level222"}
	eachSource(t, func(path string, file *ast.File) {
		if slices.Contains(namesLevels, path) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if ok && slices.Contains(levels, s.Sel.Name) && (isName(s.X, "plan") || isName(s.X, "dialect")) {
				t.Errorf("%s asks for %s: ask for a row of modules/dialect", path, s.Sel.Name)
			}
			return true
		})
	})
}

// namesLevels are the files that are about levels and not about what they do.
var namesLevels = []string{
	"playbook/plan/level.go",  // the names, for those who have plans
	"playbook/level/level.go", // how a level is chosen
	"playbook/inventory/ini.go",
}

// eachSource gives the files outside this package that are no tests.
func eachSource(t *testing.T, f func(path string, file *ast.File)) {
	t.Helper()
	seen := 0
	for _, room := range []string{"modules", "playbook", "agent", "controller"} {
		err := filepath.WalkDir(filepath.Join(root, room), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			rel, _ := filepath.Rel(root, path)
			if strings.HasPrefix(rel, "modules/dialect/") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err == nil {
				seen++
				f(filepath.ToSlash(rel), file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 500 {
		t.Fatalf("only %d files were looked at", seen)
	}
}

func isName(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}
