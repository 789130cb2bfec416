package modtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/modules"
	"hark/modules/nss"
	"hark/modules/py/ident"
	"hark/modules/treesync"
)

// bench is the world of one case.
type bench struct {
	options  treesync.Options // of the place that was offered last
	c        *testCase
	dir, src string
	vars     map[string]string
	env      *modules.Env
	blobs    map[string]string // digest: file
	warnings []string
	sorted   []string
}

func newBench(t *testing.T, c *testCase, name string, o Options) *bench {
	t.Helper()
	b := &bench{c: c, dir: realDir(t), src: realDir(t), vars: map[string]string{}, blobs: map[string]string{}}
	maps.Copy(b.vars, o.Vars)
	if o.Tools != "" {
		b.vars["TOOLS"] = o.Tools
	}
	b.lay(t, b.dir, c.Files)
	b.lay(t, b.src, c.Source)
	sameAge(time.Now(), b.dir, b.src)
	environ := append(os.Environ(), "HOME="+b.dir, "LC_ALL=C")
	b.env = &modules.Env{
		Name: name, Release: c.Release, Check: c.Check, Diff: c.Diff, Verbosity: c.Verbosity, Environ: environ,
		Host:          "testhost",
		NamesVariable: ident.Python,
		Exec:          modules.HostExec(environ, nil),
		Warn:          func(f string, a ...any) { b.warnings = append(b.warnings, fmt.Sprintf(f, a...)) },
		Render:        b.render,
		Evaluate:      b.evaluate,
		RenderFile:    b.renderFile,
		Condition:     b.condition,
		Var:           b.variable,
		Option:        b.variable,
		Source:        b.source,
		Asks:          o.Asks,
		Open:          func(_ context.Context, digest string) (io.ReadCloser, error) { return os.Open(b.blobs[digest]) },
		Upload:        b.upload,
		Place:         b.offer,
		RemoteSum:     b.remoteSum,
		Tree:          b.listing,
		Local:         c.Local,
		Delegate:      c.Delegate,
	}
	b.env.Asks.VarsFile = b.varsFile
	if u, err := nss.Current(); err == nil {
		b.env.User = u.Name
	}
	if o.Tools != "" {
		UseTools(b.env, b.dir, o.Tools)
	}
	if o.Setup != nil {
		o.Setup(t, b.env, b.dir)
	}
	return b
}

func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// lay makes the files of a case; directories' modes come last, they may be closed.
func (b *bench) lay(t *testing.T, root string, files map[string]any) {
	t.Helper()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if err := b.layOne(filepath.Join(root, name), name, files[name]); err != nil {
			t.Fatal(err)
		}
	}
}

// sameAge gives all files the same times: what is laid may fall into two seconds, and some modules compare times.
// What lies in a closed directory keeps its own.
func sameAge(at time.Time, roots ...string) {
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err == nil && (e.IsDir() || e.Type().IsRegular()) {
				_ = os.Chtimes(path, at, at)
			}
			return nil
		})
	}
}

func (b *bench) layOne(path, name string, v any) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	spec, ok := v.(map[string]any)
	if !ok {
		spec = map[string]any{"content": v}
	}
	mode := fs.FileMode(0o644)
	if strings.HasSuffix(name, "/") {
		mode = 0o755
	}
	if m, ok := spec["mode"]; ok {
		n, err := strconv.ParseUint(fmt.Sprint(m), 8, 32)
		if err != nil {
			return err
		}
		mode = fs.FileMode(n)
	}
	if link, ok := spec["link"].(string); ok {
		return os.Symlink(b.fill(link).(string), path)
	}
	if strings.HasSuffix(name, "/") {
		return errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, mode))
	}
	text := ""
	if c := spec["content"]; c != nil {
		text, _ = b.fill(fmt.Sprint(c)).(string)
	}
	return errors.Join(os.WriteFile(path, []byte(text), 0o644), os.Chmod(path, mode))
}

// fill replaces $DIR and the like in every text.
func (b *bench) fill(v any) any {
	switch v := v.(type) {
	case string:
		v = strings.ReplaceAll(strings.ReplaceAll(v, "$DIR", b.dir), "$SRC", b.src)
		for name, val := range b.vars {
			v = strings.ReplaceAll(v, "$"+name, val)
		}
		return v
	case int:
		return int64(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = b.fill(x)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[b.fill(k).(string)] = b.fill(x)
		}
		return out
	}
	return v
}

// plain returns the result as users register it, with names for what differs from host to host.
func (b *bench) plain(t *testing.T, m *modules.Module, res modules.Result) map[string]any {
	t.Helper()
	raw, err := res.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []string{"stdout", "stderr"} {
		text, ok := got[stream].(string)
		if _, has := got[stream+"_lines"]; ok && !has && !m.Session {
			got[stream+"_lines"] = modules.Lines(text)
		}
	}
	return b.name("", got).(map[string]any)
}

func (b *bench) name(key string, v any) any {
	switch v := v.(type) {
	case string:
		if timeKeys(key) {
			return "$TIME"
		}
		v = passing().ReplaceAllString(v, "$$STAGED")
		v = backupName().ReplaceAllString(v, "$$BACKUP")
		if u, err := nss.Current(); err == nil && (key == "owner" || key == "pw_name") && v == u.Name {
			return "$USER"
		}
		if g, err := nss.GroupOf(os.Getegid()); err == nil && (key == "group" || key == "gr_name") && v == g.Name {
			return "$GROUP"
		}
		v = strings.ReplaceAll(strings.ReplaceAll(v, b.dir, "$DIR"), b.src, "$SRC")
		for name, val := range b.vars {
			v = strings.ReplaceAll(v, val, "$"+name)
		}
		return v
	case json.Number:
		if timeKeys(key) && key != "end" { // as a number it is a partition's
			return "$TIME"
		}
		if key == "uid" && v.String() == strconv.Itoa(os.Geteuid()) {
			return "$UID"
		}
		if key == "gid" && v.String() == strconv.Itoa(os.Getegid()) {
			return "$GID"
		}
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = b.name(key, v[i])
		}
		if slices.Contains(b.sorted, key) {
			sort.Slice(v, func(i, j int) bool { return modules.PyJSON(v[i]) < modules.PyJSON(v[j]) })
		}
	case map[string]any:
		named := make(map[string]any, len(v))
		for k, x := range v {
			shown, _ := b.name("", k).(string)
			named[shown] = b.name(k, x)
		}
		nameFileSystem(named)
		return named
	}
	return v
}

var (
	passing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[^ '"]*(/\.hark-|/\.ansible/tmp/|/hark-)[^ '"]*`)
	})
	backupName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[0-9]+\.[0-9]{4}-[0-9]{2}-[0-9]{2}@[0-9:]{8}~`)
	})
)

// timeKeys are keys whose values are times.
func timeKeys(key string) bool {
	switch key {
	case "atime", "mtime", "ctime", "start", "stop", "end", "delta", "elapsed":
		return true
	}
	return false
}

// nameFileSystem names what depends on the file system: numbers, flags, the size of directories.
func nameFileSystem(m map[string]any) {
	for _, key := range []string{"inode", "dev", "blocks", "block_size", "attr_flags", "attributes", "version"} {
		_, ok := m[key]
		_, path := m["dev"].(string)
		if ok && !(key == "dev" && path) {
			m[key] = "$FS"
		}
	}
	if m["state"] == "directory" || m["isdir"] == true {
		for _, key := range []string{"size", "nlink"} {
			if _, ok := m[key]; ok {
				m[key] = "$FS"
			}
		}
	}
}

// tree returns what the directory holds of the paths in like, in the same form.
func (b *bench) tree(like map[string]any) map[string]any {
	out := map[string]any{}
	for name, want := range like {
		out[name] = b.look(name, want)
	}
	return out
}

func (b *bench) look(name string, like any) any {
	root, rel := b.dir, name
	if rest, ok := strings.CutPrefix(name, "$SRC/"); ok {
		root, rel = b.src, rest
	}
	path := filepath.Join(root, rel)
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	spec, detailed := like.(map[string]any)
	if !detailed {
		if info.IsDir() {
			return ""
		}
		return b.content(path)
	}
	out := map[string]any{}
	for key := range spec {
		switch key {
		case "mode":
			out[key] = fmt.Sprintf("%04o", modeBits(info))
		case "link":
			link, _ := os.Readlink(path)
			out[key] = strings.ReplaceAll(link, b.dir, "$DIR")
		case "content":
			out[key] = b.content(path)
		case "dir":
			out[key] = info.IsDir()
		}
	}
	return out
}

func (b *bench) content(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(string(raw), b.dir, "$DIR")
}

func modeBits(info fs.FileInfo) uint32 {
	bits := uint32(info.Mode().Perm())
	for flag, bit := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if info.Mode()&flag != 0 {
			bits |= bit
		}
	}
	return bits
}

// snapshot is everything in the case's directory: mode, and content or link target.
func (b *bench) snapshot(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := fmt.Sprint(info.Mode())
		if info.Mode().IsRegular() {
			text += " " + b.content(path)
		} else if link, err := os.Readlink(path); err == nil {
			text += " -> " + link
		}
		all[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func digestOf(path string) (string, error) {
	raw, err := os.ReadFile(path)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}
