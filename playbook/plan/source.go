package plan

import "hark/modules/py/value"

// NameText is the name of the step as the playbook has it: it may be a template.
func (s *Step) NameText() value.Source { return value.SourceText(s.Name) }

// WrittenText is the action as the playbook has it: it may be a template.
func (s *Step) WrittenText() value.Source { return value.SourceText(s.Written) }

// ArgsText is the expression that gives the arguments, as a template; empty if there is none.
func (s *Step) ArgsText() value.Source { return value.SourceText(s.ArgsExpr) }

// Texts are the names of the file as the playbook has them: they may be templates.
func (f *VarsFile) Texts() []value.Source {
	out := make([]value.Source, len(f.Names))
	for i, name := range f.Names {
		out[i] = value.SourceText(name)
	}
	return out
}

// LoopLabel is the label of a loop that names none: its variable. What is no name of a variable, which a template may
// have made, is only text.
func LoopLabel(variable string) value.Value {
	if !Level214.NamesVariable(variable) {
		return value.UnsafeStr("{{" + variable + "}}")
	}
	return value.SourceText("{{" + variable + "}}")
}

// Projected is an expression of register as a template.
func Projected(expr value.Value) value.Value {
	if text, ok := expr.(value.Source); ok {
		return text.Braced()
	}
	return expr
}
