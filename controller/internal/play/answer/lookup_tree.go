package answer

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"hark/modules/nss"
	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// maxTree is how many files the lookup filetree lists.
const maxTree = 200_000

// lookupTree lists what is in directories, the first of equal paths.
func lookupTree(a *Answerer, c *lookupCall) ([]value.Value, error) {
	t := &tree{a: a, seen: map[string]bool{}}
	for _, term := range c.texts() {
		dir, base := ".", term
		if at := strings.LastIndexByte(term, '/'); at >= 0 {
			dir, base = term[:at+1], term[at+1:]
		}
		parent := c.find("files", dir)
		if parent == "" {
			continue
		}
		root := strings.TrimSuffix(parent, "/") + "/" + base // as in Ansible with the slash that ends a term
		if err := t.walk(root, root); err != nil {
			return nil, err
		}
	}
	return t.found, nil
}

type tree struct {
	a     *Answerer
	found []value.Value
	seen  map[string]bool
}

// walk lists one directory, directories first, and then those in it.
func (t *tree) walk(root, dir string) error {
	entries := unsorted(dir)
	var dirs, files []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			dirs = append(dirs, path)
		} else {
			files = append(files, path)
		}
	}
	for _, path := range append(dirs[:len(dirs):len(dirs)], files...) {
		if err := t.add(root, path); err != nil {
			return err
		}
	}
	for _, path := range dirs {
		if st, err := os.Lstat(path); err != nil || st.Mode()&fs.ModeSymlink != 0 {
			continue
		}
		if err := t.walk(root, path); err != nil {
			return err
		}
	}
	return nil
}

// unsorted returns the entries of a directory in its own order, which is that of os.walk; what cannot be read is
// empty.
func unsorted(dir string) []fs.DirEntry {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(-1)
	return entries
}

func (t *tree) add(root, path string) error {
	name, err := filepath.Rel(root, path)
	if err != nil || t.seen[name] {
		return err
	}
	if len(t.found) >= maxTree {
		return failLookup("AnsibleError", "filetree: there are more than %d files", maxTree)
	}
	if props := t.properties(root, name); props != nil {
		t.seen[name] = true
		t.found = append(t.found, props)
	}
	return nil
}

// properties returns what is known of a file; nil for what is neither file, directory nor link.
func (t *tree) properties(root, name string) value.Value {
	path := filepath.Join(root, name)
	st, err := os.Lstat(path)
	if err != nil {
		t.a.warn(fmt.Sprintf("filetree: Error using stat() on path %s (%v)", path, err))
		return nil
	}
	d := value.NewDict()
	d.Set("root", value.Str(root))
	d.Set("path", value.Str(name))
	switch mode := st.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		d.Set("state", value.Str("link"))
		d.Set("src", value.Str(target))
	case mode.IsDir():
		d.Set("state", value.Str("directory"))
	case mode.IsRegular():
		d.Set("state", value.Str("file"))
		d.Set("src", value.Str(path))
	default:
		t.a.warn("filetree: Error file type of " + path + " is not supported")
		return nil
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		ownership(d, sys)
	}
	return d
}

// ownership adds what only the system's own record of a file says.
func ownership(d *value.Dict, st *syscall.Stat_t) {
	d.Set("uid", value.Int(st.Uid))
	d.Set("gid", value.Int(st.Gid))
	d.Set("owner", value.Int(st.Uid))
	d.Set("group", value.Int(st.Gid))
	if u, err := nss.UserOf(int(st.Uid)); err == nil {
		d.Set("owner", value.Str(u.Name))
	}
	if g, err := nss.GroupOf(int(st.Gid)); err == nil {
		d.Set("group", value.Str(g.Name))
	}
	d.Set("mode", value.Str(fmt.Sprintf("0%03o", st.Mode&0o7777)))
	d.Set("size", value.Int(st.Size))
	modification, change := times(st)
	d.Set("mtime", seconds(modification))
	d.Set("ctime", seconds(change))
}

func seconds(t syscall.Timespec) value.Value {
	return value.Float(float64(t.Nano()) / float64(time.Second))
}

var collectionName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_]+\.[A-Za-z0-9_]+$`)
})

// lookupCollectionVersion returns the versions of installed collections.
func lookupCollectionVersion(a *Answerer, c *lookupCall) ([]value.Value, error) {
	missing, ok := c.kw.Get("result_not_found")
	if !ok {
		missing = value.None{}
	}
	var out []value.Value
	for _, term := range c.texts() {
		if !collectionName().MatchString(term) {
			return nil, failLookup("AnsibleLookupError", "\"%s\" is not a FQCN", term)
		}
		dir := a.collection(c, term)
		if dir == "" {
			out = append(out, missing)
			continue
		}
		version, err := collectionVersion(dir)
		if err != nil {
			return nil, failLookup("AnsibleLookupError", "Error while loading metadata for %s: %v", term, err)
		}
		if version == "" {
			version = c.text("result_no_version", "*")
		}
		out = append(out, value.Str(version))
	}
	return out, nil
}

// collection returns the directory of an installed collection; "" if there is none.
func (a *Answerer) collection(c *lookupCall, name string) string {
	roots := []string{filepath.Join(string(c.dir), "collections")}
	if v, _, ok := a.setting("COLLECTIONS_PATHS"); ok {
		if l, ok := v.(*value.List); ok {
			for _, item := range l.Items {
				roots = append(roots, textOf(item))
			}
		}
	}
	if a.Collection != nil {
		if dir, ok := a.Collection(name); ok {
			return dir
		}
	}
	for _, root := range roots {
		dir := filepath.Join(root, "ansible_collections", strings.ReplaceAll(name, ".", "/"))
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return dir
		}
	}
	return ""
}

// collectionVersion reads the version of a collection out of what it says of itself; "" if it does not say.
func collectionVersion(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "MANIFEST.json"))
	if err == nil {
		var manifest struct {
			Info struct{ Version string } `json:"collection_info"`
		}
		err = json.Unmarshal(data, &manifest)
		return manifest.Info.Version, err
	}
	for _, name := range []string{"galaxy.yml", "galaxy.yaml"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		n, err := pyyaml.Load(data, pyyaml.Options{Text: value.KindStr})
		if err != nil {
			return "", err
		}
		v, ok, err := value.Item(n.Value, value.Str("version"))
		if err != nil || !ok || value.IsNone(v) {
			return "", err
		}
		return textOf(v), nil
	}
	return "", nil
}
