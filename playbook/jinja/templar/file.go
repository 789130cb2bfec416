package templar

import (
	"context"

	"hark/modules/py/value"
	"hark/playbook/jinja"
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

func (o *FileOptions) syntax() jinja.Syntax {
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
	return syntax
}

// File renders the text of a template file as the module template does: nothing is converted, native types are
// never kept, backslashes stay as they are. The syntax that the options make holds for the text of variables too; what
// a header of the file makes does not.
func (t *Templar) File(ctx context.Context, text value.Source, o FileOptions) (string, error) {
	classic := t.forFile(&o)
	if t.o.Engine.tagged {
		out, err := classic.taggedFile(ctx, text, classic.fileRendering(flavorText, o.Name))
		return out, ofFile(err, text.Text(), o.Name)
	}
	classic.o.Native = false
	ctx, scope, err := enter(ctx, classic)
	if err != nil {
		return "", err
	}
	v, err := classic.render(ctx, text.Text(), classic.fileRendering(flavorText, o.Name), scope)
	if err != nil {
		return "", err
	}
	return value.ToStr(v)
}

// Lookup renders the text of a template file as the lookup template does: data is made of it if convert is set, and
// native types are kept if they are on and native is set. What is not converted is never taken for a literal later.
func (t *Templar) Lookup(
	ctx context.Context, text value.Source, o FileOptions, convert, native bool,
) (value.Value, error) {
	own := t.forFile(&o)
	ctx, scope, err := enter(ctx, own)
	if err != nil {
		return nil, err
	}
	if t.o.Engine.tagged {
		out, err := own.tagged(ctx, text, own.fileRendering(flavorText, o.Name), scope)
		return out, ofFile(err, text.Text(), o.Name)
	}
	own.o.Native = t.o.Native && native
	f := flavorText
	switch {
	case own.o.Native:
		f = flavorNative
	case convert:
		f = flavorConvert
	}
	r := own.fileRendering(f, o.Name)
	v, err := own.templateText(ctx, text, text.Text(), r, scope)
	if err != nil || convert && own.o.Native == t.o.Native {
		return v, err
	}
	s, err := value.ToStr(v)
	return value.NativeStr(s), err
}

// forFile returns a Templar of the file's syntax.
func (t *Templar) forFile(o *FileOptions) *Templar {
	own := *t
	if syntax := o.syntax(); syntax != newSyntax() {
		own.syntax = &syntax
	}
	return &own
}

func (t *Templar) fileRendering(f flavor, name string) rendering {
	r := rendering{settings: t.extensions()}
	r.flavor, r.name = f, name
	return r
}
