package view

import "strings"

// OnTerminal returns a view for the eyes of a person: names of tasks and handlers, of hosts and of items, which hosts
// may have made, stay within the line that shows them. In a file every byte is as Ansible has it.
func OnTerminal(v View) View { return terminal{v} }

type terminal struct{ View }

// flat shows the ends of lines in a text instead of obeying them.
func flat(text string) string {
	if !strings.ContainsAny(text, "\n\r\v\f\u0085\u2028\u2029") {
		return text
	}
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\v", `\v`, "\f", `\f`, "\u0085", `\x85`, "\u2028", `\u2028`,
		"\u2029", `\u2029`).Replace(strings.TrimSpace(text))
}

func (t Task) flat() Task {
	t.Name = flat(t.Name)
	return t
}

func (r Result) onTerminal() Result {
	r.Task, r.Name, r.flat = r.Task.flat(), flat(r.Name), true
	if r.Outcome != nil && r.Outcome.Delegated != "" {
		o := *r.Outcome
		o.Delegated = flat(o.Delegated)
		r.Outcome = &o
	}
	return r
}

func (v terminal) PlayStart(p Play) {
	p.Name = flat(p.Name)
	v.View.PlayStart(p)
}

func (v terminal) TaskStart(t Task)              { v.View.TaskStart(t.flat()) }
func (v terminal) HostStart(t Task, host string) { v.View.HostStart(t.flat(), host) }
func (v terminal) ItemDone(r Result)             { v.View.ItemDone(r.onTerminal()) }
func (v terminal) Retry(r Result)                { v.View.Retry(r.onTerminal()) }
func (v terminal) Done(r Result)                 { v.View.Done(r.onTerminal()) }
func (v terminal) Notified(handler, host string) { v.View.Notified(flat(handler), host) }
func (v terminal) Progress(r Result)             { v.View.Progress(r.onTerminal()) }
func (v terminal) AsyncDone(r Result)            { v.View.AsyncDone(r.onTerminal()) }

func (v terminal) Included(t Task, in Include) {
	in.Label, in.Path = flat(in.Label), flat(in.Path)
	v.View.Included(t.flat(), in)
}
