package builtin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/modules"
	"hark/modules/modtest"
	"hark/modules/py/fnmatch"
	"hark/modules/py/localtime"
)

// tgz makes an archive of two files in a directory.
func tgz(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	stamp := time.Unix(1700000000, 0)
	for _, f := range []tar.Header{
		{Name: "app/", Mode: 0o755, Typeflag: tar.TypeDir}, {Name: "app/run", Mode: 0o750, Size: 2}, {Name: "app/ü", Mode: 0o640, Size: 2},
	} {
		f.ModTime, f.Uid, f.Gid = stamp, os.Getuid(), os.Getgid()
		if err := w.WriteHeader(&f); err != nil {
			t.Fatal(err)
		}
		if f.Size > 0 {
			if _, err := w.Write([]byte("x\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unarchiveEnv(archive []byte) *modules.Env {
	environ := append(os.Environ(), "LC_ALL=C")
	return &modules.Env{
		Environ: environ, Exec: modules.HostExec(environ, nil), Warn: func(string, ...any) {},
		Source: func(context.Context, string, string, bool) (*modules.Source, error) {
			return &modules.Source{Path: "/files/a.tgz", Digest: "d"}, nil
		},
		Open: func(context.Context, string) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(archive)), nil
		},
	}
}

func unarchive(t *testing.T, env *modules.Env, args map[string]any) map[string]any {
	t.Helper()
	given := modtest.Args(args)
	if err := Unarchive.Resolve(t.Context(), env, given); err != nil {
		return modtest.Plain(modules.Failure(err).Dict())
	}
	return modtest.Plain(Unarchive.Run(t.Context(), env, given).Dict())
}

func TestUnarchiveUnpacksOnce(t *testing.T) {
	dir := t.TempDir()
	env := unarchiveEnv(tgz(t))
	args := func() map[string]any { return map[string]any{"src": "a.tgz", "dest": dir, "list_files": true} }
	res := unarchive(t, env, args())
	if res["changed"] != true || res["handler"] != "TgzArchive" {
		t.Fatalf("got %v", res)
	}
	names, _ := res["files"].([]any)
	if len(names) != 3 || names[2] != "app/ü" {
		t.Errorf("files are %v", names)
	}
	if info, err := os.Stat(filepath.Join(dir, "app/run")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("%v %v", info, err)
	}
	if again := unarchive(t, env, args()); again["changed"] != false {
		t.Errorf("the second run gave %v", again)
	}
}

func TestUnarchiveSetsModes(t *testing.T) {
	dir := t.TempDir()
	res := unarchive(t, unarchiveEnv(tgz(t)), map[string]any{"src": "a.tgz", "dest": dir, "mode": "u=rwX,go="})
	if info, err := os.Stat(filepath.Join(dir, "app/ü")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v %v", info, err, res)
	}
}

func TestUnarchiveFailures(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string]map[string]any{
		"src (or content) and dest are required":                    {"src": "a"},
		"parameters are mutually exclusive: ('copy', 'remote_src')": {"src": "a", "dest": dir, "copy": true, "remote_src": false},
		"dest '" + dir + "/no' must be an existing dir":             {"src": "a", "dest": dir + "/no"},
		"Source '" + dir + "/no' does not exist":                    {"src": dir + "/no", "dest": dir, "remote_src": true},
		"parameters are mutually exclusive: include|exclude":        {"src": "a", "dest": dir, "include": "x", "exclude": "y"},
		"skipped, since " + dir + " exists":                         {"src": "a", "dest": dir, "creates": dir},
	} {
		if res := unarchive(t, unarchiveEnv(nil), args); res["msg"] != want {
			t.Errorf("got %v, want %s", res, want)
		}
	}
	res := unarchive(t, unarchiveEnv([]byte{}), map[string]any{"src": "a", "dest": dir})
	if msg, _ := res["msg"].(string); !strings.HasSuffix(msg, "the file is 0 bytes") {
		t.Errorf("got %v", res)
	}
	env := unarchiveEnv(tgz(t))
	env.Check = true
	if res := unarchive(t, env, map[string]any{"src": "a", "dest": dir}); res["skipped"] != true {
		t.Errorf("check mode gave %v", res)
	}
}

func TestZipinfoLinesAreRead(t *testing.T) {
	for line, want := range map[string]zipEntry{
		"-rw-r--r--  3.0 unx        4 tx stor 20231114.221320 a b": {kind: 'f', perms: "rw-r--r--", size: 4, path: "a b"},
		"drwxr-xr-x  3.0 unx        0 bx stor 20231114.221320 d/":  {kind: 'd', perms: "rwxr-xr-x", path: "d/"},
		"lrwxrwxrwx  3.0 unx        3 bx stor 20231114.221320 l":   {kind: 'L', perms: "rwxrwxrwx", size: 3, path: "l"},
	} {
		got, ok := parseZipinfo(line)
		want.stamp = time.Date(2023, 11, 14, 22, 13, 20, 0, localtime.Zone())
		if !ok || got != want {
			t.Errorf("%q: %+v", line, got)
		}
	}
	for _, line := range []string{"", "Archive:  x.zip", "2 files, 4 bytes uncompressed, 4 bytes compressed:  0.0%"} {
		if e, ok := parseZipinfo(line); ok {
			t.Errorf("%q was read as %+v", line, e)
		}
	}
}

func TestFnmatchIsPythons(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*.txt", "a.txt", true}, {"*.txt", ".txt", true}, {"*", "", true}, {"?", "ü", true}, {"?", "", false},
		{"[a-c]*", "bx", true}, {"[!a-c]*", "bx", false}, {"[!a-c]*", "x", true}, {"[]]", "]", true}, {"[", "[", true},
		{"a*b*c", "aXbYc", true}, {"a*b*c", "aXbY", false}, {"*/x", "a/b/x", true},
		{strings.Repeat("*a", 30) + "b", strings.Repeat("a", 200), false},
	} {
		if got := fnmatch.Match(c.pattern, c.name); got != c.want {
			t.Errorf("fnmatch(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}
