package builtin

import (
	"context"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/py/value"
)

// Copy puts files, directories or a text on the host.
var Copy = modules.Define("ansible.builtin.copy", "Copy files to remote locations.", runCopy,
	modules.Is(modules.ReadsInCheck|modules.OpensByPath),
	modules.Edits("dest"),
	modules.WithResolve(resolveCopy), modules.Is(modules.ReadsFiles),
	modules.With(func(m *modules.Module) {
		m.ReportsAs = "ansible.legacy.copy"
		m.Examples = `- ansible.builtin.copy: {src: app.conf, dest: /etc/app.conf, owner: root, mode: "0644"}
- ansible.builtin.copy: {content: "{{ key }}\n", dest: /etc/app.key, mode: "0600"}
- name: Check before it goes live
  ansible.builtin.copy: {src: sudoers, dest: /etc/sudoers, validate: /usr/sbin/visudo -csf %s}
`
		m.Returns = copyReturns()
	}), modules.Programs("validate"))

func copyReturns() []modules.Return {
	return []modules.Return{
		{Name: "dest", Type: "str", When: "success", Doc: "The file or directory."},
		{Name: "src", Type: "str", When: "changed", Doc: "The file that took its place."},
		{Name: "checksum", Type: "str", When: "a file", Doc: "SHA1 of the content."},
		{Name: "md5sum", Type: "str", When: "changed", Doc: "MD5 of the content."},
		{Name: "backup_file", Type: "str", When: "changed and backup", Doc: "The copy of what was there."},
	}
}

type copyArgs struct {
	Src              *string     `arg:"src,type=path" doc:"What to copy: a file or directory of the controller; of a directory ending in / what is in it."`
	OriginalBasename *string     `arg:"_original_basename,hidden"`
	Content          value.Value `arg:"content,type=str,nolog,resolved" doc:"The text to put there, instead of src."`
	Dest             string      `arg:"dest,required,type=path" doc:"Where to put it; a directory if it ends in / or src is one."`
	Backup           bool        `arg:"backup,default=no" doc:"Keep what was there under another name."`
	Force            bool        `arg:"force,default=yes" doc:"Replace what is there."`
	Validate         *string     `arg:"validate" doc:"Command that must succeed before the file takes its place; %s is the new file."`
	DirectoryMode    value.Value `arg:"directory_mode" doc:"Mode of the directories that a copy makes."`
	RemoteSrc        *bool       `arg:"remote_src,type=bool" doc:"src is on the host."`
	LocalFollow      *bool       `arg:"local_follow,type=bool" doc:"Follow links in the source; default yes."`
	Checksum         *string     `arg:"checksum" doc:"SHA1 that the content must have."`
	Follow           bool        `arg:"follow,default=no" doc:"Follow a link at dest."`
	fsx.FileArgs
	Decrypt *bool `arg:"decrypt,extra,type=bool" doc:"Decrypt vault files; default yes."`
	// Source is what the session found of src, see sourceArgs.
	Source *sourceArgs `arg:"hark_source,hidden"`
}

// sourceArgs is a controller-side source on its way from the session to the host.
type sourceArgs struct {
	Path    string      `arg:"path"` // on the controller; ends in / if the directory's content is meant
	Label   string      `arg:"label"`
	Digest  *string     `arg:"digest"`
	Text    *string     `arg:"text"`    // instead of Digest: a rendered template
	Base64  *string     `arg:"base64"`  // instead of Text: what is no UTF-8
	Mode    int         `arg:"mode"`    // of the file
	Size    int64       `arg:"size"`    // of the file
	Dir     bool        `arg:"dir"`     // a directory, with
	Entries []entryArgs `arg:"entries"` // all that is in it
	Content bool        `arg:"content"` // the text of the content argument
}

// entryArgs is a modules.SourceEntry.
type entryArgs struct {
	Rel    string  `arg:"rel"`
	Mode   int     `arg:"mode"`
	Size   int64   `arg:"size"`
	Digest *string `arg:"digest"`
	Dir    bool    `arg:"dir"`
	Link   string  `arg:"link"`
	Circle bool    `arg:"circle"`
}

// resolveCopy finds the source on the controller.
func resolveCopy(ctx context.Context, env *modules.Env, args *value.Dict) error {
	src, hasSrc := value.Text(modules.Argument(args, "src"))
	content, hasContent := modules.Argument(args, "content"), modules.IsGiven(args, "content")
	dest := ""
	if modules.IsGiven(args, "dest") {
		dest = modules.Str(modules.Argument(args, "dest"))
	}
	switch {
	case !(hasSrc && src != "") && !hasContent:
		return fsx.Failed("src (or content) is required")
	case dest == "":
		return fsx.Failed("dest is required")
	case hasSrc && src != "" && hasContent:
		return fsx.Failed("src and content are mutually exclusive")
	case hasContent && strings.HasSuffix(dest, "/"):
		return fsx.Failed("can not use content with a dir as dest")
	}
	if hasContent {
		// From here on it is no argument any more: as a secret, a short text would be found in every result.
		text := contentText(content)
		args.Delete(value.Str("content"))
		args.Put("hark_source",
			value.DictOf("path", localTemp(env, ""), "text", text, "mode", 0o600, "size", len(text), "content", true))
		return checkCopy(decodeCopy, env, args, fsx.SumText(text).SHA1)
	}
	if modules.LenientBool(modules.Argument(args, "remote_src"), false) {
		return nil
	}
	found, err := env.Source(ctx, "files", src, modules.LenientBool(modules.Argument(args, "decrypt"), true))
	if err != nil {
		return notFound(err)
	}
	args.Put("hark_source", wireSource(found, strings.HasSuffix(src, "/")))
	return checkCopy(decodeCopy, env, args, found.Sha1)
}

var decodeCopy = modules.Decoder[copyArgs](modules.Rules{})

// checkCopy refuses wrong arguments. Ansible finds them only when it copies: the result says what.
func checkCopy[A any](decode func(string, *value.Dict, modules.Reading) (A, error), env *modules.Env, args *value.Dict,
	sum string) error {
	_, err := decode("ansible.legacy.copy", args, modules.Reading{Release: env.Release})
	if err == nil || sum == "" {
		return nil
	}
	return fsx.Failed(err.Error(), "checksum", sum, "diff", []any{})
}

// preserves reports whether a mode is that of the source.
func preserves(mode value.Value) bool {
	text, _ := value.Text(mode)
	return text == "preserve"
}

// notFound is the failure of a missing controller-side file: Ansible shows it as an exception too.
func notFound(err error) error {
	return modules.ActionCaught("ansible.errors.AnsibleFileNotFound: "+err.Error(), "%s", err)
}

// contentText returns the text of a content argument: lists and mappings are JSON.
func contentText(v value.Value) string {
	switch v.(type) {
	case *value.List, *value.Dict:
		return modules.PyJSON(v)
	}
	return modules.Str(v)
}

// wireSource makes the argument that carries a source to the host.
func wireSource(s *modules.Source, slash bool) *value.Dict {
	path := strings.TrimRight(s.Path, "/")
	if slash {
		path += "/"
	}
	d := value.DictOf("path", path, "mode", int64(s.Mode), "size", s.Size, "dir", s.Dir)
	if !s.Dir {
		d.Put("digest", s.Digest)
		return d
	}
	entries := make([]*value.Dict, 0, len(s.Entries))
	for _, e := range s.Entries {
		x := value.DictOf("rel", e.Rel, "mode", int64(e.Mode), "size", e.Size, "dir", e.Dir, "link", e.Link, "circle",
			e.Circle)
		if e.Digest != "" {
			x.Put("digest", e.Digest)
		}
		entries = append(entries, x)
	}
	d.Put("entries", entries)
	return d
}

// runCopy returns the host's side.
func runCopy(ctx context.Context, env *modules.Env, a copyArgs) (modules.Result, error) {
	c := &copyWork{copyArgs: a, env: env}
	if a.Source == nil {
		return c.runRemote(ctx)
	}
	if c.Source.Dir {
		return c.copyTree(ctx)
	}
	return c.copySingle(ctx)
}

// copySingle copies one file and gives its result.
func (c *copyWork) copySingle(ctx context.Context) (modules.Result, error) {
	item := c.item(filepath.Base(c.Source.Path))
	res, err := c.copyFile(ctx, item, c.Dest, c.Follow)
	if err != nil {
		return modules.Result{}, err
	}
	if res == nil { // something is there, and no force
		return modules.Result{Plain: true,
			Data: value.DictOf("dest", c.Dest, "src", c.Source.Path, "changed", modules.Here)}, nil
	}
	if path, ok := res.Data.Get("path"); ok && !res.Data.Has("dest") {
		res.Set("dest", path)
	}
	changedLast(res)
	return *res, nil
}

// resultDiff gives the diff entries the form of Ansible's copy: always a list.
func (c *copyWork) resultDiff(res *modules.Result, entry *value.Dict) {
	list := []any{}
	if entry != nil {
		list = append(list, entry)
	}
	data := res.Data
	res.Data = value.DictOf("diff", list)
	data.Each(func(k, v value.Value) bool {
		name, _ := value.Text(k)
		return name == "diff" || res.Data.SetKey(k, v)
	})
	changedLast(res)
}

// changedLast puts "changed" behind the fields so far: Ansible's copy describes the file first.
func changedLast(res *modules.Result) {
	res.Data.Delete(value.Str("changed"))
	res.Set("changed", modules.Here)
}
