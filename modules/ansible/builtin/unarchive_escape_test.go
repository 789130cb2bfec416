package builtin

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Members that would lie outside of dest, by their names or through a link among them, do not get there, whoever made
// the archive.
func TestArchivesDoNotReachOutOfDest(t *testing.T) {
	for name, make := range map[string]func(*testing.T, string) []byte{"tar": escapingTar, "zip": escapingZip} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("unzip"); name == "zip" && err != nil {
				t.Log("without unzip there is nothing to be held back")
				return
			}
			root := t.TempDir()
			dest := filepath.Join(root, "dest")
			if err := os.Mkdir(dest, 0o755); err != nil {
				t.Fatal(err)
			}
			outside := filepath.Join(root, "outside")
			if err := os.Mkdir(outside, 0o755); err != nil {
				t.Fatal(err)
			}
			res := unarchive(t, unarchiveEnv(make(t, outside)), map[string]any{"src": "a." + name, "dest": dest})
			if _, err := os.Stat(filepath.Join(dest, "fine")); err != nil { // so that there is something to be held back
				t.Errorf("nothing was unpacked: %v", res)
			}
			for _, path := range []string{filepath.Join(root, "up"), filepath.Join(outside, "absolute"), filepath.Join(outside, "linked")} {
				if _, err := os.Lstat(path); err == nil {
					t.Errorf("%s was written", path)
				}
			}
		})
	}
}

// What is given to the content of an archive is not given to files outside that a member's name leads to. tar refuses
// such a member when it unpacks; the second time it takes it for one that is there, and there is nothing to unpack.
func TestAttributesDoNotReachOutOfDest(t *testing.T) {
	root := t.TempDir()
	dest, up := filepath.Join(root, "dest"), filepath.Join(root, "up")
	if err := errors.Join(os.Mkdir(dest, 0o755), os.WriteFile(up, nil, 0o600), os.Chmod(up, 0o600)); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range []string{"up", "../up"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var res map[string]any
	for range 2 {
		res = unarchive(t, unarchiveEnv(b.Bytes()), map[string]any{"src": "a.tar", "dest": dest, "mode": "0666"})
	}
	for path, want := range map[string]os.FileMode{up: 0o600, filepath.Join(dest, "up"): 0o666} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; %v", path, info, err, res)
		}
	}
}

func escapingTar(t *testing.T, outside string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "fine", Mode: 0o644, Size: 1}, {Name: "../up", Mode: 0o644, Size: 1}, {Name: filepath.Join(outside, "absolute"), Mode: 0o644, Size: 1},
		{Name: "link", Linkname: outside, Typeflag: tar.TypeSymlink}, {Name: "link/linked", Mode: 0o644, Size: 1},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func escapingZip(t *testing.T, outside string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"fine", "../up", filepath.Join(outside, "absolute")} {
		h := &zip.FileHeader{Name: name, Modified: time.Unix(1700000000, 0)}
		h.SetMode(0o644)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte("x"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The expectations are those of Python's codecs.escape_decode.
func TestDelimitersAreUnescapedAsPythonDoes(t *testing.T) {
	for text, want := range map[string]string{
		`\n`: "\n", `\t\x41`: "\tA", `\101\60`: "A0", `\1018`: "A8", `\\n`: `\n`, `\q`: `\q`, `a\`: `a\`, `\'\"`: `'"`, `é\xff`: "é\xff",
	} {
		if got := unescape(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
