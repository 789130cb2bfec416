package syntax

import "hark/modules/py/value"

// Playbook is one file of plays.
type Playbook struct {
	File    string
	Entries []PlaybookEntry
}

// PlaybookEntry is a play or an import_playbook; exactly one is set.
type PlaybookEntry struct {
	Play   *Play
	Import *Import
}

// Place returns its position.
func (e PlaybookEntry) Place() Place {
	if e.Play != nil {
		return e.Play.Place
	}
	return e.Import.Place
}

// Import is import_playbook.
type Import struct {
	Place Place
	// File is as written; it may hold a template, or be the name of a collection's playbook.
	File string
	// FilePlace is the position of File.
	FilePlace Place
	// Vars are its vars, merged if they were a list; nil if there are none.
	Vars *value.Dict
	// Tags are normalised as Play.Tags.
	Tags []value.Value
	// Attrs are name, when and the other keywords of a play's base class.
	Attrs Attrs
}

// Play is one play. Attrs holds hosts, gather_facts, serial, vars_files and every other keyword that has no field here.
type Play struct {
	Place Place
	Attrs Attrs
	// Vars are merged if they were a list of mappings; nil if there are none.
	Vars *value.Dict
	// Prompts are the entries of vars_prompt, each a dict with a name.
	Prompts []*value.Dict
	// Tags are strings (a string with commas was split) and other values of the list: ints, templates.
	Tags        []value.Value
	Collections []string
	Roles       []*RoleEntry

	PreTasks, Tasks, PostTasks, Handlers []Entry
}

// Entry is a block or a task; exactly one is set.
type Entry struct {
	Block *Block
	Task  *Task
}

// Block is block, rescue and always.
type Block struct {
	Place       Place
	Attrs       Attrs
	Vars        *value.Dict
	Tags        []value.Value
	Collections []string // its own; nil if it names none

	Body, Rescue, Always []Entry
}

// Task is a task or handler.
type Task struct {
	Place Place
	// Name is the keyword name as text, "" if it was not given.
	Name string
	// Action is as written: copy, ansible.builtin.copy.
	Action string
	// Args are the arguments, never nil: free-form text is under "_raw_params" (the argument cmd of command, shell and
	// script too). The arguments at the action override those of the task's args.
	Args *value.Dict
	// ArgsExpr is the template in place of all arguments (args: "{{ x }}", copy: "{{ x }}"); "" if there is none. Args
	// override its value.
	ArgsExpr string
	// Loop is loop or with_*; its zero value is no loop.
	Loop Loop
	// LoopControl are the keywords of loop_control; nil if it was not given.
	LoopControl Attrs
	// Listen are a handler's topics.
	Listen []string
	// Handler marks entries of handlers.
	Handler     bool
	Vars        *value.Dict
	Tags        []value.Value
	Collections []string // its own; nil if it names none
	// Attrs are all other keywords. With local_action, delegate_to is localhost.
	Attrs Attrs
}

// Loop is the loop of a task.
type Loop struct {
	// With is the name after with_; "" is the keyword loop.
	With string
	Over Attr
}

// Given reports whether there is a loop.
func (l Loop) Given() bool { return l.Over.Value != nil }

// RoleEntry is an entry of roles: or of a role's dependencies.
type RoleEntry struct {
	Place Place
	// Name is as written; it may hold a template.
	Name  string
	Attrs Attrs
	Vars  *value.Dict
	Tags  []value.Value
	// Params are the keys that are no keywords: parameters of the role. Nil if there are none.
	Params *value.Dict
}
