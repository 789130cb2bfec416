package editing

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/modtest"
	"hark/modules/py/value"
)

func fileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func content(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestTextIsReadAsPythonReadsIt: messages of Python 3.13.
func TestTextIsReadAsPythonReadsIt(t *testing.T) {
	for _, c := range []struct{ bytes, encoding, text, err string }{
		{"caf\xe9\r\nb\rc", "latin-1", "café\nb\nc", ""},
		{"a\r\n", "utf-8", "a\n", ""},
		{"a\xe9b", "utf-8", "", "'utf-8' codec can't decode byte 0xe9 in position 1: invalid continuation byte"},
		{"a", "nonesuch", "", "unknown encoding: nonesuch"},
	} {
		e := &Edit{Path: fileOf(t, c.bytes), Encoding: c.encoding, Strict: true, Newlines: true}
		text, _, err := e.Read()
		var crash *modules.Crash
		if errors.As(err, &crash) != (c.err != "") || crash != nil && crash.Raised != c.err || text != c.text {
			t.Errorf("%q: %q, %v", c.bytes, text, err)
		}
	}
}

func TestFilesAreReadOrMissing(t *testing.T) {
	path := fileOf(t, "old\n")
	if text, exists, err := (&Edit{Path: path}).Read(); text != "old\n" || !exists || err != nil {
		t.Errorf("%q, %t, %v", text, exists, err)
	}
	if text, exists, err := (&Edit{Path: path + ".none"}).Read(); text != "" || exists || err != nil {
		t.Errorf("%q, %t, %v", text, exists, err)
	}
	dir := filepath.Dir(path)
	if _, _, err := (&Edit{Path: dir}).Read(); err == nil || err.Error() != "[Errno 21] Is a directory: b'"+dir+"'" {
		t.Errorf("%v", err)
	}
}

func TestFilesAreWrittenWholeThroughLinks(t *testing.T) {
	path := fileOf(t, "old\n")
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	e := &Edit{Env: &modules.Env{}, Path: link, Args: &fsx.FileArgs{}, Backup: true}
	backup, err := e.Write(t.Context(), "new\n")
	if err != nil || content(t, path) != "new\n" || content(t, backup) != "old\n" || !fsx.IsLink(link) {
		t.Errorf("%q, %v: %q", backup, err, content(t, path))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestWhatDoesNotPassItsValidationIsNotWritten: the command sees the new file, and the old one stays.
func TestWhatDoesNotPassItsValidationIsNotWritten(t *testing.T) {
	path := fileOf(t, "old\n")
	seen := ""
	h := &modtest.Host{Act: func(c modules.Command) modules.Output {
		seen = content(t, c.Argv[2])
		return modules.Output{Rc: 1, Stderr: []byte("bad")}
	}}
	command := "test-check -f %s"
	e := &Edit{Env: h.Env(t), Path: path, Args: &fsx.FileArgs{}, Validate: &command}
	if _, err := e.Write(t.Context(), "new\n"); err == nil || err.Error() != "failed to validate: rc:1 error:bad" || seen != "new\n" || content(t, path) != "old\n" {
		t.Errorf("%v, saw %q, wrote %q", err, seen, content(t, path))
	}
	command = "test-check"
	if _, err := e.Write(t.Context(), "new\n"); err == nil || err.Error() != "validate must contain %s: test-check" || content(t, path) != "old\n" {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	h.Act, command = nil, "test-check %s"
	if _, err := e.Write(t.Context(), "new\n"); err != nil || content(t, path) != "new\n" {
		t.Errorf("%v", err)
	}
}

func TestAttributesAreToldInTheMessage(t *testing.T) {
	for _, c := range []struct {
		msg, want string
		changed   bool
	}{{"line added", "line added and ownership, perms or SE linux context changed", true}, {"", "ownership, perms or SE linux context changed", false}} {
		path := fileOf(t, "x")
		e := &Edit{Env: &modules.Env{}, Path: path, Args: &fsx.FileArgs{Mode: value.Int(0o600)}}
		res := modules.Result{Changed: c.changed, Data: value.DictOf("msg", c.msg)}
		d, err := e.Attributes(&res, true)
		if err != nil || res.Data.Text("msg") != c.want || !res.Changed || value.PrintedRepr(d.Before) == "{}" {
			t.Errorf("%v: %q, %s", err, res.Data.Text("msg"), value.PrintedRepr(d.Before))
		}
		again := modules.Result{Data: value.DictOf("msg", "")}
		if d, err := e.Attributes(&again, true); err != nil || again.Changed || again.Data.Text("msg") != "" || d.Before.Len() != 0 {
			t.Errorf("the second time: %v, %+v", err, again)
		}
	}
}

func TestDiffsAreOfContentAndOfAttributes(t *testing.T) {
	e := &Edit{Env: &modules.Env{Diff: true}, Path: "/f"}
	d := &fsx.Delta{Before: value.DictOf("mode", "0644"), After: value.DictOf("mode", "0600")}
	list := value.FromGo(e.Diffs("a", "b\xff", d), value.KindStr)
	want := "[{'before': 'a', 'after': 'b\\udcff', 'before_header': '/f (content)', 'after_header': '/f (content)'}, " +
		"{'before': {'mode': '0644'}, 'after': {'mode': '0600'}, 'before_header': '/f (file attributes)', 'after_header': '/f (file attributes)'}]"
	if got := value.PrintedRepr(list); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	e.Env.Diff = false
	if got := e.ContentDiff("a", "b"); got.Text("before") != "" || got.Text("after") != "" {
		t.Errorf("nobody asked for a diff: %s", value.PrintedRepr(got))
	}
}

func TestDirectoriesAreMade(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "f")
	e := &Edit{Env: &modules.Env{Check: true}, Path: path}
	if err := e.MakeDir(); err != nil || fsx.Exists(filepath.Join(dir, "a")) {
		t.Errorf("check mode: %v", err)
	}
	e.Env.Check = false
	if err := e.MakeDir(); err != nil || !fsx.IsDir(filepath.Dir(path)) {
		t.Errorf("%v", err)
	}
	file := fileOf(t, "x")
	e.Path = filepath.Join(file, "sub", "f")
	if err := e.MakeDir(); err == nil || !strings.HasPrefix(err.Error(), "Error creating "+file+"/sub ([Errno 20] Not a directory") {
		t.Errorf("below a file: %v", err)
	}
}

func TestLinesAreSplit(t *testing.T) {
	for text, want := range map[string][]string{"": {}, "a": {"a"}, "a\n": {"a\n"}, "a\n\nb": {"a\n", "\n", "b"}, "a\r\nb\v": {"a\r\n", "b\v"}} {
		if got := SplitLines(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestExpressionsAreOfBytesAndNamedWhenWrong(t *testing.T) {
	if re, err := (&Edit{}).Expression(nil); re != nil || err != nil {
		t.Errorf("%v, %v", re, err)
	}
	pattern := `^a.$`
	re, err := (&Edit{}).Expression(&pattern)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := re.Matches("a\xff"); !ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
	pattern = "("
	var ended *modules.Ended
	if _, err := (&Edit{}).Expression(&pattern); err == nil || errors.As(err, &ended) || !strings.HasPrefix(err.Error(), `invalid regular expression "(": `) {
		t.Errorf("%v", err)
	}
}

// TestAChangeIsFinishedOrOnlyTold: what is decided is written with a backup, and a check tells the same of it and
// leaves the file.
func TestAChangeIsFinishedOrOnlyTold(t *testing.T) {
	for _, check := range []bool{false, true} {
		path := fileOf(t, "old\n")
		e := &Edit{Env: &modules.Env{Check: check, Diff: true}, Path: path, Args: &fsx.FileArgs{}, Backup: true}
		res := modules.Result{Changed: true, Data: value.DictOf("msg", "line added")}
		if err := e.Finish(t.Context(), &res, "old\n", "new\n", "kept"); err != nil {
			t.Fatal(err)
		}
		want := "new\n"
		if check {
			want = "old\n"
		}
		_, backup := res.Data.Get("kept")
		if _, diff := res.Data.Get("diff"); content(t, path) != want || backup == check || !diff {
			t.Errorf("check %t: the file is %q, a backup is told of: %t, diff: %t", check, content(t, path), backup, diff)
		}
	}
	missing := filepath.Join(t.TempDir(), "none")
	e := &Edit{Env: &modules.Env{Check: true}, Path: missing, Args: &fsx.FileArgs{}}
	res := modules.Result{Changed: true, Data: value.NewDict()}
	if err := e.Finish(t.Context(), &res, "", "new\n", "kept"); err != nil || fsx.Exists(missing) {
		t.Errorf("a check made a file (%v)", err)
	}
}
