package project

import (
	"fmt"

	"hark/controller/internal/argparse"
	"hark/modules/py/value"
	"hark/playbook/syntax"
	"hark/playbook/vars"
)

// extraVars reads -e: @file, YAML or JSON, or key=value.
func (p *Project) extraVars() (*value.Dict, error) {
	all := value.NewDict()
	for _, text := range p.Options.Extra {
		d, err := p.extraOf(text)
		if err != nil {
			return nil, err
		}
		all = vars.Combine(all, d, p.HashMerge())
	}
	return all, nil
}

func (p *Project) extraOf(text string) (*value.Dict, error) {
	var v value.Value
	var err error
	switch {
	case text == "":
		return value.NewDict(), nil
	case text[0] == '@':
		v, err = p.Loader.Value(p.Settings.Abs(text[1:]))
	case text[0] == '/' || text[0] == '.':
		return nil, argparse.OptionsError(fmt.Sprintf("Please prepend extra_vars filename '%s' with '@'", text))
	case text[0] == '[' || text[0] == '{':
		v, err = p.Loader.ParseValue("<string>", []byte(text))
	default:
		return syntax.Args(text, false) // words without = are free text, which goes nowhere
	}
	if err != nil {
		return nil, err
	}
	if d, ok := v.(*value.Dict); ok {
		return d, nil
	}
	return nil, argparse.OptionsError(fmt.Sprintf("Invalid extra vars data supplied. '%s' could not be made into a dictionary", text))
}
