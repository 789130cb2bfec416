package modtest

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"gopkg.in/yaml.v3"

	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/treesync"
)

// render knows the texts of answers and "{{ name }}" for the case's variables; other text stays as it is.
func (b *bench) render(_ context.Context, v value.Value) (value.Value, error) {
	return b.rendered(value.Printed(v))
}

func (b *bench) evaluate(_ context.Context, expr value.Value) (value.Value, error) {
	return b.rendered("{{" + value.Printed(expr) + "}}")
}

func (b *bench) rendered(text string) (value.Value, error) {
	if v, ok := b.c.Answers[text]; ok {
		return b.answer(v)
	}
	if !strings.HasPrefix(text, "{{") {
		return value.UnsafeStr(text), nil
	}
	name := strings.Trim(text, "{} ")
	if v, ok := b.c.Vars[name]; ok {
		return b.filled(v), nil
	}
	return nil, fmt.Errorf("'%s' is undefined", name)
}

// caseError is an error that a case names, with its kind.
type caseError struct{ text, kind string }

func (e *caseError) Error() string { return e.text }

// Kind is for modules.ErrorKind.
func (e *caseError) Kind() string { return e.kind }

// answer returns a case's answer; a mapping with error, and perhaps kind, is an error.
func (b *bench) answer(v any) (value.Value, error) {
	if m, ok := v.(map[string]any); ok && m["error"] != nil {
		kind, _ := m["kind"].(string)
		return nil, &caseError{fmt.Sprint(m["error"]), kind}
	}
	return b.filled(v), nil
}

// filled is fill as a value.
func (b *bench) filled(v any) value.Value { return value.FromGo(b.fill(v), value.KindUnsafe) }

func (b *bench) renderFile(_ context.Context, src *modules.Source, _ modules.TemplateOptions) (string, error) {
	raw, err := os.ReadFile(b.blobs[src.Digest])
	if err != nil {
		return "", err
	}
	text := string(raw)
	for name, v := range b.c.Vars {
		text = strings.ReplaceAll(text, "{{ "+name+" }}", fmt.Sprint(v))
	}
	if i := strings.Index(text, "{{ "); i >= 0 {
		name, _, _ := strings.Cut(text[i+3:], " ")
		return "", &caseError{fmt.Sprintf("'%s' is undefined", name), "AnsibleUndefinedVariable"}
	}
	return text, nil
}

// varsFile reads a variables file of the case's source over the variables of q.Into.
func (b *bench) varsFile(ctx context.Context, q modules.VarsQuery) (modules.VarsFile, error) {
	src, err := b.source(ctx, "vars", q.Name, true)
	if err != nil {
		return modules.VarsFile{}, err
	}
	raw, err := os.ReadFile(src.Path)
	if err != nil {
		return modules.VarsFile{}, err
	}
	var content any
	if err := yaml.Unmarshal(raw, &content); err != nil {
		return modules.VarsFile{}, err
	}
	read, ok := content.(map[string]any)
	if !ok {
		return modules.VarsFile{Path: src.Path}, nil
	}
	all := q.Into.Copy()
	for _, name := range slices.Sorted(maps.Keys(read)) {
		all.Put(name, read[name])
	}
	return modules.VarsFile{Path: src.Path, Vars: all}, nil
}

func (b *bench) condition(_ context.Context, c value.Value) (bool, error) {
	text := value.Printed(c)
	v, ok := b.c.Answers[text]
	if !ok {
		return false, fmt.Errorf("the case has no answer for %q", text)
	}
	yes, err := b.answer(v)
	return err == nil && value.IsTrue(yes), err
}

func (b *bench) variable(_ context.Context, name string) (value.Value, bool, error) {
	v, ok := b.c.Vars[name]
	return b.filled(v), ok, nil
}

// source looks in the case's source directory, first under the kind's own.
func (b *bench) source(_ context.Context, kind, name string, _ bool) (*modules.Source, error) {
	tried := []string{filepath.Join(b.src, kind, name), filepath.Join(b.src, name)}
	if filepath.IsAbs(name) {
		tried = []string{name}
	}
	for _, path := range tried {
		if info, err := os.Stat(path); err == nil {
			return b.sourceAt(path, info)
		}
	}
	return nil, fmt.Errorf("cannot find %s in %s", name, strings.Join(tried, ", "))
}

func (b *bench) sourceAt(path string, info fs.FileInfo) (*modules.Source, error) {
	src := &modules.Source{Path: path, Size: info.Size(), Mode: uint32(info.Mode().Perm()), Dir: info.IsDir()}
	if !info.IsDir() {
		return src, b.blob(path, &src.Digest, &src.Sha1)
	}
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == path {
			return err
		}
		rel, _ := filepath.Rel(path, p)
		i, err := d.Info()
		if err != nil {
			return err
		}
		e := modules.SourceEntry{Rel: rel, Mode: uint32(i.Mode().Perm()), Size: i.Size(), Dir: d.IsDir()}
		if e.Link, err = os.Readlink(p); err != nil && !d.IsDir() {
			if err := b.blob(p, &e.Digest, &e.Sha1); err != nil {
				return err
			}
		}
		src.Entries = append(src.Entries, e)
		return nil
	})
	return src, err
}

func (b *bench) blob(path string, digest, sum *string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s := sha1.Sum(raw)
	*sum = hex.EncodeToString(s[:])
	*digest, err = digestOf(path)
	b.blobs[*digest] = path
	return err
}

// listing lists a path of the case's source, or what would be there.
func (b *bench) listing(_ context.Context, name string, q treesync.Query) (*treesync.Tree, error) {
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(b.src, name)
		if _, err := os.Stat(filepath.Join(b.src, "files", name)); err == nil {
			path = filepath.Join(b.src, "files", name)
		}
		if strings.HasSuffix(name, "/") {
			path += "/"
		}
	}
	var digest treesync.Digest
	if q.Digests {
		digest = func(path string, _ fs.FileInfo) (string, error) {
			sum, err := digestOf(path)
			b.blobs[sum] = path
			return sum, err
		}
	}
	return treesync.Scan(path, q, digest)
}

// offer notes what may change in a place.
func (b *bench) offer(_ context.Context, p modules.Place) (string, error) {
	b.options = p.Options
	return p.Root, nil
}

// unpack makes the changes of an archive of package treesync.
func (b *bench) unpack(dest string, mode uint32, r io.Reader) error {
	only := ""
	if mode&syscall.S_IFMT == syscall.S_IFREG {
		dest, only = filepath.Split(dest)
	}
	if err := os.MkdirAll(dest, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dest)
	if err != nil {
		return err
	}
	defer root.Close()
	archive, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return treesync.Unpack(root, treesync.Bounds{Only: only, Options: b.options, Size: int64(len(archive))},
		bytes.NewReader(archive))
}

func (b *bench) upload(_ context.Context, dest string, mode uint32, r io.Reader) error {
	if mode&syscall.S_IFMT != 0 {
		return b.unpack(dest, mode, r)
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return err
	}
	return os.WriteFile(dest, raw, fs.FileMode(mode))
}

func (b *bench) remoteSum(_ context.Context, dest string) (string, error) {
	if info, err := os.Stat(dest); err == nil && info.IsDir() {
		return "dir", nil
	}
	raw, err := os.ReadFile(dest)
	if os.IsNotExist(err) {
		return "", nil
	}
	s := sha1.Sum(raw)
	return hex.EncodeToString(s[:]), err
}
