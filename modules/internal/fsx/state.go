package fsx

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"hark/modules/internal/hostfs"
	"hark/modules/py/value"
)

// State returns what a path is, in the words of the file module: absent, link, directory, hard, file.
func State(path string) string {
	st, err := lstat(path)
	if err != nil {
		return "absent"
	}
	switch {
	case st.Mode&syscall.S_IFMT == syscall.S_IFLNK:
		return "link"
	case st.Mode&syscall.S_IFMT == syscall.S_IFDIR:
		return "directory"
	case st.Nlink > 1:
		return "hard"
	}
	return "file"
}

// AddInfo completes a result that names a file, in path or else dest, with what the file is now: uid, gid, owner,
// group, mode, state, size and secontext.
func AddInfo(result *value.Dict) {
	v, ok := result.Get("path")
	if !ok {
		v, _ = result.Get("dest")
	}
	path, _ := value.Text(v)
	if path == "" || !Exists(path) {
		return
	}
	st, err := lstat(path)
	if err != nil {
		return
	}
	result.Put("uid", int64(st.Uid))
	result.Put("gid", int64(st.Gid))
	result.Put("owner", orNumber(UserName(st.Uid), st.Uid))
	result.Put("group", orNumber(GroupName(st.Gid), st.Gid))
	result.Put("mode", ModeText(uint32(st.Mode)))
	result.Put("state", State(path))
	result.Put("size", st.Size)
	if SELinux() {
		if context := ContextOf(path); context != nil {
			result.Put("secontext", strings.Join(context, ":"))
		}
	}
}

func orNumber(name string, id uint32) string {
	if name != "" {
		return name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// Writable reports whether this process may write to path.
func Writable(path string) bool { return hostfs.Access(path, 2) == nil }

// Readable reports whether this process may read path.
func Readable(path string) bool { return hostfs.Access(path, 4) == nil }

// Stat returns the status of a path with the fields that os.FileInfo hides.
func Stat(path string, follow bool) (*syscall.Stat_t, error) {
	if !follow {
		return lstat(path)
	}
	var st syscall.Stat_t
	if err := hostfs.StatT(path, &st); err != nil {
		return nil, err
	}
	return &st, nil
}

// Seconds returns a time of a file as Python's float.
func Seconds(t syscall.Timespec) float64 { return float64(t.Sec) + 1e-9*float64(t.Nsec) }

// Self returns the effective user and group of this process.
func Self() (uid, gid int) { return os.Geteuid(), os.Getegid() }
