package answer

import (
	"fmt"
	"path/filepath"
	"strings"

	"hark/agent/wire"
	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// varsFile reads the first of the candidates that exists.
func (a *Answerer) varsFile(b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if a.Vars == nil {
		return wire.Answer{}, &refusal{"no variables files are served"}
	}
	if why := b.strays(step, ask); why != "" {
		return wire.Answer{}, &refusal{why}
	}
	var searched []string
	for _, name := range ask.Names {
		path, tried, ok := b.Dir.Stack(step.Search, "vars", name)
		if !ok {
			searched = append(searched, tried...)
			continue
		}
		if a.private(path) {
			return wire.Answer{}, refusePrivate(path)
		}
		v, err := a.variables(path, ask.Step != "")
		if err != nil {
			return wire.Answer{Paths: []string{path}}, err
		}
		a.serve(b, path, v)
		return wire.Answer{Value: plan.Lit(v), Paths: []string{path}}, nil
	}
	if ask.Step == "" {
		return wire.Answer{}, fmt.Errorf("vars file %s was not found\nCould not find file on the Ansible Controller.\n"+
			"If you are using a module and expect the file to exist on the remote, see the remote_src option", strings.Join(ask.Names, ", "))
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

// strays tells why the plan does not lead to the files of an ask; "" is that it does. They may hold every secret of the project, and are
// opened if they are vaults.
func (b *batch) strays(step *plan.Step, ask wire.Ask) string {
	switch {
	case ask.Step == "" && !b.late(ask.Names):
		return fmt.Sprintf("vars_files have no entry that becomes '%s'", strings.Join(ask.Names, "', '"))
	case ask.Step == "":
		return ""
	case !acts(step, "include_vars"):
		return fmt.Sprintf("step %s reads no variables file", step.ID)
	}
	for _, name := range ask.Names {
		if !argumentNames(step, name) && !b.listed(ask.Host, name) {
			return fmt.Sprintf("step %s does not name the file %q", step.ID, name)
		}
	}
	return ""
}

// late tells whether names are the candidates of an entry of vars_files that the host renders.
func (b *batch) late(names []string) bool {
	for _, entry := range b.Plan.Play.VarsFiles {
		fits := entry.Late && len(entry.Names) == len(names)
		for i := 0; fits && i < len(names); i++ {
			fits = mayBecome(value.YAMLStr(entry.Names[i]), names[i])
		}
		if fits {
			return true
		}
	}
	return false
}

// mayBecome tells whether an argument is the name of a file, or may become it when it is rendered: what stands before the first and after
// the last template must be there. The slash of a directory does not count.
func mayBecome(v value.Value, name string) bool {
	text, ok := value.Text(v)
	if !ok {
		return false
	}
	plain := func(s string) string { return strings.TrimRight(strings.TrimSpace(s), "/") }
	if !templar.IsTemplate(v) {
		return plain(text) == plain(name)
	}
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return true // its delimiters are the user's own
	}
	before, after := strings.TrimSpace(text[:from]), plain(text[to+1:])
	name = plain(name)
	return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}

// list notes that a host was told what a directory holds, to include files of it.
func (b *batch) list(host, dir string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.directories[host] = append(b.directories[host], dir)
}

// listed tells whether a file lies in a directory that was listed.
func (b *batch) listed(host, name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, dir := range b.directories[host] {
		if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
