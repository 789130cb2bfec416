package general

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/modules"
	"hark/modules/modtest"
)

func TestArchiveHoldsFilesLinksAndContent(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"d/a": "one", "d/s/b": "two"})
	for link, make := range map[string]func(string, string) error{"d/soft": os.Symlink, "d/zhard": os.Link} {
		from := "a"
		if link == "d/zhard" {
			from = filepath.Join(dir, "d/a")
		}
		if err := make(from, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	res := Archive.Run(t.Context(), &modules.Env{},
		modtest.Args(map[string]any{"path": filepath.Join(dir, "d"), "dest": filepath.Join(dir, "o.tgz")}))
	if res.Failed {
		t.Fatal(res.Msg)
	}
	plain, err := gzip.NewReader(bytes.NewReader([]byte(content(t, filepath.Join(dir, "o.tgz")))))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(r)
		got[h.Name] = string(h.Typeflag) + h.Linkname + string(raw)
	}
	want := map[string]string{"d/a": "0one", "d/s/": "5", "d/s/b": "0two", "d/soft": "2a", "d/zhard": "1d/a"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestCommonRootIsADirectory(t *testing.T) {
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{"/a/b/c"}, "/a/b/"},
		{[]string{"/a/b/"}, "/a/b/"},
		{[]string{"/a/bc/d", "/a/bd/e"}, "/a/"},
		{[]string{"/a", "/b"}, "/"},
		{[]string{"a", "b"}, ""},
	} {
		if got := commonRoot(c.paths); got != c.want {
			t.Errorf("%q: %q, want %q", c.paths, got, c.want)
		}
	}
}
