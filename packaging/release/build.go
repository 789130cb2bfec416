package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// program is a program for one kind of machine.
type program struct{ name, system, arch string }

// agents are those that hark bootstrap puts on hosts, and that can be downloaded.
func agents() []program {
	return []program{{"hark-agent", "linux", "amd64"}, {"hark-agent", "linux", "arm64"}, {"hark-agent", "linux", "armv7"},
		{"hark-agent", "linux", "386"}}
}

// controllers are those that can be downloaded.
func controllers() []program {
	return []program{{"hark", "linux", "amd64"}, {"hark", "linux", "arm64"}, {"hark", "darwin", "amd64"},
		{"hark", "darwin", "arm64"}}
}

// path is where a program lies after build.
func (r *release) path(p program) string {
	return filepath.Join(r.work, "bin", p.system+"-"+p.arch, p.name)
}

// sources are the packages of the programs.
func sources(name string) string {
	return map[string]string{"hark": "./controller/hark", "hark-agent": "./agent/hark-agent"}[name]
}

// build compiles what the packages need; archives compile the rest. Then it has the programs write their manual pages
// and completions.
func (r *release) build() error {
	need := agents()
	for _, p := range controllers() {
		if p.system == "linux" && slices.Contains(r.controllers, p.arch) {
			need = append(need, p)
		}
	}
	for _, p := range need {
		if err := r.compile(p); err != nil {
			return err
		}
	}
	if err := r.words("hark", "1"); err != nil {
		return err
	}
	if err := r.words("hark-agent", "8"); err != nil {
		return err
	}
	return r.documents()
}

// compile builds a program, once. Nothing of the directory, of the machine or of the builder's settings gets into it.
func (r *release) compile(p program) error {
	if _, err := os.Stat(r.path(p)); err == nil {
		return nil
	}
	fmt.Printf("compiling %s for %s/%s\n", p.name, p.system, p.arch)
	return r.goBuild(r.path(p), p)
}

func (r *release) goBuild(to string, p program, flags ...string) error {
	arch := p.arch
	if arch == "armv7" {
		arch = "arm"
	}
	env := []string{
		"CGO_ENABLED=0", "GOOS=" + p.system, "GOARCH=" + arch, "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1",
		"GOARM64=v8.0", "GOARM=7", "GO386=sse2",
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X hark/agent/version.build=" + r.version,
		"-o", to}
	_, err := r.output(env, goTool(), append(append(args, flags...), sources(p.name))...)
	return err
}

func goTool() string {
	if tool := os.Getenv("GO"); tool != "" {
		return tool
	}
	return "go"
}

// words are the completions and manual pages of a program. The copy that writes them links one package more, and is
// not shipped.
func (r *release) words(name, section string) error {
	speaker := filepath.Join(r.work, name+"-that-writes")
	if err := r.goBuild(speaker, program{name, runtime.GOOS, runtime.GOARCH}, "-tags", "man"); err != nil {
		return err
	}
	env := []string{"HOME=/home/operator", "HARK_HOME=", "ANSIBLE_CONFIG=/dev/null", "PATH=/nonexistent"}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		text, err := r.output(env, speaker, "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.work, name+"."+shell), []byte(text+"\n"), 0o644); err != nil {
			return err
		}
	}
	dir := filepath.Join(r.work, "man", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := r.output(env, speaker, "man", dir); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*."+section))
	if err != nil || len(pages) == 0 {
		return fmt.Errorf("%s has written no manual pages: %v", name, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if err := writeGzip(page+".gz", bytes.ReplaceAll(text, []byte("/home/operator/"), []byte("~/"))); err != nil {
			return err
		}
	}
	return nil
}

// writeGzip writes a compressed file without a name and a time in it.
func writeGzip(path string, text []byte) error {
	packed, err := gzipped(text)
	if err != nil {
		return err
	}
	return os.WriteFile(path, packed, 0o644)
}

// documents copies the documentation and the packages' scripts with modes and times that do not depend on the
// checkout, and writes the packages' copyright and changelog.
func (r *release) documents() error {
	if err := r.copied("docs", "docs"); err != nil {
		return err
	}
	if err := r.copied("packaging/release/scripts", "scripts"); err != nil {
		return err
	}
	return r.debianPapers()
}

// copied copies a directory of the checkout to one of the work directory.
func (r *release) copied(from, to string) error {
	from = filepath.Join(r.root, from)
	var dirs []string
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		copied := filepath.Join(r.work, to, rel)
		if d.IsDir() {
			dirs = append(dirs, copied)
			return errors.Join(os.MkdirAll(copied, 0o755), os.Chmod(copied, 0o755))
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(copied, text, 0o644), os.Chmod(copied, 0o644), os.Chtimes(copied, r.made, r.made))
	})
	for _, dir := range dirs {
		err = errors.Join(err, os.Chtimes(dir, r.made, r.made))
	}
	return err
}

// debianPapers are the files that Debian wants in /usr/share/doc.
func (r *release) debianPapers() error {
	copyright := fmt.Sprintf(`Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: %s
Source: %s

Files: *
Copyright: %d %s
License: Apache-2.0
 On Debian systems the full text of the licence is in
 /usr/share/common-licenses/Apache-2.0.
`, r.project.Name, r.project.Home, r.made.Year(), r.project.Vendor)
	if err := os.WriteFile(filepath.Join(r.work, "copyright"), []byte(copyright), 0o644); err != nil {
		return err
	}
	version, err := r.form("deb")
	if err != nil {
		return err
	}
	for _, name := range packageNames() {
		entry := fmt.Sprintf("%s (%s) stable; urgency=medium\n\n  * Release %s. See docs/changes.md.\n\n -- %s  %s\n", name,
			version, r.version, r.project.Maintainer,
			r.made.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
		if err := writeGzip(filepath.Join(r.work, name+".changelog.gz"), []byte(entry)); err != nil {
			return err
		}
	}
	return nil
}

// packageNames are the packages of a release.
func packageNames() []string { return strings.Fields("hark hark-agent hark-ansible-names") }
