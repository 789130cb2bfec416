//go:build content

// Package content holds modules and plug-ins in Python to what Ansible makes of them, with whatever ansible-core is
// installed.
package content

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hark/playbook/foreign"
)

// ansible is the installation that is tried: a virtual environment (HARK_CONTENT_ANSIBLE), or the machine's.
type ansible struct {
	prefix string
	// home holds its Python packages.
	home string
}

func installed(t *testing.T) ansible {
	t.Helper()
	prefix := os.Getenv("HARK_CONTENT_ANSIBLE")
	for _, home := range foreign.PythonDirs(func(name string) string { return map[string]string{"VIRTUAL_ENV": prefix}[name] }, "") {
		if _, err := os.Stat(filepath.Join(home, "ansible", "release.py")); err == nil {
			return ansible{prefix, home}
		}
	}
	t.Fatal("there is no ansible-core here: install one, or name a virtual environment in HARK_CONTENT_ANSIBLE")
	return ansible{}
}

// program is one of its commands.
func (a ansible) program(name string) string {
	if a.prefix == "" {
		return name
	}
	return filepath.Join(a.prefix, "bin", name)
}

// python is its interpreter.
func (a ansible) python() string {
	if a.prefix == "" {
		return "/usr/bin/python3"
	}
	return filepath.Join(a.prefix, "bin", "python3")
}

// collections are where collections lie: HARK_COLLECTIONS, or beside it.
func (a ansible) collections() string {
	if dir := os.Getenv("HARK_COLLECTIONS"); dir != "" {
		return dir
	}
	return a.home
}

// collection finds one.
func (a ansible) collection(name string) (string, bool) {
	dir := filepath.Join(a.collections(), "ansible_collections", filepath.Join(strings.Split(name, ".")...))
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// modules are the Python files of its modules and those of collections, every step-th of them.
func (a ansible) modules(t *testing.T, step int) []foreign.Module {
	t.Helper()
	var found []foreign.Module
	add := func(name, path string) {
		if strings.HasSuffix(path, ".py") && filepath.Base(path) != "__init__.py" {
			found = append(found, foreign.Module{Name: name + "." + strings.TrimSuffix(filepath.Base(path), ".py"), Path: path})
		}
	}
	core, _ := filepath.Glob(filepath.Join(a.home, "ansible", "modules", "*.py"))
	for _, path := range core {
		add("ansible.builtin", path)
	}
	roots, _ := filepath.Glob(filepath.Join(a.collections(), "ansible_collections", "*", "*", "plugins", "modules"))
	for _, root := range roots {
		dir := filepath.Dir(filepath.Dir(root))
		name := filepath.Base(filepath.Dir(dir)) + "." + filepath.Base(dir)
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				add(name, path)
			}
			return nil
		})
	}
	var some []foreign.Module
	for i := 0; i < len(found); i += step {
		some = append(some, found[i])
	}
	return some
}

// TestPacksAreAnsibles packs modules as Ansible does: HARK_STEP says of how many modules one is looked at.
func TestPacksAreAnsibles(t *testing.T) {
	step, err := strconv.Atoi(os.Getenv("HARK_STEP"))
	if err != nil {
		step = 1
	}
	a := installed(t)
	list := a.modules(t, step)
	if len(list) == 0 {
		t.Fatal("there are no modules")
	}
	var lines strings.Builder
	for _, m := range list {
		fmt.Fprintln(&lines, m.Name, m.Path)
	}
	cmd := exec.Command(a.python(), "packs.py")
	cmd.Stdin, cmd.Stderr = strings.NewReader(lines.String()), os.Stderr
	cmd.Env = append(os.Environ(), "PYTHONPATH="+a.home, "ANSIBLE_COLLECTIONS_PATH="+a.collections(), "ANSIBLE_COLLECTIONS_PATHS="+a.collections(),
		"PYTHONDONTWRITEBYTECODE=1", "ANSIBLE_DEPRECATION_WARNINGS=0", "PYTHONWARNINGS=ignore")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	p := &foreign.Packer{Homes: []string{a.home}, Collections: a.collection}
	said := bufio.NewScanner(bytes.NewReader(out))
	said.Buffer(nil, 1<<20)
	for i := 0; said.Scan(); i++ {
		comparePack(t, p, list[i], said.Bytes())
	}
}

func comparePack(t *testing.T, p *foreign.Packer, m foreign.Module, line []byte) {
	t.Helper()
	var want struct {
		Style, Error string
		Files        []string
	}
	if err := json.Unmarshal(line, &want); err != nil {
		t.Fatal(err)
	}
	raw, err := p.Pack(m)
	switch {
	case want.Error != "":
		if err == nil {
			t.Errorf("%s: Ansible refuses it: %s", m.Name, want.Error)
		}
		return
	case err != nil:
		if want.Style == "python" || !strings.Contains(err.Error(), "PowerShell") {
			t.Errorf("%s: %v", m.Name, err)
		}
		return
	case want.Style != "python":
		return
	}
	got := members(t, raw)
	for _, file := range want.Files {
		if !slices.Contains(got, file) {
			t.Errorf("%s: %s is not packed", m.Name, file)
		}
	}
	own := strings.Join(strings.Split(m.Path, "/")[len(strings.Split(m.Path, "/"))-2:], "/")
	for _, file := range got {
		if !slices.Contains(want.Files, file) && !strings.HasSuffix(file, own) && !strings.HasSuffix(file, "/__init__.py") && file != "manifest.json" {
			t.Errorf("%s: %s is packed, by Ansible not", m.Name, file)
		}
	}
}

func members(t *testing.T, pack []byte) []string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(pack), int64(len(pack)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	return names
}
