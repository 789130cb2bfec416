package treesync

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lay makes files; a name ending in / is a directory, a content beginning with -> a link.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(content, "->"); ok {
			err = os.Symlink(target, path)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// content is all that a directory holds.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree, err := Scan(dir+"/", Query{Options: Options{Recursive: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range tree.Entries {
		switch e.Kind {
		case File:
			raw, err := os.ReadFile(filepath.Join(dir, e.Rel))
			if err != nil {
				t.Fatal(err)
			}
			out[e.Rel] = string(raw)
		case Link:
			out[e.Rel] = "->" + e.Link
		case Dir:
			if e.Rel != "." {
				out[e.Rel+"/"] = ""
			}
		}
	}
	return out
}

func rootOf(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// sync makes of dest what src is, by way of an archive, and gives the lines about it.
func sync(t *testing.T, src, dest string, o Options) []string {
	t.Helper()
	tree, err := Scan(src+"/", Query{Options: o, Digests: o.Checksum},
		func(path string, _ os.FileInfo) (string, error) { return Sum(path) })
	if err != nil {
		t.Fatal(err)
	}
	root := rootOf(t, dest)
	have, err := Look(root, tree, o)
	if err != nil {
		t.Fatal(err)
	}
	changes, lines, err := Compare(tree, have, OwnRights(), o)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	err = Pack(&archive, Settle(changes, tree, o),
		func(e *Entry) (io.ReadCloser, error) { return os.Open(filepath.Join(src, e.Rel)) })
	if err == nil {
		err = Unpack(root, Bounds{Options: o, Size: int64(archive.Len())}, &archive)
	}
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func archiveOptions() Options {
	return Options{Recursive: true, Links: true, Perms: true, Times: true, Owner: true, Group: true, Delete: true,
		Sign: "<", PerDir: true}
}

func TestSecondRunFindsNothing(t *testing.T) {
	src, dest := t.TempDir(), t.TempDir()
	lay(t, src, map[string]string{"a": "1", "b/c/d": "2", "b/e": "3", "l": "->b", "empty/": "", "k": "->nowhere",
		"was-link": "now a file", "was-dir": "->a"})
	lay(t, dest, map[string]string{"old": "x", "b/older": "x", "x/y/z": "x", "l/in": "the way", "was-link": "->old",
		"was-dir/f": "x", "empty": "a file"})
	sync(t, src, dest, archiveOptions())
	if d := cmp.Diff(content(t, src), content(t, dest)); d != "" {
		t.Errorf("the directories differ:\n%s", d)
	}
	if again := sync(t, src, dest, archiveOptions()); again != nil {
		t.Errorf("the second run tells of %q", again)
	}
}

func TestChecksumFindsWhatSizeAndTimeHide(t *testing.T) {
	src, dest := t.TempDir(), t.TempDir()
	lay(t, src, map[string]string{"a": "1", "same": "s"})
	sync(t, src, dest, archiveOptions())
	info, err := os.Stat(filepath.Join(dest, "a"))
	if err != nil {
		t.Fatal(err)
	}
	lay(t, dest, map[string]string{"a": "2"})
	if err := os.Chtimes(filepath.Join(dest, "a"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if lines := sync(t, src, dest, archiveOptions()); lines != nil {
		t.Errorf("without checksum: %q", lines)
	}
	o := archiveOptions()
	o.Checksum = true
	if d := cmp.Diff([]string{"<fc........ a"}, sync(t, src, dest, o)); d != "" {
		t.Error(d)
	}
}

func TestWritersStayInTheirDirectory(t *testing.T) {
	outside, dest := t.TempDir(), t.TempDir()
	lay(t, outside, map[string]string{"kept": "x"})
	lay(t, dest, map[string]string{"out": "->" + outside})
	for _, c := range []Change{
		{Entry: Entry{Rel: "../f", Kind: File}, New: true, Content: true},
		{Entry: Entry{Rel: "out/f", Kind: File}, New: true, Content: true},
		{Entry: Entry{Rel: "out/l", Kind: Link, Link: "x"}, New: true, Content: true},
		{Entry: Entry{Rel: "out/kept", Kind: File}, Delete: true},
		{Entry: Entry{Rel: "/etc/hark-none", Kind: Dir}, New: true},
	} {
		var archive bytes.Buffer
		if err := Pack(&archive, []Change{c},
			func(*Entry) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }); err != nil {
			t.Fatal(err)
		}
		if err := Unpack(rootOf(t, dest), Bounds{Options: archiveOptions(), Size: int64(archive.Len())},
			&archive); err == nil {
			t.Errorf("%s was written", c.Entry.Rel)
		}
	}
	if d := cmp.Diff(map[string]string{"kept": "x"}, content(t, outside)); d != "" {
		t.Error(d)
	}
}

func TestUnpackOfAFileTakesNoOther(t *testing.T) {
	dest := t.TempDir()
	var archive bytes.Buffer
	c := []Change{{Entry: Entry{Rel: "other", Kind: Dir, Mode: 0o755}, New: true}}
	if err := Pack(&archive, c, nil); err != nil {
		t.Fatal(err)
	}
	if err := Unpack(rootOf(t, dest), Bounds{Only: "f", Options: archiveOptions(), Size: int64(archive.Len())},
		&archive); err == nil || len(content(t, dest)) > 0 {
		t.Errorf("%v", err)
	}
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		rules    string
		excluded string
		not      string
	}{
		{"- *.o", "a.o dir/b.o", "a.c a.o.c"},
		{"- /top", "top", "dir/top"},
		{"- dir/f", "dir/f x/dir/f", "f dir/x/f"},
		{"- cache/", "cache/ a/cache/", "cache"},
		{"+ keep.o|- *.o", "a.o", "keep.o d/keep.o"},
		{"- a/**/z", "a/b/z a/b/c/z", "a/z z"},
		{"- d/***", "d/ d/x d/x/y", "e/d2"},
		{"- [a-c]?", "ax cz", "dx a"},
		{"- [!a]x", "bx", "ax"},
		{`- a\*b`, "a*b", "axb"},
	} {
		f, err := newFilter(strings.Split(c.rules, "|"), &Tree{})
		if err != nil {
			t.Fatal(err)
		}
		check := func(names string, want bool) {
			for _, name := range strings.Fields(names) {
				rel, dir := strings.CutSuffix(name, "/")
				if f.excludes(rel, dir) != want {
					t.Errorf("%s: %s excluded should be %v", c.rules, name, want)
				}
			}
		}
		check(c.excluded, true)
		check(c.not, false)
	}
	for _, bad := range []string{"merge x", "P x", "- ", "-p x", "x"} {
		if CheckRule(bad) == nil {
			t.Errorf("%q is taken for a rule", bad)
		}
	}
}

func TestOnlyRootGivesFilesAway(t *testing.T) {
	tree := &Tree{Entries: []Entry{{Rel: "f", Kind: File, Owner: "root", Group: "adm", GID: 4}}}
	have := Lookup{"f": {Rel: "f", Kind: File, Owner: "joe", UID: 7, Group: "joe", GID: 7}}
	o := Options{Owner: true, Group: true, Sign: ">"}
	for _, c := range []struct {
		rights Rights
		want   []string
	}{
		{Rights{Super: true}, []string{".f....og... f"}},
		{Rights{Groups: []uint32{4, 7}}, []string{".f.....g... f"}},
		{Rights{Groups: []uint32{7}}, nil},
	} {
		_, lines, err := Compare(tree, have, c.rights, o)
		if d := cmp.Diff(c.want, lines); d != "" || err != nil {
			t.Errorf("%+v: %v %s", c.rights, err, d)
		}
	}
}

// An archive does what the transfer was asked for, and no more: whoever made it may mean ill.
func TestArchivesDoNoMoreThanWasAskedFor(t *testing.T) {
	plain := Options{Recursive: true}
	has := map[string]string{"kept": "kept", "d/kept": "kept"}
	entry := func(rel string, k Kind) Entry { return Entry{Rel: rel, Kind: k, Mode: 0o4755} }
	for name, c := range map[string]struct {
		o      Options
		change Change
	}{
		"delete": {plain, Change{Entry: entry("kept", File), Delete: true}},
		"delete excluded": {Options{Recursive: true, Delete: true, Rules: []string{"- kept"}},
			Change{Entry: entry("d/kept", File), Delete: true}},
		"write excluded": {Options{Recursive: true, Rules: []string{"- /d"}},
			Change{Entry: entry("d/new", Link), New: true, Content: true}},
		"dir over dir": {plain, Change{Entry: entry("d", Dir), New: true}},
		"link over dir": {Options{Links: true}, Change{Entry: Entry{Rel: "d", Kind: Link, Link: "x"}, New: true,
			Content: true}},
		"file over dir":      {plain, Change{Entry: entry("d", File), New: true, Content: true}},
		"link":               {plain, Change{Entry: Entry{Rel: "l", Kind: Link, Link: "/etc"}, New: true, Content: true}},
		"mode of a new file": {plain, Change{Entry: entry("new", File), New: true, Content: true, Perms: true}},
		"mode":               {plain, Change{Entry: entry("kept", File), Perms: true}},
		"owner":              {plain, Change{Entry: entry("kept", File), Owner: true}},
		"group":              {plain, Change{Entry: entry("kept", File), Group: true}},
		"what exists":        {Options{IgnoreExisting: true}, Change{Entry: entry("kept", File), Content: true}},
		"what does not":      {Options{Existing: true}, Change{Entry: entry("new", File), New: true, Content: true}},
		"a path that leads":  {plain, Change{Entry: entry("d/../kept", File), Content: true}},
	} {
		dest := t.TempDir()
		lay(t, dest, has)
		var archive bytes.Buffer
		if err := Pack(&archive, []Change{c.change},
			func(*Entry) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }); err != nil {
			t.Fatal(err)
		}
		before := content(t, dest)
		if err := Unpack(rootOf(t, dest), Bounds{Options: c.o, Size: int64(archive.Len())}, &archive); err == nil {
			t.Errorf("%s: it was done", name)
		}
		if d := cmp.Diff(before, content(t, dest)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// An archive of a few bytes that says it holds a large file writes none.
func TestArchivesHoldWhatTheySay(t *testing.T) {
	raw, err := json.Marshal(Change{Entry: Entry{Rel: "bomb", Kind: File, Size: 1 << 40}, New: true, Content: true})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	// What GNU tar calls a sparse file: a map of no data, and its size beside.
	h := &tar.Header{Name: "bomb", Typeflag: tar.TypeReg, Size: 512, Format: tar.FormatPAX,
		PAXRecords: map[string]string{changeRecord: string(raw)}}
	if err := w.WriteHeader(h); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 512)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dest := t.TempDir()
	if err := Unpack(rootOf(t, dest), Bounds{Size: int64(b.Len())}, &b); err == nil || len(content(t, dest)) > 0 {
		t.Errorf("it was unpacked: %v", err)
	}
	g, err := Bounds{Size: 1000}.guard(rootOf(t, dest))
	if err != nil {
		t.Fatal(err)
	}
	c := Change{Entry: Entry{Rel: "f", Kind: File, Size: 600}, New: true, Content: true}
	if err := g.allows(&c, 600); err != nil {
		t.Error(err)
	}
	if err := g.allows(&c, 600); err == nil {
		t.Error("two files are larger than the archive that they are in")
	}
}
