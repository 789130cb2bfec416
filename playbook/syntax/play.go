package syntax

import (
	"fmt"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

func (r *reader) playbookEntry(n *Node) PlaybookEntry {
	if _, ok := n.Value.(*value.Dict); !ok {
		r.fail(n, "playbook entries must be either valid plays or 'import_playbook' statements")
		return PlaybookEntry{}
	}
	for _, k := range n.Keys {
		if importPlaybook[value.Printed(k.Value)] {
			return PlaybookEntry{Import: r.importPlaybook(n)}
		}
	}
	return PlaybookEntry{Play: r.play(n)}
}

func (r *reader) importPlaybook(n *Node) *Import {
	o := object{n, r.place(n), "PlaybookInclude"}
	im := &Import{Place: o.at}
	skip := words("vars tags").with(importPlaybook)
	im.Attrs = r.attrs(o, importKeywords, skip)
	im.Tags = r.tags(o)
	if v := n.Get("vars"); v != nil {
		if _, ok := v.Value.(*value.Dict); !ok {
			r.failAt(o.at, "vars for import_playbook statements must be specified as a dictionary")
		} else {
			im.Vars = r.vars(o)
		}
	}
	for i, k := range n.Keys {
		if importPlaybook[value.Printed(k.Value)] {
			im.File, im.FilePlace = r.importedFile(o, n.Vals[i].Value), r.place(n.Vals[i])
		}
	}
	return im
}

// importedFile returns the first word: parameters after it no longer have a meaning.
func (r *reader) importedFile(o object, v value.Value) string {
	if value.IsNone(v) {
		r.failAt(o.at, "playbook import parameter is missing")
		return ""
	}
	s, ok := value.Text(v)
	if !ok {
		r.failAt(o.at, "playbook import parameter must be a string indicating a file path, got %s instead", Class(v))
		return ""
	}
	items, err := Split(s)
	if err != nil {
		r.failAt(o.at, "%s", err)
		return ""
	}
	if len(items) == 0 {
		r.failAt(o.at, "import_playbook statements must specify the file name to import")
		return ""
	}
	return strings.TrimSpace(items[0])
}

func (r *reader) play(n *Node) *Play {
	o := object{n, r.place(n), "Play"}
	p := &Play{Place: o.at}
	p.Collections = r.ownCollections(o)
	defer r.inherit(p.Collections)()
	p.Attrs = r.attrs(o, playKeywords,
		words("tasks pre_tasks post_tasks handlers roles vars vars_prompt tags collections user"))
	if user := n.Get("user"); user != nil {
		if p.Attrs.Has("remote_user") {
			r.failAt(o.at, "both 'user' and 'remote_user' are set for this play. The use of 'user' is deprecated, and should "+
				"be removed")
		}
		r.attr(o, p.Attrs, "remote_user", user)
	}
	r.hosts(n.Get("hosts"), o.at)
	p.Vars = r.vars(o)
	p.Tags = r.tags(o)
	p.Prompts = r.prompts(n.Get("vars_prompt"))
	if roles := n.Get("roles"); roles != nil {
		p.Roles = r.roles(roles, o.at)
	}
	if r.g.Foresee != nil {
		r.g.Foresee(r.file, p.Roles, r.collections)
	}
	r.handlers = true
	p.Handlers = r.section(o, "handlers")
	r.handlers = false
	p.PreTasks = r.section(o, "pre_tasks")
	p.PostTasks = r.section(o, "post_tasks")
	p.Tasks = r.section(o, "tasks")
	return p
}

func (r *reader) section(o object, key string) []Entry {
	n := o.n.Get(key)
	if n == nil || value.IsNone(n.Value) {
		return nil
	}
	msg := "A malformed block was encountered while loading " + key
	if key == "tasks" {
		msg += fmt.Sprintf(": %s should be a list or None but is %s", value.Printed(n.Value), r.g.class(n.Value))
	}
	return r.entries(n, msg, o.at)
}

func (r *reader) hosts(n *Node, at Place) {
	if n == nil && r.loader.Level.Has(dialect.PlaybookWords) {
		r.failAt(at, "The field 'hosts' is required but was not set.")
		return
	}
	if n == nil {
		r.say("the field 'hosts' is required but was not set")
		return
	}
	empty := value.IsNone(n.Value)
	switch v := n.Value.(type) {
	case *value.List:
		empty = len(v.Items) == 0
		for _, item := range v.Items {
			switch s, ok := value.Text(item); {
			case value.IsNone(item):
				r.say("Hosts list cannot contain values of 'None'. Please check your playbook")
			case !ok:
				r.say("Hosts list contains an invalid host value: '%s'", value.Printed(item))
			case strings.TrimSpace(s) == "":
				r.failAt(at, "the field 'hosts' is required, and cannot have empty values")
			}
		}
	case *value.Tuple:
	default:
		s, ok := value.Text(v)
		truth, err := value.Truth(v)
		switch {
		case ok:
			empty = s == ""
		case err == nil && !truth:
			empty = true
		default:
			r.say("Hosts list must be a sequence or string. Please check your playbook.")
		}
	}
	if empty {
		r.say("Hosts list cannot be empty. Please check your playbook")
	}
}

var promptKeys = words("name prompt default private confirm encrypt salt_size salt unsafe")

func (r *reader) prompts(n *Node) []*value.Dict {
	if n == nil || value.IsNone(n.Value) {
		return nil
	}
	nodes := n.Items
	switch n.Value.(type) {
	case *value.Dict:
		nodes = []*Node{n}
	case *value.List:
	default:
		r.noVariables(n)
	}
	var out []*value.Dict
	for _, item := range nodes {
		d, ok := item.Value.(*value.Dict)
		if !ok {
			r.noVariables(n)
			continue
		}
		if _, ok := d.Get("name"); !ok {
			r.fail(n, "Invalid vars_prompt data structure, missing 'name' key")
			continue
		}
		for _, k := range d.Keys() {
			if key := value.Printed(k); !promptKeys[key] {
				r.fail(n, "Invalid vars_prompt data structure, found unsupported key '%s'", key)
			}
		}
		out = append(out, d)
	}
	return out
}

func (r *reader) noVariables(n *Node) {
	r.say("variable files must contain either a dictionary of variables, or a list of dictionaries. Got: %s (%s)",
		value.Printed(n.Value), Class(n.Value)).General = true
}

func (r *reader) roles(n *Node, at Place) []*RoleEntry {
	if value.IsNone(n.Value) {
		return nil
	}
	if _, ok := n.Value.(*value.List); !ok {
		r.failAt(at, "A malformed role declaration was encountered.")
		return nil
	}
	var out []*RoleEntry
	for _, item := range n.Items {
		if e := r.role(item); e != nil {
			out = append(out, e)
		}
	}
	return out
}

func (r *reader) role(n *Node) *RoleEntry {
	e := &RoleEntry{Place: r.place(n), Attrs: Attrs{}}
	if s, ok := value.Text(n.Value); ok {
		if strings.Contains(s, ",") {
			r.say("Invalid old style role requirement: %s", s).General = true
			return nil
		}
		e.Name = s
		return e
	}
	if _, ok := n.Value.(*value.Dict); !ok {
		r.say("Invalid role definition: %s", value.Printed(n.Value))
		return nil
	}
	o := object{n, e.Place, "RoleInclude"}
	name := n.Get("role")
	if name == nil {
		name = n.Get("name")
	}
	s, ok := "", false
	if name != nil {
		s, ok = value.Text(name.Value)
	}
	if !ok || s == "" {
		r.failAt(o.at, "role definitions must contain a role name").General = true
		return nil
	}
	e.Name = s
	e.Vars, e.Tags = r.vars(o), r.tags(o)
	for i, kn := range n.Keys {
		key := value.Printed(kn.Value)
		switch {
		case key == "role" || key == "vars" || key == "tags":
		case roleKeywords[key]:
			r.attr(o, e.Attrs, key, n.Vals[i])
		default:
			if e.Params == nil {
				e.Params = value.NewDict()
			}
			e.Params.SetKey(kn.Value, n.Vals[i].Value)
		}
	}
	return e
}
