package templar

import (
	"context"
	"errors"

	"hark/playbook/jinja/value"
)

// New makes a Templar for the variables.
func New(v Vars, o Options) *Templar { return &Templar{vars: v, o: o} }

// NewEngine makes an engine with the standard filters, tests and globals.
func NewEngine() *Engine { return &Engine{} }

// With is a Templar that sees the local variables before all others. A dict that is nil adds nothing.
func (t *Templar) With(local *value.Dict) *Templar {
	return &Templar{vars: t.vars, local: local, o: t.o}
}

// Template renders a value as Ansible does: text that holds a template is rendered and, if the result looks like
// a list, dict or bool, converted; lists and dicts are rendered inside; unsafe text and all else stay as they are.
func (t *Templar) Template(ctx context.Context, v value.Value) (value.Value, error) {
	return nil, errors.New("not there yet")
}

// Text renders v and gives it as text, without converting the result to a list, dict or bool.
func (t *Templar) Text(ctx context.Context, v value.Value) (string, error) {
	return "", errors.New("not there yet")
}

// Condition judges a list of conditions (when, changed_when, until, assert's that): all must be true. failed is
// the first that is not. The error has Ansible's words, with the condition in them.
func (t *Templar) Condition(ctx context.Context, conds ...value.Value) (ok bool, failed value.Value, err error) {
	return false, nil, errors.New("not there yet")
}

// File renders the text of a template file as the module template does.
func (t *Templar) File(ctx context.Context, text string, o FileOptions) (string, error) {
	return "", errors.New("not there yet")
}

// Expr evaluates a bare expression, such as "a.b | default([])", and keeps its type.
func (t *Templar) Expr(ctx context.Context, expr string) (value.Value, error) {
	return nil, errors.New("not there yet")
}

// IsOmit tells whether v is the omit placeholder.
func IsOmit(v value.Value) bool {
	s, ok := value.Text(v)
	return ok && s == OmitToken
}

// StripOmit is d without the entries that are omitted, at any depth of dicts and lists, as module arguments are.
func StripOmit(d *value.Dict) *value.Dict { return d }

// IsTemplate tells whether v is or contains text that would be rendered.
func IsTemplate(v value.Value) bool { return false }

// Refs are the names of variables that rendering v can read, as far as its text shows. complete is false when
// something in it is found by name at run time (vars[...], lookup('vars', ...), an include), so that any variable may be read.
// hostvars counts as a name. What the named variables read in turn is not followed.
func Refs(v value.Value) (names []string, complete bool) { return nil, false }
