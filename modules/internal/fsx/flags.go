package fsx

import (
	"strings"

	"golang.org/x/sys/unix"

	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
)

// flag is a file attribute as chattr knows it.
type flag struct {
	letter byte
	bit    uint32
	name   string
}

// flagTable is in the order in which lsattr prints.
func flagTable() []flag {
	return []flag{
		{'s', 0x1, "zero"}, {'u', 0x2, "undelete"}, {'S', 0x8, "synchronous"}, {'D', 0x10000, "dirsync"},
		{'i', 0x10, "immutable"}, {'a', 0x20, "append"}, {'d', 0x40, "nodump"}, {'A', 0x80, "noatime"},
		{'c', 0x4, "compressed"}, {'E', 0x800, "encrypted"}, {'j', 0x4000, "journalled"}, {'I', 0x1000, "indexed"},
		{'t', 0x8000, "notail"}, {'T', 0x20000, "blockroot"}, {'e', 0x80000, "extents"}, {'C', 0x800000, "nocow"},
		{'x', 0x2000000, ""}, {'F', 0x40000000, ""}, {'N', 0x10000000, "inline"}, {'P', 0x20000000, ""},
		{'V', 0x100000, ""}, {'m', 0x400, ""},
	}
}

// Flags are the attributes of a file on file systems that have them.
type Flags struct {
	Letters string
	Names   []any
	Version uint32 // the file's generation
}

// FlagsOf reads a file's attributes, as lsattr does: of regular files and directories only. With the version it fails
// on file systems that have none, as lsattr -v does.
func FlagsOf(path string, version bool) (*Flags, bool) {
	info, err := hostfs.Lstat(path)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return nil, false
	}
	set, generation, ok := readFlags(path, version)
	if !ok {
		return nil, false
	}
	f := &Flags{Names: []any{}, Version: generation}
	for _, x := range flagTable() {
		if set&x.bit != 0 {
			f.Letters += string(x.letter)
			if x.name != "" {
				f.Names = append(f.Names, x.name)
			}
		}
	}
	return f, true
}

func (w Attrs) applyFlags(check bool, diff *Delta) (bool, error) {
	if w.Attributes == nil {
		return false, nil
	}
	if w.absent(check) {
		return true, nil
	}
	op, letters := byte('='), *w.Attributes
	if strings.HasPrefix(letters, "-") || strings.HasPrefix(letters, "+") {
		op, letters = letters[0], letters[1:]
	}
	now, ok := FlagsOf(w.Path, false)
	have := ""
	var before any
	if ok {
		have = now.Letters
		before = have
	}
	if have == letters && op != '-' {
		return false, nil
	}
	diff.Note("attributes", before, string(op)+letters)
	if check {
		return true, nil
	}
	if err := setFlags(w.Path, op, letters); err != nil {
		return false, chattrFailed(w.Path, err)
	}
	return true, nil
}

func chattrFailed(path string, err error) *Error {
	fail := Fail(path, "chattr failed")
	details := "Error while setting attributes: " + err.Error()
	fail.Data.Put("details", details)
	fail.Data.Put("exception", "Exception: "+details)
	return fail
}

// flagError is what chattr prints.
type flagError string

func (e flagError) Error() string { return string(e) }

func chattrError(err error, what string) error {
	errno, _ := err.(unix.Errno)
	if errno == unix.ENOTTY {
		errno = unix.EOPNOTSUPP // as e2fsprogs has it
	}
	return flagError("/usr/bin/chattr: " + oserr.Text(errno) + what + "\n")
}

func setFlags(path string, op byte, letters string) error {
	var bits uint32
	for i := 0; i < len(letters); i++ {
		known := false
		for _, x := range flagTable() {
			if x.letter == letters[i] {
				bits, known = bits|x.bit, true
			}
		}
		if !known {
			return flagError("/usr/bin/chattr: unknown flag '" + letters[i:i+1] + "'\n")
		}
	}
	return changeFlags(path, op, bits)
}
