package builtin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

// Stat returns what a file is.
var Stat = modules.Define("ansible.builtin.stat", "Retrieve file or file system status.", runStat,
	modules.Operands("path"),
	modules.Is(modules.ReadsInCheck|modules.OpensByPath), modules.StartsInCheck("file"),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.stat: {path: /etc/foo.conf}
  register: st
- ansible.builtin.fail: {msg: It belongs to somebody else}
  when: st.stat.exists and st.stat.pw_name != 'root'
`
		m.Returns = []modules.Return{{Name: "stat", Type: "dict", When: "always",
			Doc: "exists and, if so, what there is to know."}}
	}), modules.Is(modules.OnlyLooks))

type statArgs struct {
	Path          string `arg:"path,required,type=path,alias=dest|name" doc:"The path to look at."`
	Follow        bool   `arg:"follow,default=no" doc:"Follow a link at the path."`
	GetMD5        bool   `arg:"get_md5,until=2.16,default=no" doc:"Return the md5 too."`
	GetChecksum   bool   `arg:"get_checksum,default=yes" doc:"Return a checksum of a regular file."`
	GetMime       bool   `arg:"get_mime,default=yes,alias=mime|mime_type|mime-type" doc:"Ask file(1) for the type."`
	GetAttributes bool   `arg:"get_attributes,default=yes,alias=attr|attributes" doc:"Return the flags that lsattr shows."`
	GetContext    bool   `arg:"get_selinux_context,since=2.20,default=no" doc:"Return the SELinux context."`
	Algorithm     string `arg:"checksum_algorithm,default=sha1,choices=md5|sha1|sha224|sha256|sha384|sha512,alias=checksum|checksum_algo" doc:"Of the checksum."`
}

func runStat(ctx context.Context, env *modules.Env, a statArgs) (modules.Result, error) {
	st, err := fsx.Stat(a.Path, a.Follow)
	if errors.Is(err, syscall.ENOENT) {
		return modules.Result{Data: value.DictOf("stat", value.DictOf("exists", false))}, nil
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return modules.Fail("%s", oserr.Text(errno))
	}
	out := statFields(a.Path, st)
	out.Put("readable", fsx.Readable(a.Path))
	out.Put("writeable", fsx.Writable(a.Path))
	out.Put("executable", hostfs.Access(a.Path, 1) == nil)
	if st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
		out.Put("lnk_source", fsx.RealPath(a.Path))
		target, _ := hostfs.Readlink(a.Path)
		out.Put("lnk_target", target)
	}
	if name := fsx.UserName(st.Uid); name != "" {
		out.Put("pw_name", name)
	}
	if name := fsx.GroupName(st.Gid); name != "" {
		out.Put("gr_name", name)
	}
	if err := a.addSums(st, out); err != nil {
		return modules.Result{}, err
	}
	if a.GetMime {
		kind, charset := mimeOf(ctx, env, a.Path)
		out.Put("mimetype", kind)
		out.Put("charset", charset)
	}
	if a.GetAttributes {
		out.Put("version", nil)
		out.Put("attributes", []any{})
		out.Put("attr_flags", "")
		if f, ok := fsx.FlagsOf(a.Path, true); ok {
			out.Put("version", strconv.FormatUint(uint64(f.Version), 10))
			out.Put("attributes", f.Names)
			out.Put("attr_flags", f.Letters)
		}
	}
	if a.GetContext {
		out.Put("selinux_context", contextOf(a.Path))
	}
	if env.Release.Has(dialect.DiskUsage) {
		out.Put("disk_usage_bytes", st.Blocks*512)
	}
	return modules.Result{Data: value.DictOf("stat", out)}, nil
}

// contextOf returns the SELinux context of a path, its parts None where the host has none: three of them, four where
// its policy has levels.
func contextOf(path string) []any {
	parts := make([]any, 3, 4)
	if fsx.SELinux() {
		parts = make([]any, 4)
		for i, part := range fsx.ContextOf(path) {
			parts[i] = part
		}
	}
	return parts
}

func statFields(path string, st *syscall.Stat_t) *value.Dict {
	mode := uint32(st.Mode)
	kind := mode & syscall.S_IFMT
	access, modification, change := fsx.Times(st)
	out := value.DictOf(
		"exists", true, "path", path, "mode", fmt.Sprintf("%04o", mode&fsx.PermBits),
		"isdir", kind == syscall.S_IFDIR, "ischr", kind == syscall.S_IFCHR, "isblk", kind == syscall.S_IFBLK,
		"isreg", kind == syscall.S_IFREG, "isfifo", kind == syscall.S_IFIFO, "islnk", kind == syscall.S_IFLNK,
		"issock", kind == syscall.S_IFSOCK,
		"uid", int64(st.Uid), "gid", int64(st.Gid), "size", st.Size, "inode", int64(st.Ino), "dev", int64(st.Dev), "nlink",
		int64(st.Nlink),
		"atime", fsx.Seconds(access), "mtime", fsx.Seconds(modification), "ctime", fsx.Seconds(change),
	)
	for _, bit := range []struct {
		name string
		of   uint32
	}{
		{"wusr", 0o200}, {"rusr", 0o400}, {"xusr", 0o100}, {"wgrp", 0o20}, {"rgrp", 0o40}, {"xgrp", 0o10}, {"woth", 2},
		{"roth", 4}, {"xoth", 1},
		{"isuid", syscall.S_ISUID}, {"isgid", syscall.S_ISGID},
	} {
		out.Put(bit.name, mode&bit.of != 0)
	}
	out.Put("blocks", st.Blocks)
	out.Put("block_size", int64(st.Blksize))
	out.Put("device_type", int64(st.Rdev))
	return out
}

func (a *statArgs) addSums(st *syscall.Stat_t, out *value.Dict) error {
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG || !out.True("readable") {
		return nil
	}
	for _, sum := range []struct {
		wanted         bool
		key, algorithm string
	}{{a.GetMD5, "md5", "md5"}, {a.GetChecksum, "checksum", a.Algorithm}} {
		if !sum.wanted {
			continue
		}
		text, err := fsx.Sum(a.Path, sum.algorithm)
		if err != nil {
			return fsx.Failed(oserr.Bytes(err, a.Path))
		}
		out.Put(sum.key, text)
	}
	return nil
}

// mimeOf asks file(1), as Ansible does; unknown if it has no answer.
func mimeOf(ctx context.Context, env *modules.Env, path string) (mime, charset string) {
	file := env.LookPath("file")
	if file == "" {
		return "unknown", "unknown"
	}
	out, err := env.Exec(ctx,
		modules.Command{Argv: []string{file, "--mime-type", "--mime-encoding", path}, Env: []string{"LANG=C", "LC_ALL=C"}})
	line := string(out.Stdout)
	at := strings.LastIndexByte(line, ':')
	if err != nil || out.Rc != 0 || at < 0 {
		return "unknown", "unknown"
	}
	mime, charset, ok := strings.Cut(line[at+1:], ";")
	_, charset, ok2 := strings.Cut(charset, "=")
	if !ok || !ok2 {
		return "unknown", "unknown"
	}
	return strings.TrimSpace(mime), strings.TrimSpace(charset)
}
