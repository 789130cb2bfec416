package answer

import (
	"fmt"
	"strings"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// varsFile reads the first of the candidates that exists.
func (a *Answerer) varsFile(b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if a.Vars == nil {
		return wire.Answer{}, &refusal{"no variables files are served"}
	}
	var searched []string
	for _, name := range ask.Names {
		path, tried, ok := b.Dir.Stack(step.Search, "vars", name)
		if !ok {
			searched = append(searched, tried...)
			continue
		}
		if a.Private.holds(path) {
			return wire.Answer{}, refusePrivate(path)
		}
		v, err := a.variables(path, ask.Step != "")
		if err != nil {
			return wire.Answer{Paths: []string{path}}, err
		}
		return wire.Answer{Value: plan.Lit(v), Paths: []string{path}}, nil
	}
	if ask.Step == "" {
		return wire.Answer{}, fmt.Errorf("vars file %s was not found\nCould not find file on the Ansible Controller.\n"+
			"If you are using a module and expect the file to exist on the remote, see the remote_src option",
			strings.Join(ask.Names, ", "))
	}
	if strings.HasPrefix(ask.Names[0], "/") {
		searched = nil
	}
	return wire.Answer{}, &missingError{strings.Join(ask.Names, "', '"), searched}
}

// variables reads a file for include_vars, or an entry of vars_files.
func (a *Answerer) variables(path string, included bool) (value.Value, error) {
	if included {
		return a.Data(path)
	}
	return a.Vars(path)
}
