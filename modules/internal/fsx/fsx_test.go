package fsx

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hark/modules/py/value"
)

// The expectations are the modes that ansible-core's file module sets.
func TestModesAreReadAsAnsibleDoes(t *testing.T) {
	for _, c := range []struct {
		mode any
		now  Current
		want uint32
	}{
		{"0644", Current{}, 0o644},
		{"644", Current{}, 0o644},
		{"0o755", Current{}, 0o755},
		{int64(420), Current{}, 0o644},
		{"u=rwx,g=rx,o=", Current{Mode: 0o777}, 0o750},
		{"u+x", Current{Mode: 0o644}, 0o744},
		{"a-w", Current{Mode: 0o666}, 0o444},
		{"+x", Current{Mode: 0o644, Umask: func() uint32 { return 0o027 }}, 0o754},
		{"=rw", Current{Mode: 0o1777, Umask: func() uint32 { return 0o022 }}, 0o644},
		{"u=rwX,g=rX", Current{Mode: 0o600}, 0o640},
		{"u=rwX,g=rX", Current{Mode: 0o600, Dir: true}, 0o750},
		{"g=u,o=g", Current{Mode: 0o640}, 0o664},
		{"u+s,g+s,o+t", Current{Mode: 0o755}, 0o7755},
		{"u,a", Current{Mode: 0o640}, 0o640},
		{"g-s+w", Current{Mode: 0o2755}, 0o775},
	} {
		got, err := ParseMode(value.FromGo(c.mode, value.KindStr), c.now)
		if err != nil || got != c.want {
			t.Errorf("%v on %+v = %04o, %v; want %04o", c.mode, c.now, got, err, c.want)
		}
	}
	for _, bad := range []string{"zz", "u+q", "x+r"} {
		if _, err := ParseMode(value.Str(bad), Current{}); err == nil || err.Error() != "bad symbolic permission for mode: "+
			bad {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestCommitKeepsWhatTheFileHad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o751); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(file, []byte("new"), false); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("%v %v", info, err)
	}
	if raw, _ := os.ReadFile(file); string(raw) != "new" {
		t.Errorf("content is %q", raw)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("something was left behind: %v", entries)
	}
}

func TestFilesOfArgumentsAreNotOpenToMoreThanTheirMode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	a := FileArgs{Mode: value.Str("0600")}
	if err := a.WriteFile(file, []byte("secret")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("before its attributes are set: %v, %v", info.Mode(), err)
	}
}

func TestCommitDropsWhatRunsAsTheOwner(t *testing.T) {
	for mode, want := range map[uint32]uint32{0o4755: 0o755, 0o2755: 0o755, 0o2744: 0o2744, 0o1644: 0o1644} {
		file := filepath.Join(t.TempDir(), "f")
		if err := errors.Join(os.WriteFile(file, nil, 0o600), syscall.Chmod(file, mode),
			WriteFile(file, []byte("new"), false)); err != nil {
			t.Fatal(err)
		}
		if st, err := Stat(file, false); err != nil || uint32(st.Mode)&PermBits != want {
			t.Errorf("of %o is left %o, want %o: %v", mode, st.Mode&PermBits, want, err)
		}
	}
}

func TestNarrowFilesGetNoPermissionBeyondTheirMode(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	if err := errors.Join(os.WriteFile(old, nil, 0o644), os.Chmod(old, 0o640)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dest string
		mode any
		want os.FileMode
	}{
		{old, "0604", 0o600},
		{filepath.Join(dir, "new"), int64(0o600), 0o600},
		{filepath.Join(dir, "relative"), "u=r", os.FileMode(0o666 &^ Umask())},
	} {
		s, err := Stage(c.dest, false)
		if err != nil {
			t.Fatal(err)
		}
		s.Narrow(value.FromGo(c.mode, value.KindStr))
		if err := s.Commit(false); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(c.dest); err != nil || info.Mode().Perm() != c.want {
			t.Errorf("%s with %v: %v, %v", c.dest, c.mode, info.Mode(), err)
		}
	}
}

func TestDiscardLeavesTheFileAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Stage(file, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	s.Discard()
	s.Discard()
	if raw, _ := os.ReadFile(file); string(raw) != "old" {
		t.Errorf("content is %q", raw)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("something was left behind: %v", entries)
	}
}

func TestCommitNewReplacesALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "t"), filepath.Join(dir, "l")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("t", link); err != nil {
		t.Fatal(err)
	}
	s, err := Stage(link, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CommitNew(false); err != nil {
		t.Fatal(err)
	}
	if IsLink(link) {
		t.Error("the link is still there")
	}
	if raw, _ := os.ReadFile(target); string(raw) != "old" {
		t.Errorf("what it led to is %q now", raw)
	}
}

func TestBackupsOfOneSecondDoNotCollide(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("x"), 0o640); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.Local)
	a, err := Backup(file, now)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Backup(file, now)
	if err != nil || a == b {
		t.Fatalf("%s, %s, %v", a, b, err)
	}
	if !strings.HasSuffix(a, ".2024-05-06@07:08:09~") {
		t.Errorf("the backup is called %s", a)
	}
	if none, err := Backup(file+"x", now); none != "" || err != nil {
		t.Errorf("a backup of nothing: %q %v", none, err)
	}
}

func TestBackupsKeepAttributes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("x"), 0o640); err != nil {
		t.Fatal(err)
	}
	was, ok := FlagsOf(file, false)
	if !ok {
		t.Skip("the file system of temporary files has no attributes")
	}
	if err := setFlags(file, '+', "d"); err != nil { // nodump: an owner may set it
		t.Skipf("the file system of temporary files takes no attribute nodump: %v", err)
	}
	backup, err := Backup(file, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if is, _ := FlagsOf(backup, false); is == nil || is.Letters == was.Letters || !strings.Contains(is.Letters, "d") {
		t.Errorf("the backup has %+v, the file had %+v before", is, was)
	}
}

func TestStagingNeedsTheDirectory(t *testing.T) {
	_, err := Stage("/no/such/dir/file", false)
	if err == nil || !strings.HasPrefix(err.Error(),
		"The destination directory (/no/such/dir) is not writable by the current user. Error was: [Errno 2]") {
		t.Errorf("got %v", err)
	}
}

func TestAddInfoTellsWhatTheFileIs(t *testing.T) {
	dir := t.TempDir()
	res := value.DictOf("dest", dir)
	AddInfo(res)
	if uid, _ := res.Get("uid"); res.Text("state") != "directory" || uid != value.Int(os.Getuid()) {
		t.Errorf("%s", value.Printed(res))
	}
	res = value.DictOf("path", filepath.Join(dir, "no"), "dest", dir)
	AddInfo(res)
	if res.Has("state") {
		t.Error("dest was looked at although there is a path")
	}
}

func TestRealPathOfWhatIsNotThere(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere/x", filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	if got := RealPath(filepath.Join(dir, "l")); got != filepath.Join(dir, "nowhere/x") {
		t.Errorf("got %s", got)
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if got := RealPath(filepath.Join(dir, "loop")); !strings.HasPrefix(got, dir) {
		t.Errorf("got %s", got)
	}
}

func TestUmaskIsReadAndNotSet(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	if got := Umask(); got != 0o027 {
		t.Errorf("got %04o", got)
	}
	if now := syscall.Umask(0o027); now != 0o027 {
		t.Errorf("it is %04o now", now)
	}
}

func TestUnsafeStagingNeedsTheDirectoryToo(t *testing.T) {
	dest := filepath.Join(t.TempDir(), "none", "f")
	_, err := Stage(dest, true)
	if err == nil || !strings.HasPrefix(err.Error(), "Could not replace file: ") ||
		!strings.HasSuffix(err.Error(), " to "+dest+": [Errno 2] No such file or directory: b'"+tempOf(err)+"' -> b'"+dest+"'") {
		t.Errorf("%v", err)
	}
}

// tempOf is the temporary file that an error of Stage names first.
func tempOf(err error) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "Could not replace file: "), " to ")
	return text
}

func TestModesOfADiffHaveFourDigits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string]string{"u=": "0044", "0": "0000", "1777": "01777", "0600": "0600"} {
		diff := NewDelta(path)
		if _, err := (Attrs{Path: path, Mode: value.Str(mode)}).Apply(true, diff); err != nil {
			t.Fatal(err)
		}
		if got, _ := diff.After.Get("mode"); value.Plain(got) != want {
			t.Errorf("%s: %v, want %s", mode, got, want)
		}
	}
}
