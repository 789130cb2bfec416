package templar

import (
	"context"

	"hark/playbook/jinja/value"
)

// FileOptions are the options of the template module.
type FileOptions struct {
	// Name is the file's name, for errors.
	Name string
	// NoTrimBlocks keeps the newline after a block tag; Ansible removes it unless told otherwise.
	NoTrimBlocks bool
	LstripBlocks bool
	// NewlineSequence ends lines in the output; "" is "\n".
	NewlineSequence string
	// Delimiters, "" for the usual ones.
	BlockStart, BlockEnd, VariableStart, VariableEnd, CommentStart, CommentEnd string
}

// File renders the text of a template file as the module template does: nothing is converted, native types are
// never kept, backslashes stay as they are. The syntax that the options make holds for the text of variables too; what
// a header of the file makes does not.
func (t *Templar) File(ctx context.Context, text string, o FileOptions) (string, error) {
	syntax := newSyntax()
	syntax.TrimBlocks = !o.NoTrimBlocks
	syntax.LstripBlocks = o.LstripBlocks
	syntax.NewlineSequence = o.NewlineSequence
	for _, d := range []struct {
		to   *string
		from string
	}{
		{&syntax.BlockStart, o.BlockStart}, {&syntax.BlockEnd, o.BlockEnd},
		{&syntax.VariableStart, o.VariableStart}, {&syntax.VariableEnd, o.VariableEnd},
		{&syntax.CommentStart, o.CommentStart}, {&syntax.CommentEnd, o.CommentEnd},
	} {
		if d.from != "" {
			*d.to = d.from
		}
	}
	classic := *t
	classic.o.Native = false
	if syntax != newSyntax() {
		classic.syntax = &syntax
	}
	r := rendering{settings: classic.extensions()}
	r.flavor, r.name = flavorText, o.Name
	v, err := classic.render(ctx, text, r, newScope(&classic))
	if err != nil {
		return "", err
	}
	return value.ToStr(v)
}
