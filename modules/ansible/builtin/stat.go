package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/oserr"
)

// Stat tells what a file is.
var Stat = modules.Define("ansible.builtin.stat", "Retrieve file or file system status.", runStat,
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.stat: {path: /etc/foo.conf}
  register: st
- ansible.builtin.fail: {msg: It belongs to somebody else}
  when: st.stat.exists and st.stat.pw_name != 'root'
`
		m.Returns = []modules.Return{{Name: "stat", Type: "dict", When: "always", Doc: "exists and, if so, what there is to know."}}
	}))

type statArgs struct {
	Path          string `arg:"path,required,type=path,alias=dest|name" doc:"The path to look at."`
	Follow        bool   `arg:"follow,default=no" doc:"Follow a link at the path."`
	GetMD5        bool   `arg:"get_md5,default=no" doc:"Return the md5 too."`
	GetChecksum   bool   `arg:"get_checksum,default=yes" doc:"Return a checksum of a regular file."`
	GetMime       bool   `arg:"get_mime,default=yes,alias=mime|mime_type|mime-type" doc:"Ask file(1) for the type."`
	GetAttributes bool   `arg:"get_attributes,default=yes,alias=attr|attributes" doc:"Return the flags that lsattr shows."`
	Algorithm     string `arg:"checksum_algorithm,default=sha1,choices=md5|sha1|sha224|sha256|sha384|sha512,alias=checksum|checksum_algo" doc:"Of the checksum."`
}

func runStat(ctx context.Context, env *modules.Env, a statArgs) (modules.Result, error) {
	st, err := fsx.Stat(a.Path, a.Follow)
	if errors.Is(err, syscall.ENOENT) {
		return modules.Result{Data: map[string]any{"stat": map[string]any{"exists": false}}}, nil
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return modules.Fail("%s", oserr.Text(errno))
	}
	out := statFields(a.Path, st)
	out["readable"] = fsx.Readable(a.Path)
	out["writeable"] = fsx.Writable(a.Path)
	out["executable"] = syscall.Access(a.Path, 1) == nil
	if st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
		out["lnk_source"] = fsx.RealPath(a.Path)
		out["lnk_target"], _ = os.Readlink(a.Path)
	}
	if name := fsx.UserName(st.Uid); name != "" {
		out["pw_name"] = name
	}
	if name := fsx.GroupName(st.Gid); name != "" {
		out["gr_name"] = name
	}
	if err := a.addSums(st, out); err != nil {
		return modules.Result{}, err
	}
	if a.GetMime {
		out["mimetype"], out["charset"] = mimeOf(ctx, env, a.Path)
	}
	if a.GetAttributes {
		out["version"], out["attributes"], out["attr_flags"] = nil, []any{}, ""
		if f, ok := fsx.FlagsOf(a.Path, true); ok {
			out["version"], out["attributes"], out["attr_flags"] = strconv.FormatUint(uint64(f.Version), 10), f.Names, f.Letters
		}
	}
	return modules.Result{Data: map[string]any{"stat": out}}, nil
}

func statFields(path string, st *syscall.Stat_t) map[string]any {
	mode := uint32(st.Mode)
	kind := mode & syscall.S_IFMT
	access, modification, change := fsx.Times(st)
	out := map[string]any{
		"exists": true, "path": path, "mode": fmt.Sprintf("%04o", mode&fsx.PermBits),
		"isdir": kind == syscall.S_IFDIR, "ischr": kind == syscall.S_IFCHR, "isblk": kind == syscall.S_IFBLK,
		"isreg": kind == syscall.S_IFREG, "isfifo": kind == syscall.S_IFIFO, "islnk": kind == syscall.S_IFLNK,
		"issock": kind == syscall.S_IFSOCK,
		"uid":    int64(st.Uid), "gid": int64(st.Gid), "size": st.Size, "inode": int64(st.Ino), "dev": int64(st.Dev), "nlink": int64(st.Nlink),
		"atime": fsx.Seconds(access), "mtime": fsx.Seconds(modification), "ctime": fsx.Seconds(change),
		"isuid": mode&syscall.S_ISUID != 0, "isgid": mode&syscall.S_ISGID != 0,
		"blocks": st.Blocks, "block_size": int64(st.Blksize), "device_type": int64(st.Rdev),
	}
	for i, bit := range []string{"xoth", "woth", "roth", "xgrp", "wgrp", "rgrp", "xusr", "wusr", "rusr"} {
		out[bit] = mode&(1<<i) != 0
	}
	return out
}

func (a *statArgs) addSums(st *syscall.Stat_t, out map[string]any) error {
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG || out["readable"] != true {
		return nil
	}
	want := map[string]string{}
	if a.GetMD5 {
		want["md5"] = "md5"
	}
	if a.GetChecksum {
		want["checksum"] = a.Algorithm
	}
	for key, algorithm := range want {
		sum, err := fsx.Sum(a.Path, algorithm)
		if err != nil {
			return fsx.Failed(oserr.Bytes(err, a.Path))
		}
		out[key] = sum
	}
	return nil
}

// mimeOf asks file(1), as Ansible does; unknown if it has no answer.
func mimeOf(ctx context.Context, env *modules.Env, path string) (mime, charset string) {
	file := env.LookPath("file")
	if file == "" {
		return "unknown", "unknown"
	}
	out, err := env.Exec(ctx, modules.Command{Argv: []string{file, "--mime-type", "--mime-encoding", path}, Env: []string{"LANG=C", "LC_ALL=C"}})
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
