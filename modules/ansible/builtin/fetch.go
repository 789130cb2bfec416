package builtin

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"syscall"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

// Fetch brings a file of the host to the controller.
var Fetch = modules.Define("ansible.builtin.fetch", "Fetch files from remote nodes.", runFetch,
	modules.Is(modules.ReadsInCheck|modules.OpensByPath),
	modules.WithResolve(resolveFetch),
	modules.Is(
		modules.StartsNoPython|modules.BringsFiles|modules.AsksController|modules.ChangesController|modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.AnyArgs = true
		m.Examples = `- ansible.builtin.fetch: {src: /var/log/app.log, dest: logs}
- ansible.builtin.fetch: {src: /etc/ssl/ca.pem, dest: "certs/{{ inventory_hostname }}.pem", flat: true}
`
		m.Returns = []modules.Return{
			{Name: "dest", Type: "str", When: "success", Doc: "The file on the controller."},
			{Name: "checksum", Type: "str", When: "success", Doc: "SHA1 of the content."},
			{Name: "md5sum", Type: "str", When: "success", Doc: "MD5 of the content."},
		}
	}))

type fetchArgs struct {
	Src      value.Value `arg:"src" doc:"The file on the host."`
	Dest     value.Value `arg:"dest" doc:"The directory on the controller; with flat, the file."`
	Flat     value.Value `arg:"flat" doc:"Do not put it under the host's name and its path."`
	Must     value.Value `arg:"fail_on_missing" doc:"Fail if there is no such file; default yes."`
	Validate value.Value `arg:"validate_checksum" doc:"Compare checksums; default yes."`
	// Place is where the file goes on the controller, Root that place's path there, for messages; File: it is the
	// file itself.
	Place string      `arg:"hark_place,hidden"`
	Root  string      `arg:"hark_root,hidden"`
	File  bool        `arg:"hark_file,hidden"`
	Extra *value.Dict `arg:"*"`
}

// resolveFetch decides where the file goes: the host only says how it is called.
func resolveFetch(ctx context.Context, env *modules.Env, args *value.Dict) error {
	if env.Check {
		return &modules.Ended{Result: modules.Result{Skipped: true, Msg: "check mode not (yet) supported for this module"}}
	}
	from, srcOK := value.Text(modules.Argument(args, "src"))
	to, destOK := value.Text(modules.Argument(args, "dest"))
	switch {
	case !modules.IsGiven(args, "src") || !modules.IsGiven(args, "dest"):
		return modules.ActionFail("", "src and dest are required")
	case !destOK:
		return modules.ActionFail("", "Invalid type supplied for dest option, it must be a string")
	case !srcOK:
		return modules.ActionFail("", "Invalid type supplied for source option, it must be a string")
	}
	base, _, err := env.Var(ctx, "playbook_dir")
	if err != nil {
		return err
	}
	if base != nil && !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "~") {
		to = modules.Str(base) + "/" + to
	}
	flat := modules.LenientBool(modules.Argument(args, "flat"), false)
	p := modules.Place{Root: path.Clean(to), File: flat && !strings.HasSuffix(to, "/")}
	switch base := path.Base(from); {
	case !flat:
		p.Root = path.Clean(to + "/" + env.Host)
		p.Only, p.Tail = named(from)
	case !p.File && !strings.ContainsAny(base, "~$"):
		// The name is known here: of the directory, which may be that of the playbook, the host gets no more than that file.
		p.Root, p.File = path.Join(to, base), true
	}
	place, err := env.Place(ctx, p)
	if err != nil {
		return err
	}
	args.Put("hark_place", place)
	args.Put("hark_root", p.Root)
	args.Put("hark_file", p.File)
	return nil
}

func runFetch(ctx context.Context, env *modules.Env, a fetchArgs) (modules.Result, error) {
	src := modules.ExpandWords([]string{modules.Str(a.Src)}, env)[0]
	must := modules.LenientBool(a.Must, true)
	if res, missing := fetchable(env, src, must); missing {
		return res, nil
	}
	sums, err := fileSums(src)
	if err != nil {
		return modules.Result{}, fsx.Failed(oserr.Path(err, src))
	}
	rel := a.rel(src)
	there, err := env.RemoteSum(ctx, a.Place+rel)
	if err != nil {
		return modules.Result{}, err
	}
	dest := a.Root + rel
	if there == "dir" && a.File {
		return modules.Result{},
			modules.ActionFail("",
				"dest is an existing directory, use a trailing slash if you want to fetch src into that directory")
	}
	if there == sums.SHA1 {
		return modules.Result{Plain: true,
			Data: value.DictOf("md5sum", sums.MD5, "file", src, "dest", dest, "checksum", sums.SHA1)}, nil
	}
	sent, err := send(ctx, env, src, a.Place+rel)
	if err != nil {
		return modules.Result{}, err
	}
	if modules.LenientBool(a.Validate, true) && sent.SHA1 != sums.SHA1 {
		return modules.Result{Failed: true, Plain: true, Msg: "checksum mismatch", Data: value.DictOf(
			"md5sum", sent.MD5, "file", src, "dest", dest, "remote_md5sum", nil, "checksum", sent.SHA1, "remote_checksum",
			sums.SHA1,
		)}, nil
	}
	return modules.Result{Changed: true, Plain: true, Data: value.DictOf(
		"md5sum", sent.MD5, "dest", dest, "remote_md5sum", nil, "checksum", sent.SHA1, "remote_checksum", sums.SHA1,
	)}, nil
}

// named returns the path that a file gets in its place, as far as it is known before its host has made words of it:
// all of it, or else how it ends.
func named(src string) (only, tail string) {
	if !strings.ContainsAny(src, "~$") {
		return strings.TrimPrefix(path.Clean("/"+src), "/"), ""
	}
	_, tail, _ = strings.Cut(src[strings.LastIndexAny(src, "~$"):], "/")
	return "", path.Clean("/" + tail)
}

// fetchable explains why there is nothing to fetch.
func fetchable(env *modules.Env, src string, must bool) (modules.Result, bool) {
	res := modules.Result{Failed: must, Plain: true, Data: value.NewDict()}
	f, err := hostfs.Open(src)
	switch {
	case err == nil:
		f.Close()
		if !fsx.IsDir(src) {
			return res, false
		}
		res.Msg = "remote file is a directory, fetch cannot work on directories"
		if !must {
			res.Msg += ", not transferring, ignored"
		}
		return res, true
	case errors.Is(err, syscall.ENOENT):
		if must && env.Has(dialect.ModuleMessages) {
			res.Marks.FailedBy, res.Marks.Cause = "Module", "File not found: "+src+": "+oserr.Path(err, src)
		}
		res.Msg = "the remote file does not exist, not transferring, ignored"
	case errors.Is(err, syscall.EACCES):
		res.Msg = "file is not readable: " + src
	default:
		res.Msg = "unable to slurp file: " + oserr.Path(err, src)
	}
	if !must {
		res.Data.Put("file", src)
	}
	return res, true
}

// rel returns the path of the file in its place, with a slash before it, "" if the place is the file.
func (a *fetchArgs) rel(src string) string {
	switch {
	case a.File:
		return ""
	case modules.LenientBool(a.Flat, false):
		return "/" + path.Base(src)
	}
	return path.Clean("/" + src)
}

// send uploads the file and sums what it sent.
func send(ctx context.Context, env *modules.Env, src, dest string) (fsx.Sums, error) {
	f, err := hostfs.Open(src)
	if err != nil {
		return fsx.Sums{}, fsx.Failed(oserr.Path(err, src))
	}
	defer f.Close()
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := env.Upload(ctx, dest, 0o666, r)
		r.CloseWithError(err)
		done <- err
	}()
	sums, err := fsx.CopySums(w, f)
	w.CloseWithError(err)
	if upErr := <-done; upErr != nil {
		return sums, upErr
	}
	return sums, err
}
