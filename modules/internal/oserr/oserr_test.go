package oserr

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// The expectations are what Python 3.11 prints of the exception for each number.
func TestErrorsAreWordedAsPythons(t *testing.T) {
	for errno, want := range map[syscall.Errno][2]string{
		syscall.ENOENT:    {"FileNotFoundError", "[Errno 2] No such file or directory"},
		syscall.EACCES:    {"PermissionError", "[Errno 13] Permission denied"},
		syscall.EPERM:     {"PermissionError", "[Errno 1] Operation not permitted"},
		syscall.EEXIST:    {"FileExistsError", "[Errno 17] File exists"},
		syscall.EISDIR:    {"IsADirectoryError", "[Errno 21] Is a directory"},
		syscall.ENOTDIR:   {"NotADirectoryError", "[Errno 20] Not a directory"},
		syscall.ENOTEMPTY: {"OSError", "[Errno 39] Directory not empty"},
		syscall.EBUSY:     {"OSError", "[Errno 16] Device or resource busy"},
		syscall.ELOOP:     {"OSError", "[Errno 40] Too many levels of symbolic links"},
	} {
		err := fmt.Errorf("cannot do it: %w", &fs.PathError{Op: "open", Path: "/other", Err: errno})
		for what, got := range map[string][2]string{
			"class": {Class(err), want[0]}, "bare": {Bare(err), want[1]}, "path": {Path(err, "/x"), want[1] + ": '/x'"},
			"bytes": {Bytes(err, "/x"), want[1] + ": b'/x'"},
		} {
			if got[0] != got[1] {
				t.Errorf("%s of %v: %s, want %s", what, errno, got[0], got[1])
			}
		}
	}
}

func TestPathsAreShownAsPythonShowsThem(t *testing.T) {
	for path, want := range map[string][2]string{
		"/it's":     {`"/it's"`, `b"/it's"`},
		`/it's "x"`: {`'/it\'s "x"'`, `b'/it\'s "x"'`},
		"/a\nb\\":   {`'/a\nb\\'`, `b'/a\nb\\'`},
		"/é\xff":    {`'/é\udcff'`, `b'/\xc3\xa9\xff'`},
	} {
		if got := Path(syscall.ENOENT, path); got != "[Errno 2] No such file or directory: "+want[0] {
			t.Errorf("%q as text: %s", path, got)
		}
		if got := Bytes(syscall.ENOENT, path); got != "[Errno 2] No such file or directory: "+want[1] {
			t.Errorf("%q as bytes: %s", path, got)
		}
	}
}

func TestErrorsThatAreNotTheSystemsStayAsTheyAre(t *testing.T) {
	err := errors.New("some other thing")
	if got := []string{Bare(err), Path(err, "/x"), Bytes(err, "/x"), Class(err)}; got[0] != "some other thing" ||
		got[1] != got[0] || got[2] != got[0] || got[3] != "OSError" {
		t.Errorf("%q", got)
	}
}
