package move

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/search"
	"hark/playbook/syntax"
)

// reader reads one file of plays, tasks or variables.
type reader struct {
	p          *project
	file, book string // book is the directory of the playbook
}

func (r *reader) at(n *syntax.Node) syntax.Place {
	return syntax.Place{File: r.file, Line: n.Mark.Line, Column: n.Mark.Column}
}

func (r *reader) site(n *syntax.Node) site { return site{at: r.at(n), v: n.Value} }

func (r *reader) found(n *syntax.Node, row string, e Effect, what string) *Finding {
	return r.p.found(r.site(n), row, e, what)
}

// play reads an entry of a playbook.
func (r *reader) play(n *syntax.Node) {
	for i, k := range n.Keys {
		key, v := value.Printed(k.Value), n.Vals[i]
		switch modules.ShortName(key) {
		case "import_playbook":
			r.follow(v, r.p.playbook)
		case "tasks", "pre_tasks", "post_tasks", "handlers":
			r.entries(v, holds(n, "any_errors_fatal"), false)
		case "roles":
			r.roles(v, "")
		case "vars_files":
			r.varsFiles(v)
		case "vars_prompt":
			r.prompts(v)
		default:
			r.keyword(key, v)
		}
	}
}

// keyword reads what plays, blocks, tasks and roles have in common.
func (r *reader) keyword(key string, v *syntax.Node) {
	switch key {
	case "vars":
		r.ownVars(v)
	case "when", "changed_when", "failed_when", "until", "break_when":
		r.conditions(v)
	default:
		r.texts(v, asValue)
	}
}

func holds(n *syntax.Node, key string) bool {
	v := n.Get(key)
	return v != nil && (v.Value == value.Bool(true) || looksBool(v.Value) && strings.HasPrefix("yes true on", strings.ToLower(value.Printed(v.Value))))
}

// follow goes to a file that is named by a constant.
func (r *reader) follow(n *syntax.Node, to func(path string)) {
	name, ok := value.Text(n.Value)
	name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
	switch {
	case !ok || name == "":
	case isTemplate(n.Value):
		r.p.report.Unfollowed++
	default:
		for _, dir := range []string{filepath.Dir(r.file), r.book} {
			if path := search.Clean(name, dir); search.Exists(path) {
				to(path)
				return
			}
		}
	}
}

func (r *reader) varsFiles(n *syntax.Node) {
	for _, item := range listed(n) {
		for _, one := range listed(item) {
			r.follow(one, r.p.varsFile)
		}
	}
}

// listed are the items of a list, or the one value that stands for it.
func listed(n *syntax.Node) []*syntax.Node {
	if _, ok := n.Value.(*value.List); ok {
		return n.Items
	}
	return []*syntax.Node{n}
}

func (r *reader) prompts(n *syntax.Node) {
	for _, item := range listed(n) {
		if name := item.Get("name"); name != nil {
			r.p.define(value.Printed(name.Value), definition{v: value.YAMLStr("what is typed"), at: r.at(name)})
		}
	}
}

// roles reads the roles of a play or of a role's dependencies. near is where those lie that depend on them.
func (r *reader) roles(n *syntax.Node, near string) {
	if n == nil {
		return
	}
	for _, item := range listed(n) {
		name := item
		if _, ok := item.Value.(*value.Dict); ok {
			if name = item.Get("role"); name == nil {
				name = item.Get("name")
			}
			for i, k := range item.Keys {
				r.keyword(value.Printed(k.Value), item.Vals[i])
				r.p.define(value.Printed(k.Value), definition{v: item.Vals[i].Value, at: r.at(item.Vals[i])})
			}
		}
		if name != nil {
			text, _ := value.Text(name.Value)
			r.p.role(text, r.book, near)
		}
	}
}

// ownVars reads vars of a play, block or task.
func (r *reader) ownVars(n *syntax.Node) {
	if _, ok := n.Value.(*value.List); ok {
		r.found(n, "vars-list", Fails, "`vars` is a list")
		for _, item := range n.Items {
			r.vars(item)
		}
		return
	}
	r.vars(n)
}

// vars reads a dict of variables.
func (r *reader) vars(n *syntax.Node) {
	for i, k := range n.Keys {
		name := value.Printed(k.Value)
		if name == "ansible_managed" {
			r.found(k, "managed", Differs, "the variable `ansible_managed`")
		}
		r.p.define(name, definition{v: n.Vals[i].Value, at: r.at(n.Vals[i])})
	}
	r.texts(n, asValue)
}

// texts notes all texts in a value.
func (r *reader) texts(n *syntax.Node, u use) {
	switch n.Value.(type) {
	case *value.Dict:
		for _, v := range n.Vals {
			r.texts(v, asValue)
		}
	case *value.List:
		for _, item := range n.Items {
			r.texts(item, asEntry)
		}
	default:
		s := r.site(n)
		s.use = u
		r.p.sites = append(r.p.sites, s)
	}
}

// conditions notes the conditions of a keyword.
func (r *reader) conditions(n *syntax.Node) {
	for _, item := range listed(n) {
		s := r.site(item)
		s.use = asCondition
		r.p.sites = append(r.p.sites, s)
	}
}

// entries reads a list of tasks and blocks.
func (r *reader) entries(n *syntax.Node, fatal, rescue bool) {
	for _, item := range n.Items {
		if item.Get("block") == nil {
			r.task(item, rescue)
			continue
		}
		fatal := fatal || holds(item, "any_errors_fatal")
		if fatal && item.Get("rescue") != nil {
			r.found(item, "fatal-rescue", Differs, "`any_errors_fatal` where there is a `rescue`")
		}
		for i, k := range item.Keys {
			switch key := value.Printed(k.Value); key {
			case "block", "always", "rescue":
				r.entries(item.Vals[i], fatal, rescue || key == "rescue")
			default:
				r.keyword(key, item.Vals[i])
			}
		}
	}
}

var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// task reads a task.
func (r *reader) task(n *syntax.Node, rescue bool) {
	for i, k := range n.Keys {
		key, v := value.Printed(k.Value), n.Vals[i]
		switch {
		case key == "register":
			name, _ := value.Text(v.Value)
			if !variableName().MatchString(name) && !isTemplate(v.Value) {
				r.found(v, "register-name", Fails, "register: "+quoted(name)+" is no name of a variable")
			}
			r.p.define(name, definition{result: true, at: r.at(v)})
		case key == "retries" && n.Get("until") == nil:
			r.found(v, "retries", Differs, "`retries` without `until`")
		case key == "loop":
			r.texts(v, asLoop)
		case strings.HasPrefix(key, "with_"):
			r.texts(v, asItems)
		case key == "args":
			r.texts(v, asValue)
		default:
			r.action(n, key, v, rescue)
		}
	}
}

// action reads what is not the same for all tasks.
func (r *reader) action(n *syntax.Node, key string, v *syntax.Node, rescue bool) {
	switch modules.ShortName(key) {
	case "include":
		r.found(v, "include", Fails, "the action `include`")
		r.follow(v, func(path string) { r.p.taskFile(path, r.book) })
	case "include_tasks", "import_tasks":
		if file := v.Get("file"); file != nil {
			v = file
		}
		r.follow(v, func(path string) { r.p.taskFile(path, r.book) })
	case "include_role", "import_role":
		r.includedRole(v)
	case "include_vars":
		r.includedVars(v)
	case "set_fact":
		r.facts(v)
	case "assert":
		r.assert(v)
	case "meta":
		if rescue && v.Value != nil && value.Printed(v.Value) == "end_host" {
			r.found(v, "end-host", Differs, "`end_host` in a `rescue`")
		}
	case "template":
		if src := v.Get("src"); src != nil {
			r.templateFile(src)
		}
		r.texts(v, asValue)
	default:
		r.keyword(key, v)
	}
}

func (r *reader) includedRole(v *syntax.Node) {
	name := v.Get("name")
	if name == nil {
		name = v.Get("role")
	}
	text := ""
	if name != nil {
		text, _ = value.Text(name.Value)
	} else if args, err := syntax.Args(value.Printed(v.Value), false); err == nil {
		text = value.Printed(value.OrNone(first(args, "name", "role")))
	}
	if text != "" && text != "None" {
		r.p.role(text, r.book, "")
	}
}

// first is the first of some entries that there is.
func first(d *value.Dict, keys ...string) value.Value {
	for _, key := range keys {
		if v, ok := d.Get(key); ok {
			return v
		}
	}
	return nil
}

func (r *reader) includedVars(v *syntax.Node) {
	if file := v.Get("file"); file != nil {
		v = file
	} else if dir := v.Get("dir"); dir != nil {
		r.follow(dir, r.p.varsUnder)
		return
	}
	r.follow(v, r.p.varsFile)
	name, _ := value.Text(v.Value)
	if path := filepath.Join(filepath.Dir(r.file), "vars", name); name != "" && !isTemplate(v.Value) && search.Exists(path) {
		r.p.varsFile(path)
	}
}

// facts reads set_fact. What is written as key=value is text.
func (r *reader) facts(v *syntax.Node) {
	text, ok := value.Text(v.Value)
	if !ok {
		r.vars(v)
		return
	}
	args, err := syntax.Args(text, false)
	if err != nil {
		return
	}
	args.Each(func(k, item value.Value) bool {
		if looksBool(item) {
			r.found(v, "set_fact", Differs, "set_fact: "+quoted(value.Printed(k)+"="+value.Printed(item))+" is text")
		}
		s := site{at: r.at(v), v: item}
		r.p.sites = append(r.p.sites, s)
		r.p.define(value.Printed(k), definition{v: item, at: r.at(v)})
		return true
	})
}

func (r *reader) assert(v *syntax.Node) {
	for i, k := range v.Keys {
		if value.Printed(k.Value) == "that" {
			r.conditions(v.Vals[i])
		} else {
			r.texts(v.Vals[i], asValue)
		}
	}
}

// templateFile reads a template that stands beside the playbook; those of roles are read with them.
func (r *reader) templateFile(src *syntax.Node) {
	name, _ := value.Text(src.Value)
	if name == "" || isTemplate(src.Value) {
		return
	}
	for _, dir := range []string{filepath.Dir(r.file), r.book} {
		for _, path := range []string{search.Clean(name, filepath.Join(dir, "templates")), search.Clean(name, dir)} {
			if search.Exists(path) {
				r.p.template(path)
				return
			}
		}
	}
}
