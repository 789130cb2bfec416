package builtin

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/py/codecs"
	"hark/modules/py/value"
)

// Template renders a template file of the controller and puts it on the host.
var Template = modules.Define("ansible.builtin.template", "Template a file out to a target host.", runTemplate,
	modules.Is(modules.ReadsInCheck|modules.OpensByPath),
	modules.Edits("dest"),
	modules.WithResolve(resolveTemplate), modules.Is(modules.ReadsTemplates),
	modules.With(func(m *modules.Module) {
		m.ReportsAs = "ansible.legacy.copy"
		m.Examples = `- ansible.builtin.template: {src: nginx.conf.j2, dest: /etc/nginx/nginx.conf, mode: "0644", validate: nginx -t -c %s}
  notify: reload nginx
`
		m.Returns = copyReturns()
	}), modules.Programs("validate"))

type templateArgs struct {
	copyArgs
	NewlineSequence *string `arg:"newline_sequence,extra" doc:"Line end of the result; \\n, \\r or \\r\\n."`
	BlockStart      *string `arg:"block_start_string,extra" doc:"Start of a block."`
	BlockEnd        *string `arg:"block_end_string,extra" doc:"End of a block."`
	VariableStart   *string `arg:"variable_start_string,extra" doc:"Start of an expression."`
	VariableEnd     *string `arg:"variable_end_string,extra" doc:"End of an expression."`
	CommentStart    *string `arg:"comment_start_string,extra" doc:"Start of a comment."`
	CommentEnd      *string `arg:"comment_end_string,extra" doc:"End of a comment."`
	TrimBlocks      *bool   `arg:"trim_blocks,extra" doc:"Drop the line end after a block; default yes."`
	LstripBlocks    *bool   `arg:"lstrip_blocks,extra" doc:"Drop spaces before a block; default no."`
	OutputEncoding  *string `arg:"output_encoding,extra" doc:"Encoding of the result; default utf-8."`
}

func runTemplate(ctx context.Context, env *modules.Env, a templateArgs) (modules.Result, error) {
	return runCopy(ctx, env, a.copyArgs)
}

// resolveTemplate renders the source and leaves the arguments of copy.
func resolveTemplate(ctx context.Context, env *modules.Env, args *value.Dict) error {
	o, err := templateOptions(args)
	if err != nil {
		return err
	}
	if modules.IsGiven(args, "state") {
		return actionFail("'state' cannot be specified on a template")
	}
	if !modules.IsGiven(args, "src") || !modules.IsGiven(args, "dest") {
		return actionFail("src and dest are required")
	}
	if !slices.Contains([]string{"\n", "\r", "\r\n"}, o.NewlineSequence) {
		return actionFail("newline_sequence needs to be one of: \n, \r or \r\n")
	}
	found, err := env.Source(ctx, "templates", modules.Str(modules.Argument(args, "src")), true)
	if err != nil {
		return notFound(err)
	}
	if found.Dir {
		return actionFail("could not find src=" + found.Path + ", it is a directory")
	}
	o.Name, o.Written, o.Dest = found.Path, modules.Str(modules.Argument(args, "src")),
		modules.Str(modules.Argument(args, "dest"))
	out, err := env.RenderFile(ctx, found, o)
	if err != nil {
		kind := modules.ErrorKind(err)
		return modules.ActionCaught(modules.ErrorClass(err)+": "+err.Error(), "%s: %v", kind, err)
	}
	src, err := textSource(env, found, out, o.Encoding)
	if err != nil {
		return err
	}
	for _, key := range []string{"newline_sequence", "block_start_string", "block_end_string", "variable_start_string",
		"variable_end_string",
		"comment_start_string", "comment_end_string", "trim_blocks", "lstrip_blocks", "output_encoding"} {
		args.Delete(value.Str(key))
	}
	args.Put("hark_source", src)
	return checkCopy(decodeTemplate, env, args, fsx.SumText(out).SHA1)
}

var decodeTemplate = modules.Decoder[templateArgs](modules.Rules{})

func actionFail(msg string) error { return modules.ActionCaught("", "%s", msg) }

func templateOptions(args *value.Dict) (modules.TemplateOptions, error) {
	o := modules.TemplateOptions{
		NewlineSequence: "\n", Encoding: "utf-8",
		TrimBlocks:   modules.LenientBool(modules.Argument(args, "trim_blocks"), true),
		LstripBlocks: modules.LenientBool(modules.Argument(args, "lstrip_blocks"), false),
	}
	for key, field := range map[string]*string{
		"newline_sequence": &o.NewlineSequence, "output_encoding": &o.Encoding,
		"block_start_string": &o.BlockStart, "block_end_string": &o.BlockEnd,
		"variable_start_string": &o.VariableStart, "variable_end_string": &o.VariableEnd,
		"comment_start_string": &o.CommentStart, "comment_end_string": &o.CommentEnd,
	} {
		switch v := modules.Argument(args, key).(type) {
		case value.None:
		case *value.List, *value.Dict:
			return o, actionFail(key + " is expected to be a string, but got " + modules.TypeName(v) + " instead")
		default:
			*field = modules.Str(v)
		}
	}
	if o.Encoding == "" {
		o.Encoding = "utf-8"
	}
	// What a user writes in single quotes comes with its backslash.
	o.NewlineSequence = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(o.NewlineSequence)
	return o, nil
}

// maxText bounds what is read into memory: the fragments of assemble.
const maxText = 64 << 20

func readBlob(ctx context.Context, env *modules.Env, digest string) (string, error) {
	r, err := env.Open(ctx, digest)
	if err != nil {
		return "", err
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err == nil && len(raw) > maxText {
		err = fmt.Errorf("cannot read a text from the controller: it has more than %d bytes", maxText)
	}
	return string(raw), err
}

// textSource returns the source argument of a rendered text.
func textSource(env *modules.Env, found *modules.Source, text, encoding string) (*value.Dict, error) {
	raw, err := codecs.Encode(text, encoding)
	if err != nil {
		return nil, actionFail(codecs.InFull(err))
	}
	out := string(raw)
	src := value.DictOf("path", found.Path, "label", localTemp(env, filepath.Base(found.Path)), "mode", int64(found.Mode),
		"size", len(out))
	if utf8.ValidString(out) {
		src.Put("text", out)
	} else {
		src.Put("base64", base64.StdEncoding.EncodeToString([]byte(out)))
	}
	return src, nil
}
