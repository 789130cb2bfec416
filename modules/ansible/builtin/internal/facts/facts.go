// Package facts finds out what a host is, for setup, gather_facts and mount_facts. Each collector reads
// /proc, /sys and /etc, or asks a tool of the system where that is the interface, and names what it finds as Ansible
// does. Nothing here waits on a dead network mount.
//
// Compared key by key with ansible-core 2.14 on one host, setup differs in what follows:
//
//   - interfaces, the addresses in all_ipv4_addresses and all_ipv6_addresses and the interfaces of a bridge come
//     sorted; Ansible gives them in the
//     order of a directory or of a set, which is another in each run.
//   - python and python_version tell of the host's python3, if it has one: no Python is needed to gather facts.
//   - env is the environment of the agent's processes, with no variables of a shell that Ansible's connection would
//     start.
package facts

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hark/modules"
)

// Args are the arguments of setup.
type Args struct {
	Subset   []string `arg:"gather_subset,default=all" doc:"Which families of facts to gather; a leading ! leaves one out."`
	Timeout  int      `arg:"gather_timeout,default=10" doc:"Seconds after which a collector that may block is given up."`
	Filter   []string `arg:"filter,default=" doc:"Shell patterns; only facts whose names match are returned."`
	FactPath string   `arg:"fact_path,type=path,default=/etc/ansible/facts.d" doc:"Directory of local facts (*.fact)."`
}

// Gather runs setup: what known remembers is not asked again.
func Gather(ctx context.Context, env *modules.Env, known *Memory, a Args) (modules.Result, error) {
	names, unknown := chosen(a.Subset)
	if unknown != "" {
		return modules.Fail("Bad subset '%s' given to Ansible. gather_subset options allowed: all, %s", unknown,
			strings.Join(subsetNames(), ", "))
	}
	limit := time.Duration(a.Timeout) * time.Second
	if a.Timeout <= 0 {
		limit = 10 * time.Second
	}
	p := &probe{ctx: ctx, env: env, known: known, limit: limit, factPath: a.FactPath, facts: map[string]any{}}
	for _, c := range collectors {
		if names[c.name] {
			c.collect(p)
		}
	}
	subset := a.Subset
	if len(subset) == 0 {
		subset = []string{"all"}
	}
	return modules.Result{Facts: inOrder(p.result(a.Filter, subset)), Warnings: p.warnings}, nil
}

// probe is one gathering: where collectors leave what they find.
type probe struct {
	ctx      context.Context
	env      *modules.Env
	known    *Memory
	limit    time.Duration // of a collector that may block
	factPath string
	facts    map[string]any // without the prefix ansible_
	warnings []string
}

func (p *probe) set(name string, v any) { p.facts[name] = v }

func (p *probe) warn(text string) { p.warnings = append(p.warnings, text) }

// text returns a fact that another collector has set, "" if it has not.
func (p *probe) text(name string) string {
	s, _ := p.facts[name].(string)
	return s
}

// result prefixes the facts and keeps those that a filter names, as setup does: gather_subset and
// module_setup tell that it ran.
func (p *probe) result(filters, subset []string) map[string]any {
	out := make(map[string]any, len(p.facts)+2)
	for name, v := range p.facts {
		if full := "ansible_" + name; keeps(filters, full) {
			out[full] = v
		}
	}
	if keeps(filters, "gather_subset") {
		out["gather_subset"] = subset
	}
	if keeps(filters, "module_setup") {
		out["module_setup"] = true
	}
	return out
}

func keeps(filters []string, name string) bool {
	if len(filters) == 0 {
		return true
	}
	for _, pattern := range filters {
		if pattern == "" || pattern == "*" || pattern == name {
			return true
		}
		if !strings.HasPrefix(pattern, "ansible_") && pattern != "gather_subset" && pattern != "module_setup" {
			pattern = "ansible_" + pattern
		}
		if ok, err := filepath.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}

// run runs a tool of the system; false if it is missing, fails or takes longer than the limit.
func (p *probe) run(tool string, args ...string) (string, bool) {
	path := p.env.LookPath(tool)
	if path == "" {
		return "", false
	}
	found, _ := p.ask(path, args)
	return found.text, found.ok
}

// ask runs a tool; it is not certain that one which did not come to an end would say the same again.
func (p *probe) ask(path string, args []string) (found toolAnswer, certain bool) {
	out, err := p.env.Exec(p.ctx, modules.Command{
		Argv: append([]string{path}, args...), Env: []string{"LANG=C", "LC_ALL=C"}, Timeout: p.limit,
	})
	if err != nil || out.TimedOut {
		return toolAnswer{}, false
	}
	if out.Rc != 0 {
		return toolAnswer{}, true
	}
	return toolAnswer{string(out.Stdout), true}, true
}

// content returns a file's text without the white space around it, "" if it cannot be read or is empty.
func content(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// contentOr is content, or other when there is none.
func contentOr(path string, other any) any {
	if s := content(path); s != "" {
		return s
	}
	return other
}

func lines(path string) []string {
	text := content(path)
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// entries returns the names in a directory, sorted.
func entries(dir string) []string {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(list))
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}
