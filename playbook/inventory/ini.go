package inventory

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"hark/modules/dialect"
	"hark/modules/py/shlex"
)

var (
	sectionForm = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`^\[([^:\]\s]+)(?::(\w+))?\]\s*(?:#.*)?$`) })
	groupNameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^:\]\s]+)\s*(?:#.*)?$`) })
)

// iniReader reads an INI inventory, which begins in [ungrouped]; sections change the group.
type iniReader struct {
	tree  *tree
	path  string
	line  int
	group *Group
	name  string // of the group, as in the section's title
	state string // hosts, vars, children
	// waiting are groups that were named before they were declared, in order.
	waiting map[string]*pendingGroup
	order   []string
}

type pendingGroup struct {
	line    int
	state   string // vars or children
	parents []string
}

func parseINI(_ context.Context, from *reading, path string) error {
	data, err := from.o.Loader.Read(path)
	if err != nil {
		return err
	}
	r := &iniReader{tree: from.tree, path: path, group: from.tree.groups["ungrouped"], name: "ungrouped", state: "hosts",
		waiting: map[string]*pendingGroup{}}
	for _, line := range splitLines(string(data)) {
		r.line++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == ';' || line[0] == '#' {
			continue
		}
		if err := r.take(strings.ToValidUTF8(line, "?")); err != nil {
			return err
		}
	}
	return r.unresolved()
}

// splitLines splits at every line end that Python knows.
func splitLines(s string) []string {
	if !strings.ContainsAny(s, "\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029") {
		return strings.Split(s, "\n")
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.FieldsFunc(strings.Map(func(c rune) rune {
		if strings.ContainsRune("\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", c) {
			return '\n'
		}
		return c
	}, strings.ReplaceAll(s, "\n\n", "\n \n")), func(c rune) bool { return c == '\n' })
}

func (r *iniReader) fail(format string, a ...any) error {
	return failf("%s:%d: %s", r.path, r.line, fmt.Sprintf(format, a...))
}

func (r *iniReader) take(line string) error {
	if line[0] == '[' {
		if m := sectionForm().FindStringSubmatch(line); m != nil {
			return r.section(m[1], m[2])
		}
		if strings.HasSuffix(line, "]") {
			return r.fail("Invalid section entry: '%s'. Please make sure that there are no spaces in the section entry, and "+
				"that there are no other invalid characters", line)
		}
	}
	switch r.state {
	case "hosts":
		return r.host(line)
	case "vars":
		key, v, ok := strings.Cut(line, "=")
		if !ok {
			return r.fail("Expected key=value, got: %s", line)
		}
		return r.tree.setVariable(r.name, strings.TrimSpace(key), literal(strings.TrimSpace(v)))
	}
	return r.child(line)
}

func (r *iniReader) section(name, state string) error {
	name = r.tree.safeName(name)
	if state == "" {
		state = "hosts"
	}
	if state != "hosts" && state != "children" && state != "vars" {
		return r.fail(dialect.SectionUnknown.Format, name, state, state)
	}
	r.name, r.state = name, state
	if r.tree.groups[name] == nil {
		// [name:vars] does not declare a group: some other section must.
		if r.waiting[name] == nil && state == "vars" {
			r.wait(name, &pendingGroup{line: r.line, state: state})
		}
		if _, err := r.tree.addGroup(name); err != nil {
			return err
		}
	}
	r.group = r.tree.groups[name]
	if p := r.waiting[name]; p != nil && state != "vars" {
		if p.state == "children" {
			return r.resolve(name)
		}
		delete(r.waiting, name)
	}
	return nil
}

func (r *iniReader) wait(name string, p *pendingGroup) {
	r.waiting[name] = p
	r.order = append(r.order, name)
}

// resolve adds a group that is now declared to those that named it.
func (r *iniReader) resolve(name string) error {
	for _, parent := range r.waiting[name].parents {
		if err := r.tree.addChild(r.tree.groups[parent], r.tree.groups[name]); err != nil {
			return err
		}
		if p := r.waiting[parent]; p != nil && p.state == "children" {
			if err := r.resolve(parent); err != nil {
				return err
			}
		}
	}
	delete(r.waiting, name)
	return nil
}

func (r *iniReader) child(line string) error {
	m := groupNameForm().FindStringSubmatch(line)
	if m == nil {
		return r.fail("Expected group name, got: %s", line)
	}
	name := m[1]
	if g := r.tree.groups[name]; g != nil {
		return r.tree.addChild(r.group, g)
	}
	if r.waiting[name] == nil {
		r.wait(name, &pendingGroup{line: r.line, state: "children"})
	}
	p := r.waiting[name]
	p.parents = append(p.parents, r.name)
	return nil
}

func (r *iniReader) unresolved() error {
	for _, name := range r.order {
		p := r.waiting[name]
		switch {
		case p == nil:
		case p.state == "vars":
			return failf("%s:%d: Section [%s:vars] not valid for undefined group: %s", r.path, p.line, name, name)
		default:
			return failf("%s:%d: Section [%s:children] includes undefined group: %s", r.path, p.line,
				p.parents[len(p.parents)-1], name)
		}
	}
	return nil
}

func (r *iniReader) host(line string) error {
	words, err := shlex.SplitComments(line)
	if err != nil {
		return r.fail("Error parsing host definition '%s': %s", line, err)
	}
	if len(words) == 0 {
		return r.fail("list index out of range")
	}
	names, port, err := expandHosts(words[0])
	if err != nil {
		return err
	}
	if strings.HasSuffix(strings.TrimSpace(words[0]), ":") && port == 0 {
		return failf("Invalid host pattern '%s' supplied, ending in ':' is not allowed, this character is reserved to "+
			"provide a port.", words[0])
	}
	for _, name := range names {
		if strings.TrimSpace(name) == "---" {
			return failf("Invalid host pattern '%s' supplied, '---' is normally a sign this is a YAML file.", words[0])
		}
	}
	vars := make([]setting, 0, len(words)-1)
	for _, w := range words[1:] {
		key, v, ok := strings.Cut(w, "=")
		if !ok {
			return r.fail("Expected key=value host variable assignment, got: %s", w)
		}
		vars = append(vars, setting{key, literal(v)})
	}
	return r.tree.populate(names, vars, r.group, port)
}
