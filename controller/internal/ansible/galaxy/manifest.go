package galaxy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"hark/modules/py/fnmatch"
	"hark/modules/py/value"
	"hark/modules/treesync"
)

// entry is a line of FILES.json.
type entry struct {
	name string
	dir  bool
	sum  string // of a file
}

// manifest are the two files that say what is in a collection.
type manifest struct {
	entries         []entry
	manifest, files []byte
}

// makeManifest walks a source tree and describes what belongs to the collection.
func makeManifest(screen Screen, dir string, m *Meta) (*manifest, error) {
	out := &manifest{}
	if v, ok := m.info.Get("manifest"); ok && m.source {
		if len(items(value.Under(m.info, "build_ignore"))) > 0 {
			return nil, failed(`"build_ignore" and "manifest" are mutually exclusive`)
		}
		if err := out.byDirectives(dir, m, v); err != nil {
			return nil, err
		}
	} else if err := (&manifestWalk{screen, dir, ignored(m), out}).dir(""); err != nil {
		return nil, err
	}
	files := value.NewList(fileEntry(entry{name: ".", dir: true}))
	for _, e := range out.entries {
		files.Items = append(files.Items, fileEntry(e))
	}
	out.files = pythonJSON(pairs("files", files, "format", value.Int(1)))
	sum := sha256.Sum256(out.files)
	out.manifest = pythonJSON(pairs("collection_info", collectionInfo(m), "file_manifest_file",
		pairs("name", value.Str(filesName), "ftype", value.Str("file"), "chksum_type", value.Str("sha256"),
			"chksum_sha256", value.Str(hex.EncodeToString(sum[:])), "format", value.Int(1)),
		"format", value.Int(1)))
	return out, nil
}

func pythonJSON(v value.Value) []byte {
	return []byte(value.JSONText(v, value.JSONOptions{Lines: true, Indent: " ", ASCII: true}))
}

// pairs returns a dict of keys and values.
func pairs(list ...any) *value.Dict {
	d := value.NewDict()
	for i := 0; i+1 < len(list); i += 2 {
		d.Set(list[i].(string), list[i+1].(value.Value))
	}
	return d
}

func fileEntry(e entry) *value.Dict {
	if e.dir {
		return pairs("name", value.Str(e.name), "ftype", value.Str("dir"), "chksum_type", value.None{}, "chksum_sha256",
			value.None{}, "format", value.Int(1))
	}
	return pairs("name", value.Str(e.name), "ftype", value.Str("file"), "chksum_type", value.Str("sha256"),
		"chksum_sha256", value.Str(e.sum), "format", value.Int(1))
}

// collectionInfo returns what the manifest takes over from galaxy.yml.
func collectionInfo(m *Meta) *value.Dict {
	d := value.NewDict()
	for _, key := range []string{"namespace", "name", "version", "authors", "readme", "tags", "description", "license",
		"license_file",
		"dependencies", "repository", "documentation", "homepage", "issues"} {
		v, ok := m.info.Get(key)
		if !ok || key == "license_file" && !value.IsTrue(v) {
			v = value.None{}
		}
		d.Set(key, v)
	}
	return d
}

// ignored returns the patterns of what does not belong to a collection.
func ignored(m *Meta) []string {
	out := []string{manifestName, filesName, "galaxy.yml", "galaxy.yaml", ".git", "*.pyc", "*.retry", "tests/output",
		fmt.Sprintf("%s-%s-*.tar.gz", m.name.namespace, m.name.name)}
	for _, v := range items(value.Under(m.info, "build_ignore")) {
		out = append(out, text(v))
	}
	return out
}

// manifestWalk lists the files of a collection.
type manifestWalk struct {
	screen   Screen
	top      string
	patterns []string // of what is left out
	out      *manifest
}

func (w *manifestWalk) dir(at string) error {
	list, err := os.ReadDir(filepath.Join(w.top, at))
	if err != nil {
		return err
	}
	for _, item := range list {
		rel := filepath.Join(at, item.Name())
		path := filepath.Join(w.top, rel)
		skip := slices.ContainsFunc(w.patterns, func(p string) bool { return fnmatch.Match(p, rel) })
		if !isDir(path) {
			if skip {
				w.screen.Verbose(3, "Skipping '"+path+"' for collection build")
				continue
			}
			sum, err := treesync.Sum(path)
			if err != nil {
				return err
			}
			w.out.entries = append(w.out.entries, entry{name: rel, sum: sum})
			continue
		}
		if skip || slices.Contains([]string{"CVS", ".bzr", ".hg", ".git", ".svn", "__pycache__", ".tox"}, item.Name()) {
			w.screen.Verbose(3, "Skipping '"+path+"' for collection build")
			continue
		}
		if err := w.enter(rel, path); err != nil {
			return err
		}
	}
	return nil
}

// enter takes a directory. A link to one is taken as a link, if it leads to a place in the collection.
func (w *manifestWalk) enter(rel, path string) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	link := st.Mode()&os.ModeSymlink != 0
	if link && !leadsInside(path, w.top) {
		w.screen.Warn("Skipping '" + path + "' as it is a symbolic link to a directory outside the collection")
		return nil
	}
	w.out.entries = append(w.out.entries, entry{name: rel, dir: true})
	if link {
		return nil
	}
	return w.dir(rel)
}

func leadsInside(link, top string) bool {
	to, err := filepath.EvalSymlinks(link)
	base, err2 := filepath.EvalSymlinks(top)
	return err == nil && err2 == nil && child(to, base)
}
