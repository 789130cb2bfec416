package plan

import "hark/modules/py/value"

// NameText returns the name of the step as in the playbook: it may be a template.
func (s *Step) NameText() value.Source { return value.SourceText(s.Name) }

// WrittenText returns the action as in the playbook: it may be a template.
func (s *Step) WrittenText() value.Source { return value.SourceText(s.Written) }

// ArgsText returns the expression of the arguments, as a template; empty if there is none.
func (s *Step) ArgsText() value.Source { return value.SourceText(s.ArgsExpr) }

// DefaultTexts returns the templates that give module_defaults, by their places among them; none of them is empty.
func (s *Step) DefaultTexts() map[int]value.Source { return defaultTexts(s.DefaultExprs) }

// DefaultTexts returns those of the action.
func (f *FactsModules) DefaultTexts() map[int]value.Source { return defaultTexts(f.DefaultExprs) }

func defaultTexts(exprs []string) map[int]value.Source {
	out := map[int]value.Source{}
	for i, text := range exprs {
		if text != "" {
			out[i] = value.SourceText(text)
		}
	}
	return out
}

// Texts returns the names of the file as the playbook has them: they may be templates.
func (f *VarsFile) Texts() []value.Source {
	out := make([]value.Source, len(f.Names))
	for i, name := range f.Names {
		out[i] = value.SourceText(name)
	}
	return out
}

// LoopLabel returns the label of a loop that names none: its variable. A text that is no name of a variable, which a
// template may have made, stays text.
func LoopLabel(variable string) value.Value {
	if !Level214.NamesVariable(variable) {
		return value.UnsafeStr("{{" + variable + "}}")
	}
	return value.SourceText("{{" + variable + "}}")
}

// Projected returns an expression of register as a template.
func Projected(expr value.Value) value.Value {
	if text, ok := expr.(value.Source); ok {
		return text.Braced()
	}
	return expr
}
