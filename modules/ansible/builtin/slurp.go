package builtin

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"syscall"
	"unicode/utf8"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

// Slurp returns a file's content.
var Slurp = modules.Define("ansible.builtin.slurp", "Slurps a file from remote nodes.", runSlurp,
	modules.Is(modules.ReadsInCheck|modules.OpensByPath),
	modules.With(func(m *modules.Module) {
		m.Examples = "- ansible.builtin.slurp: {src: /var/run/sshd.pid}\n  register: pid\n" +
			"- ansible.builtin.debug: {msg: \"{{ pid.content | b64decode }}\"}\n"
		m.Returns = []modules.Return{
			{Name: "content", Type: "str", When: "success", Doc: "The content in base64."},
			{Name: "encoding", Type: "str", When: "success", Doc: "base64."},
			{Name: "source", Type: "str", When: "success", Doc: "The path."},
		}
	}), modules.Is(modules.OnlyLooks))

type slurpArgs struct {
	Src   string `arg:"src,required,type=path,alias=path" doc:"The file."`
	Armor bool   `arg:"armor,since=2.21,default=yes" doc:"Return the content in base64, and not as it is."`
}

// maxSlurp bounds what is held in memory and sent as one result: without it /dev/zero would end the agent.
const maxSlurp = 256 << 20

// readUpTo reads a file, at most one byte beyond limit.
func readUpTo(path string, limit int64) ([]byte, error) {
	f, err := hostfs.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

func runSlurp(_ context.Context, env *modules.Env, a slurpArgs) (modules.Result, error) {
	raw, err := readUpTo(a.Src, maxSlurp)
	switch {
	case err == nil && len(raw) > maxSlurp:
		return modules.Fail("cannot return %s: it has more than %d bytes; use fetch", a.Src, maxSlurp)
	case err != nil && env.Has(dialect.ModuleMessages):
		return unread(err, a.Src), nil
	case err == nil:
	case errors.Is(err, syscall.ENOENT):
		return modules.Fail("file not found: %s", a.Src)
	case errors.Is(err, syscall.EACCES):
		return modules.Fail("file is not readable: %s", a.Src)
	case errors.Is(err, syscall.EISDIR):
		return modules.Fail("source is a directory and must be a file: %s", a.Src)
	default:
		return modules.Fail("unable to slurp file: %s", oserr.Path(err, a.Src))
	}
	if !a.Armor && env.Release.Has(dialect.ModuleOptions221) {
		return plainContent(raw, a.Src)
	}
	return modules.Result{Data: value.DictOf(
		"content", base64.StdEncoding.EncodeToString(raw), "source", a.Src, "encoding", "base64", "changed", modules.AtEnd,
	)}, nil
}

// plainContent returns a file as it is. A result cannot hold what is no UTF-8.
func plainContent(raw []byte, file string) (modules.Result, error) {
	for at, rest := 0, raw; len(rest) > 0; at++ {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			return modules.Result{}, modules.Raise(
				"Refusing to deserialize an invalid UTF8 string value: 'utf-8' codec can't encode character '\\udc%02x' in "+
					"position %d: surrogates not allowed", rest[0], at)
		}
		rest = rest[size:]
	}
	return modules.Result{Data: value.DictOf("content", string(raw), "source", file, "encoding", "utf-8", "changed",
		modules.AtEnd)}, nil
}

// unread returns why a file could not be read, in the words of level 2.19.
func unread(err error, file string) modules.Result {
	msg := "Unable to slurp file: {source}" // as Ansible writes it
	switch {
	case errors.Is(err, syscall.ENOENT):
		msg = "File not found: " + file
	case errors.Is(err, syscall.EACCES):
		msg = "File is not readable: " + file
	case errors.Is(err, syscall.EISDIR):
		msg = "Source is a directory and must be a file: " + file
	}
	return modules.Because(oserr.Path(err, file), msg, nil)
}
