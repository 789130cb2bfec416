package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/httpx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

// Unarchive unpacks an archive.
var Unarchive = modules.Define("ansible.builtin.unarchive",
	"Unpacks an archive after (optionally) copying it from the local machine.", runUnarchive,
	modules.Operands("src", "dest"),
	modules.StartsInCheck("gtar", "tar", "unzip", "zipinfo"),
	modules.WithResolve(resolveUnarchive), modules.Is(modules.ReadsFiles),
	modules.WithRules(modules.Rules{Exclusive: [][]string{{"include", "exclude"}}}),
	modules.With(func(m *modules.Module) {
		m.ReportsAs = "ansible.legacy.unarchive"
		m.Examples = `- ansible.builtin.unarchive: {src: app.tgz, dest: /srv/app, creates: /srv/app/bin}
- ansible.builtin.unarchive: {src: /tmp/app.zip, dest: /srv, remote_src: true, owner: app}
`
		m.Returns = []modules.Return{
			{Name: "handler", Type: "str", When: "always", Doc: "What unpacked it."},
			{Name: "files", Type: "list", When: "list_files", Doc: "The names in the archive."},
			{Name: "extract_results", Type: "dict", When: "changed", Doc: "The command and what it printed."},
		}
	}), modules.RunsPrograms, modules.Programs("extra_opts"))

type unarchiveArgs struct {
	Src           string   `arg:"src,required,type=path" doc:"The archive."`
	Dest          string   `arg:"dest,required,type=path" doc:"The directory to unpack it into; it must exist."`
	RemoteSrc     bool     `arg:"remote_src,default=no" doc:"src is on the host, or a URL."`
	Creates       *string  `arg:"creates,type=path" doc:"Do nothing if this path exists."`
	ListFiles     bool     `arg:"list_files,default=no" doc:"Return the names in the archive."`
	KeepNewer     bool     `arg:"keep_newer,default=no" doc:"Leave files that are newer than those of the archive."`
	Exclude       []string `arg:"exclude,default=" doc:"Leave out these names."`
	Include       []string `arg:"include,default=" doc:"Only these names."`
	ExtraOpts     []string `arg:"extra_opts,default=" doc:"Further options of the command."`
	ValidateCerts bool     `arg:"validate_certs,default=yes" doc:"Check the server's certificate."`
	IOBufferSize  int      `arg:"io_buffer_size" default:"65536" doc:"Without effect."`
	Copy          bool     `arg:"copy,default=yes" doc:"The opposite of remote_src."`
	Decrypt       bool     `arg:"decrypt,default=yes" doc:"Decrypt vault files of the controller."`
	fsx.FileArgs
	Digest  *string `arg:"hark_digest,hidden"`
	Missing *string `arg:"hark_missing,hidden"`
}

// resolveUnarchive finds the archive on the controller.
func resolveUnarchive(ctx context.Context, env *modules.Env, args *value.Dict) error {
	if c, ok := args.Get("copy"); ok {
		if args.Has("remote_src") {
			return actionFail("parameters are mutually exclusive: ('copy', 'remote_src')")
		}
		args.Delete(value.Str("copy"))
		args.Put("remote_src", !modules.LenientBool(c, false))
	}
	if !modules.IsGiven(args, "src") || !modules.IsGiven(args, "dest") {
		return actionFail("src (or content) and dest are required")
	}
	if modules.LenientBool(modules.Argument(args, "remote_src"), false) {
		return nil
	}
	found, err := env.Source(ctx, "files", modules.Str(modules.Argument(args, "src")),
		modules.LenientBool(modules.Argument(args, "decrypt"), true))
	switch {
	case err != nil:
		args.Put("hark_missing", err.Error())
	case found.Dir:
		args.Put("hark_missing", fmt.Sprintf("Source '%s' is a directory", found.Path))
	default:
		args.Put("hark_digest", found.Digest)
	}
	return nil
}

// unpacking is one run of unarchive.
type unpacking struct {
	unarchiveArgs
	env *modules.Env
	src string
}

// unpacker handles one kind of archive.
type unpacker interface {
	// name is the class that Ansible names in the result.
	name() string
	// fits reports whether it can handle the archive, or why not.
	fits(ctx context.Context) (bool, string, error)
	// unpacked reports whether the directory holds the archive's content already, with a diff if it has one.
	unpacked(ctx context.Context) (done bool, diff string, err error)
	unpack(ctx context.Context) (command, error)
	// files are the names in the archive; valid after fits.
	files() []string
}

// command is a process and what it left.
type command struct {
	argv []string
	modules.Output
}

func (c command) data() *value.Dict {
	return value.DictOf("cmd", modules.List(c.argv), "rc", int64(c.Rc), "out", modules.Printed(c.Stdout), "err",
		modules.Printed(c.Stderr))
}

func runUnarchive(ctx context.Context, env *modules.Env, a unarchiveArgs) (modules.Result, error) {
	if path := modules.Text(a.Creates); path != "" && fsx.Exists(path) {
		return modules.Result{Skipped: true, Msg: fmt.Sprintf("skipped, since %s exists", path)}, nil
	}
	if a.Missing != nil {
		return modules.Result{}, modules.ActionCaught("ansible.errors.AnsibleFileNotFound: "+*a.Missing, "%s", *a.Missing)
	}
	var ended *modules.Ended
	if _, err := statDest(a.Dest, true); errors.As(err, &ended) {
		return modules.Result{}, modules.ActionCaught("ansible.errors.AnsibleError: "+err.Error(), "%s", err)
	}
	if !fsx.IsDir(a.Dest) {
		return modules.Result{}, actionFail(fmt.Sprintf("dest '%s' must be an existing dir", a.Dest))
	}
	dir, err := os.MkdirTemp("", "hark-")
	if err != nil {
		return modules.Result{}, err
	}
	defer os.RemoveAll(dir)
	u := &unpacking{unarchiveArgs: a, env: env, src: a.Src}
	if err := u.obtain(ctx, filepath.Join(dir, "source")); err != nil {
		return modules.Result{}, err
	}
	return u.run(ctx)
}

// obtain sees to it that the archive lies on this host.
func (u *unpacking) obtain(ctx context.Context, temp string) error {
	switch {
	case u.Digest != nil:
		u.src = temp
		r, err := u.env.Open(ctx, *u.Digest)
		if err != nil {
			return err
		}
		defer r.Close()
		return saveArchive(temp, r)
	case fsx.Exists(u.src):
	case !u.RemoteSrc:
		return fsx.Failed(fmt.Sprintf("Source '%s' failed to transfer", u.src))
	case strings.Contains(u.src, "://"):
		return u.download(ctx, temp)
	default:
		return fsx.Failed(fmt.Sprintf("Source '%s' does not exist", u.src))
	}
	if !fsx.Readable(u.src) {
		return fsx.Failed(fmt.Sprintf("Source '%s' not readable", u.src))
	}
	return nil
}

func saveArchive(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fsx.Failed(oserr.Path(err, path))
	}
	if _, err := io.Copy(f, r); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func (u *unpacking) download(ctx context.Context, temp string) error {
	address := u.src
	if u.src = filepath.Join(filepath.Dir(temp), filepath.Base(address)); filepath.Dir(u.src) != filepath.Dir(temp) {
		u.src = temp
	}
	body, msg, err := httpx.Open(ctx, u.env, address, u.ValidateCerts)
	if err != nil {
		return err
	}
	if body == nil {
		return fsx.Failed(fmt.Sprintf("Failure downloading %s, %s", address, msg))
	}
	defer body.Close()
	return saveArchive(u.src, body)
}

func (u *unpacking) run(ctx context.Context) (modules.Result, error) {
	if info, err := os.Stat(u.src); err != nil {
		return modules.Fail("Source '%s' not readable, %s", u.src, oserr.Path(err, u.src))
	} else if info.Size() == 0 {
		return modules.Fail("Invalid archive '%s', the file is 0 bytes", u.src)
	}
	h, err := u.pick(ctx)
	if err != nil {
		return modules.Result{}, err
	}
	res := modules.Result{Data: value.DictOf("handler", h.name(), "dest", u.Dest, "src", u.src)}
	done, diff, err := h.unpacked(ctx)
	if err != nil {
		return modules.Result{}, err
	}
	res.Changed = !done
	if !done && !u.env.Check {
		out, err := h.unpack(ctx)
		if err != nil {
			return modules.Result{}, err
		}
		res.Data.Put("extract_results", out.data())
		if out.Rc != 0 {
			res.Failed, res.Changed = true, false
			res.Msg = fmt.Sprintf("failed to unpack %s to %s", u.src, u.Dest)
			return res, nil
		}
	}
	res.Data.Put("changed", modules.Here)
	if diff != "" {
		res.Diff = []modules.Diff{{Prepared: diff}}
	}
	if !u.env.Check {
		did, err := u.dress(h.files())
		if err != nil {
			return modules.Result{}, err
		}
		res.Changed = res.Changed || did
	}
	if u.ListFiles {
		names := []any{}
		for _, name := range h.files() {
			names = append(names, name)
		}
		res.Data.Put("files", names)
	}
	return res, nil
}

// pick finds the first handler that fits.
func (u *unpacking) pick(ctx context.Context) (unpacker, error) {
	reasons := map[string]bool{}
	for _, h := range []unpacker{
		&zipArchive{unpacking: u, class: "ZipArchive"},
		&zipArchive{unpacking: u, class: "ZipZArchive", viaUnzip: true},
		&tarArchive{unpacking: u, class: "TgzArchive", flag: "-z"},
		&tarArchive{unpacking: u, class: "TarArchive"},
		&tarArchive{unpacking: u, class: "TarBzipArchive", flag: "-j"},
		&tarArchive{unpacking: u, class: "TarXzArchive", flag: "-J"},
		&tarArchive{unpacking: u, class: "TarZstdArchive", flag: "--use-compress-program=zstd"},
	} {
		ok, why, err := h.fits(ctx)
		if err != nil || ok {
			return h, err
		}
		reasons[why] = true
	}
	list := make([]string, 0, len(reasons))
	for why := range reasons {
		list = append(list, why)
	}
	sort.Strings(list)
	return nil, fsx.Failed(fmt.Sprintf(
		"Failed to find handler for \"%s\". Make sure the required command to extract the file is installed.\n%s",
		u.src, strings.Join(list, "\n")))
}

// dress gives all that was unpacked, and the directories at the top, the wanted attributes.
func (u *unpacking) dress(names []string) (bool, error) {
	changed := false
	tops := map[string]bool{}
	one := func(path string) error {
		attrs := u.For(path, false)
		if attrs.Owner == nil && attrs.Group == nil && attrs.Mode == nil && attrs.Attributes == nil && !fsx.SELinux() {
			return nil
		}
		did, err := attrs.Apply(false, nil)
		changed = changed || did
		return err
	}
	for _, name := range names {
		if !filepath.IsLocal(name) {
			continue // neither tar nor unzip puts anything outside
		}
		if err := one(filepath.Join(u.Dest, name)); err != nil {
			return changed, err
		}
		if top, _, nested := strings.Cut(name, "/"); nested {
			tops[top] = true
		}
	}
	for top := range tops {
		if err := one(filepath.Join(u.Dest, top)); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// exec runs a tool in a directory, speaking English.
func (u *unpacking) exec(ctx context.Context, dir string, argv ...string) (command, error) {
	out, err := tool.Exec(ctx, u.env, modules.Command{Argv: argv, Dir: dir,
		Env: []string{"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "LC_MESSAGES=C.UTF-8", "LANGUAGE=C.UTF-8"}})
	return command{argv, out}, err
}
