package hostfs

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What is tried confines the process for as long as it lives, so it is tried in one of its own.
func confinedTo(t *testing.T, try func(t *testing.T, dir, outside string)) {
	t.Helper()
	if dir := os.Getenv("HARK_CONFINED"); dir != "" {
		if err := Confine([]string{dir}); err != nil {
			t.Fatal(err)
		}
		try(t, dir, filepath.Join(filepath.Dir(dir), "outside"))
		return
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, outside := filepath.Join(root, "dir"), filepath.Join(root, "outside")
	lay(t, dir, outside)
	before := look(t, outside)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "HARK_CONFINED="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if after := look(t, outside); after != before {
		t.Errorf("outside was\n%s\nand is\n%s", before, after)
	}
}

func lay(t *testing.T, dir, outside string) {
	t.Helper()
	for _, d := range []string{dir, dir + "/in", outside, outside + "/sub"} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{dir + "/file", dir + "/in/file", outside + "/file", outside + "/sub/file"} {
		if err := os.WriteFile(f, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"out": outside, "up": "../outside", "deep": "in/../../outside", "file-out": outside + "/file", "new-out": outside +
			"/new", "good": dir + "/in", "near": "in",
		"chain": "out/sub", "root": "/", "dangling": "nowhere",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
}

// look is all that is in a directory: names, modes, sizes and times.
func look(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			all.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// operations are all that is done to a file by its path.
func operations(dir string) map[string]func(path string) error {
	var st syscall.Stat_t
	closed := func(f *os.File, err error) error {
		if err == nil {
			f.Close()
		}
		return err
	}
	return map[string]func(path string) error{
		"Open":            func(p string) error { return closed(Open(p)) },
		"ReadFile":        func(p string) error { _, err := ReadFile(p); return err },
		"write":           func(p string) error { return closed(OpenFile(p, os.O_WRONLY|os.O_TRUNC, 0)) },
		"create":          func(p string) error { return closed(OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)) },
		"create in":       func(p string) error { return closed(OpenFile(p+"/made", os.O_WRONLY|os.O_CREATE, 0o666)) },
		"Stat":            func(p string) error { _, err := Stat(p); return err },
		"Lstat in":        func(p string) error { _, err := Lstat(p + "/file"); return err },
		"Lstat of /":      func(p string) error { _, err := Lstat(p + "/"); return err },
		"StatT":           func(p string) error { return StatT(p, &st) },
		"LstatT in":       func(p string) error { return LstatT(p+"/file", &st) },
		"Access":          func(p string) error { return Access(p, 4) },
		"Chmod":           func(p string) error { return Chmod(p, 0o777) },
		"Chown":           func(p string) error { return Chown(p, 1, 1) },
		"Lchown in":       func(p string) error { return Lchown(p+"/file", 1, 1) },
		"Chtimes":         func(p string) error { return Chtimes(p, time.Unix(1, 0), time.Unix(1, 0)) },
		"SetTimes":        func(p string) error { return SetTimes(p, []unix.Timespec{{}, {}}) },
		"Mkdir in":        func(p string) error { return Mkdir(p+"/made", 0o777) },
		"MkdirAll in":     func(p string) error { return MkdirAll(p+"/made/more", 0o777) },
		"Remove in":       func(p string) error { return Remove(p + "/file") },
		"RemoveAll in":    func(p string) error { return RemoveAll(p + "/sub") },
		"Rename from":     func(p string) error { return Rename(p+"/file", dir+"/stolen") },
		"Rename to":       func(p string) error { return Rename(dir+"/file", p+"/put") },
		"Symlink in":      func(p string) error { return Symlink(dir+"/file", p+"/made") },
		"Symlink to":      func(p string) error { return Symlink(p+"/../../etc", dir+"/made") },
		"Link from":       func(p string) error { return Link(p+"/file", dir+"/stolen") },
		"Link to":         func(p string) error { return Link(dir+"/file", p+"/put") },
		"Readlink in":     func(p string) error { _, err := Readlink(p + "/file"); return err },
		"EvalSymlinks":    func(p string) error { _, err := EvalSymlinks(p); return err },
		"ReadDir":         func(p string) error { _, err := ReadDir(p); return err },
		"List":            func(p string) error { _, err := List(p); return err },
		"CreateTemp":      func(p string) error { return closed(CreateTemp(p, "x")) },
		"Held":            func(p string) error { return Held(p, true, func(string) error { return nil }) },
		"Held name below": func(p string) error { return Held(p+"/file", false, func(string) error { return nil }) },
	}
}

// Whatever is done by whatever path that leads out is refused, and nothing outside is another than it was.
func TestNothingLeadsOut(t *testing.T) {
	confinedTo(t, func(t *testing.T, dir, outside string) {
		for name, do := range operations(dir) {
			for _, path := range []string{
				outside, dir + "/out", dir + "/up", dir + "/deep", dir + "/chain", dir + "/root", dir + "/../outside",
				dir + "/in/../../outside", dir + "/out/sub",
				dir + "/file-out", dir + "/new-out",
			} {
				// there is nothing to remove
				if err := do(path); err == nil && !(name == "RemoveAll in" && path == dir+"/new-out") {
					t.Errorf("%s of %s is done", name, path)
				}
			}
		}
		if _, err := os.Lstat(dir + "/stolen"); err == nil {
			t.Error("a file of outside is inside")
		}
		for _, target := range []string{outside, "../outside", "in/../../outside", "/etc/passwd", "near/../../outside"} {
			if err := Symlink(target, dir+"/made"); err == nil {
				t.Errorf("a link to %s is made", target)
			}
		}
		var out *OutsideError
		if _, err := ReadFile(dir + "/file-out"); !errors.As(err, &out) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("it is refused as %v", err)
		}
		if err := Confine([]string{outside}); err == nil {
			t.Error("the process could be confined to something else")
		}
		seen := 0
		if err := WalkDir(dir, func(string, fs.DirEntry, error) error { seen++; return nil }); err != nil || seen != 14 {
			t.Errorf("a walk saw %d files, %v", seen, err)
		}
	})
}

// What lies inside works as with package os, through links too.
func TestWhatLiesInsideWorks(t *testing.T) {
	confinedTo(t, func(t *testing.T, dir, _ string) {
		try := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, path := range []string{dir + "/file", dir + "/good/file", dir + "/near/file", dir + "/in/../file"} {
			text, err := ReadFile(path)
			if string(text) != "secret" {
				t.Errorf("%s is %q, %v", path, text, err)
			}
			try("Chmod", Chmod(path, 0o640))
			try("Chtimes", Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)))
			info, err := Stat(path)
			if err != nil || info.Name() != "file" || info.Mode().Perm() != 0o640 || info.ModTime().Unix() != 1 {
				t.Errorf("%s: %+v, %v", path, info, err)
			}
		}
		try("MkdirAll", MkdirAll(dir+"/a/b/c", 0o755))
		try("MkdirAll again", MkdirAll(dir+"/a/b", 0o755))
		f, err := CreateTemp(dir+"/a", ".x-*")
		try("CreateTemp", err)
		if filepath.Dir(f.Name()) != dir+"/a" {
			t.Errorf("the temporary file is %s", f.Name())
		}
		_, err = f.WriteString("x")
		try("write", errors.Join(err, f.Close()))
		try("Rename", Rename(f.Name(), dir+"/a/file"))
		try("Symlink", Symlink("../file", dir+"/a/link"))
		try("Symlink", Symlink(dir+"/file", dir+"/a/link2"))
		try("Link", Link(dir+"/file", dir+"/a/hard"))
		f, err = OpenFile(dir+"/a/link", os.O_RDWR|os.O_CREATE, 0o600) // a link to a file that is there
		try("OpenFile", err)
		f.Close()
		list, err := ReadDir(dir + "/a")
		if len(list) != 5 || list[1].Name() != "file" {
			t.Errorf("%v, %v", list, err)
		}
		if info, err := list[1].Info(); err != nil || info.Size() != 1 {
			t.Errorf("%v, %v", info, err)
		}
		try("RemoveAll", RemoveAll(dir+"/a"))
		try("RemoveAll of nothing", RemoveAll(dir+"/a"))
		if _, err := Lstat(dir + "/a"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what was removed: %v", err)
		}
		if _, err := Lstat(dir); err != nil {
			t.Errorf("the directory itself: %v", err)
		}
	})
}

// A directory that somebody swaps for a link while it is worked in leads nowhere.
func TestSwappedDirectoriesLeadNowhere(t *testing.T) {
	confinedTo(t, func(t *testing.T, dir, outside string) {
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() { // another process of the host's would do the same
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
				}
				_ = os.Rename(dir+"/in", dir+"/aside")
				_ = os.Symlink(outside, dir+"/in")
				_ = os.Remove(dir + "/in")
				_ = os.Rename(dir+"/aside", dir+"/in")
			}
		}()
		for range 3000 {
			_ = Chmod(dir+"/in/file", 0o666)
			_ = Remove(dir + "/in/made")
			if f, err := OpenFile(dir+"/in/made", os.O_WRONLY|os.O_CREATE, 0o666); err == nil {
				f.Close()
			}
			_ = Mkdir(dir+"/in/d", 0o777)
			_ = Remove(dir + "/in/d")
		}
		close(stop)
		<-done
	})
}
