package check

import (
	"go/ast"
	"slices"
	"testing"
)

// readers are the functions that may make text which can be a template, an expression or a condition (value.Source),
// and what of. All other text is data: who finds his function missing here has text of a host, a lookup, a plug-in or
// a template, or a constant, and takes another kind.
func readers() map[string]string {
	const (
		playbooks   = "files of a playbook or of variables"
		inventories = "sources of an inventory"
		plans       = "plans, which the compiler made and an operator signed; what agents tell in this form is made data where it is admitted"
		templates   = "template files, or a constant of a template"
		settings    = "settings, the command line, and what the person at it types"
		plugins     = "plug-ins in Python on the controller, which say what of their text is data"
	)
	return map[string]string{
		"agent/internal/runner.template":                         templates,
		"controller/cli.moduleArgs":                              settings,
		"controller/cli.shape":                                   settings,
		"controller/internal/ansible/galaxy.copy":                templates,
		"controller/internal/ansible/plugins.Read":               plugins,
		"controller/internal/ansible/plugins.Vars":               plugins,
		"controller/internal/ansible/plugins.filtered":           templates,
		"controller/internal/ansible/plugins.given":              plugins,
		"controller/internal/ansible/plugins.rendered":           plugins,
		"controller/internal/ansible/project.Hash":               templates,
		"controller/internal/ansible/project.keywords":           settings,
		"controller/internal/ansible/project.settingsOfKeywords": settings,
		"controller/internal/play/answer.OwnTemplate":            templates,
		"controller/internal/play.askVariables":                  settings,
		"playbook/compile.oldInclude":                            playbooks,
		"playbook/compile.text":                                  playbooks,
		"playbook/inventory.Where":                               settings,
		"playbook/inventory.eval":                                inventories,
		"playbook/inventory.groups":                              inventories,
		"playbook/inventory.literal":                             inventories,
		"playbook/inventory.one":                                 settings,
		"playbook/inventory.parseScript":                         inventories,
		"playbook/inventory.tomlValue":                           inventories,
		"playbook/inventory.yamlText":                            inventories,
		"playbook/jinja/templar.UndefText":                       templates,
		"playbook/jinja/templar.constantTagged":                  templates,
		"playbook/jinja/templar.render":                          templates,
		"playbook/plan.ArgsText":                                 plans,
		"playbook/plan.LoopLabel":                                plans,
		"playbook/plan.NameText":                                 plans,
		"playbook/plan.Texts":                                    plans,
		"playbook/plan.UnmarshalJSON":                            plans,
		"playbook/plan.WrittenText":                              plans,
		"playbook/plan.defaultTexts":                             plans,
		"playbook/plan.keywords":                                 plans,
		"playbook/plan.textOrNil":                                plans,
		"playbook/plan.textsOrNil":                               plans,
		"playbook/syntax.Args":                                   playbooks,
		"playbook/syntax.options":                                playbooks,
		"playbook/syntax.parse":                                  playbooks,
		"playbook/syntax.tags":                                   playbooks,
		"playbook/syntax.taskAttrs":                              playbooks,
	}
}

// TestOnlyReadersMakeSource: no text becomes a template by a conversion, see value.Source.
func TestOnlyReadersMakeSource(t *testing.T) {
	found := map[string]bool{}
	allowed := readers()
	eachSource(t, func(dir string, file *ast.File) {
		if dir == "modules/py/value" {
			return // which has the kind
		}
		for _, d := range file.Decls {
			if name := dir + "." + declared(d); makesSource(d) {
				found[name] = true
				if allowed[name] == "" {
					t.Errorf("%s makes text that may be a template: only readers may", name)
				}
			}
		}
	})
	for name := range allowed {
		if !found[name] {
			t.Errorf("%s makes no text that may be a template any more: take it out of the list", name)
		}
	}
}

// TestOnlyTemplatesAreRenderedAgain: at level 2.14 what a template of source text alone has made is rendered again
// (value.Rendered). Nobody but the Templar makes such text, and what Go makes of anything (value.Str) is data.
func TestOnlyTemplatesAreRenderedAgain(t *testing.T) {
	allowed := map[string]bool{
		"render": false, "lookup": false, "constantClassic": false,
	}
	eachSource(t, func(dir string, file *ast.File) {
		for _, d := range file.Decls {
			if dir == "modules/py/value" || !selects(d, "Again") {
				continue
			}
			name := declared(d)
			if _, may := allowed[name]; !may || dir != "playbook/jinja/templar" {
				t.Errorf("%s.%s makes text that is rendered again: only the Templar may", dir, name)
			}
			allowed[name] = true
		}
	})
	for name, found := range allowed {
		if !found {
			t.Errorf("%s makes no text that is rendered again any more: take it out of the list", name)
		}
	}
}

// declared is the name of a function, or of the first of other declarations.
func declared(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				return v.Names[0].Name
			}
		}
	}
	return ""
}

func makesSource(n ast.Node) bool { return selects(n, "SourceText", "KindSource") }

// selects reports whether a declaration names something of package value.
func selects(n ast.Node, names ...string) (does bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains(names, sel.Sel.Name) {
			of, isName := sel.X.(*ast.Ident)
			does = does || isName && of.Name == "value"
		}
		return !does
	})
	return does
}
