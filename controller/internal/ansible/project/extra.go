package project

import (
	"fmt"

	"hark/controller/internal/ansible/argparse"
	"hark/modules/py/value"
	"hark/playbook/syntax"
	"hark/playbook/vars"
)

// extraVars reads what -e gives: @file, YAML or JSON, or key=value. Those that come later win.
func (e Effective) extraVars(l *syntax.Loader) (*value.Dict, error) {
	all := value.NewDict()
	for _, text := range e.Options.Extra {
		d, err := extraOf(l, text, e.Settings.Abs)
		if err != nil {
			return nil, err
		}
		all = vars.Combine(all, d, e.HashMerge())
	}
	return all, nil
}

func extraOf(l *syntax.Loader, text string, abs func(string) string) (*value.Dict, error) {
	var v value.Value
	var err error
	switch {
	case text == "":
		return value.NewDict(), nil
	case text[0] == '@':
		v, err = l.Value(abs(text[1:]))
	case text[0] == '/' || text[0] == '.':
		return nil, argparse.OptionsError(fmt.Sprintf("Please prepend extra_vars filename '%s' with '@'", text))
	case text[0] == '[' || text[0] == '{':
		v, err = l.ParseValue("<string>", []byte(text))
	default:
		return syntax.Args(text, false) // words without = are free text, which goes nowhere
	}
	if err != nil {
		return nil, err
	}
	if d, ok := v.(*value.Dict); ok {
		return d, nil
	}
	return nil, argparse.OptionsError(fmt.Sprintf(
		"Invalid extra vars data supplied. '%s' could not be made into a dictionary", text))
}
