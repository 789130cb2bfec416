package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ofOthers are the functions that read an error's text because somebody else wrote it: a library without error values,
// a program, Python. What hark itself writes is recognized by errors.Is, errors.As or a row of modules/dialect.
var ofOthers = []string{
	// nats.go has no error value for some refusals of a server.
	"agent/wire/nats.refused",
	// The agent's refusal comes back as text, and may be that of an older agent.
	"controller/internal/fleet/doctor.judge",
	// A text with a backquote says already what to type.
	"controller/cli.hintFor",
	// Ansible itself decides by the text of its error here: task_executor of ansible-core looks for ansible_env, and its
	// templar for AnsibleUndefined.
	"agent/internal/runner.variables",
	"playbook/jinja/templar.renderError",
}

// messageRows are the formats of the rows in modules/dialect/messages.go, by the names of their variables.
func messageRows(t *testing.T) map[string]string {
	t.Helper()
	name := filepath.Join(root, "modules/dialect/messages.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != len(v.Names) {
			return true
		}
		for i, x := range v.Values {
			call, ok := x.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 || !isIdent(call.Fun, "message") {
				continue
			}
			arg := call.Args[0]
			if sum, ok := arg.(*ast.BinaryExpr); ok {
				arg = sum.X
			}
			if lit, ok := arg.(*ast.BasicLit); ok {
				rows[v.Names[i].Name], _ = strconv.Unquote(lit.Value)
			} else {
				rows[v.Names[i].Name] = "" // the text is another package's
			}
		}
		return true
	})
	return rows
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// writes reports whether a text has all that a format has between its verbs, or more than 16 bytes of its beginning.
func writes(text, format string) bool {
	pieces := strings.Split(strings.ReplaceAll(format, "%v", "%s"), "%s")
	if len(pieces[0]) > 16 && strings.Contains(text, pieces[0]) {
		return true
	}
	if len(strings.Join(pieces, "")) < 12 {
		return false
	}
	for _, piece := range pieces {
		at := strings.Index(text, piece)
		if at < 0 {
			return false
		}
		text = text[at+len(piece):]
	}
	return true
}

// TestMessagesAreWrittenByTheirRows: a message that is explained somewhere is written nowhere but in its row, and each row
// is used, so a changed wording changes what is printed and what is recognized.
func TestMessagesAreWrittenByTheirRows(t *testing.T) {
	rows := messageRows(t)
	if len(rows) < 25 {
		t.Fatalf("%d rows were found", len(rows))
	}
	used := map[string]bool{}
	eachSource(t, func(dir string, file *ast.File) {
		if dir == "modules/dialect" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if isIdent(n.X, "dialect") {
					used[n.Sel.Name] = true
				}
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				if n.Kind != token.STRING || err != nil {
					return true
				}
				for name, format := range rows {
					if writes(text, format) {
						t.Errorf("%s writes %q, which is dialect.%s", dir, text, name)
					}
				}
			}
			return true
		})
	})
	for name := range rows {
		if !used[name] {
			t.Errorf("nobody uses dialect.%s", name)
		}
	}
}

// TestErrorsAreNotRecognizedByTheirText: where the text of an error is looked into, somebody else has written it.
func TestErrorsAreNotRecognizedByTheirText(t *testing.T) {
	seen := map[string]bool{}
	eachSource(t, func(dir string, file *ast.File) {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			name := dir + "." + fn.Name.Name
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) < 2 {
					return true
				}
				sel, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || !isIdent(sel.X, "strings") || !slices.Contains([]string{"Contains", "HasPrefix", "HasSuffix", "EqualFold"}, sel.Sel.Name) {
					return true
				}
				text, ok := call.Args[0].(*ast.CallExpr)
				if !ok {
					return true
				}
				if of, ok := text.Fun.(*ast.SelectorExpr); ok && of.Sel.Name == "Error" && len(text.Args) == 0 {
					seen[name] = true
					if !slices.Contains(ofOthers, name) {
						t.Errorf("%s looks into the text of an error", name)
					}
				}
				return true
			})
		}
	})
	for _, name := range ofOthers {
		if !seen[name] {
			t.Errorf("%s does not look into the text of an error: remove it from the list", name)
		}
	}
}
