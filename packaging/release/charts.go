package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// charts makes the archive of the Helm chart, and the compose file with the version of the images.
func (r *release) charts() error {
	tag, err := r.form("oci")
	if err != nil {
		return err
	}
	dir := filepath.Join(r.root, "packaging/release/chart")
	files, err := filesBelow(dir)
	if err != nil {
		return err
	}
	var chart []entry
	for _, f := range files {
		if f.from == "" {
			continue
		}
		text, err := os.ReadFile(f.from)
		if err != nil {
			return err
		}
		chart = append(chart, entry{path: "hark/" + f.path, mode: 0o644, text: r.filled(text, tag)})
	}
	text, err := tarball(chart, r.made)
	if err != nil {
		return err
	}
	compose, err := os.ReadFile(filepath.Join(r.root, "packaging/release/compose.yaml"))
	if err != nil {
		return err
	}
	return errors.Join(writeGzip(filepath.Join(r.out, fmt.Sprintf("hark-chart_%s.tgz", r.version)), text),
		os.WriteFile(filepath.Join(r.out, "compose.yaml"), r.filled(compose, tag), 0o644))
}

// filled puts the version, the place of the images and the project's home into a file that has words for them.
func (r *release) filled(text []byte, tag string) []byte {
	for word, value := range map[string]string{"@VERSION@": r.version, "@TAG@": tag, "@HOME@": r.project.Home,
		"@HOST@": strings.TrimPrefix(r.project.Home, "https://")} {
		text = bytes.ReplaceAll(text, []byte(word), []byte(value))
	}
	return text
}

// scripts puts install.sh beside the packages, with the key and the address that it begins from.
func (r *release) scripts() error {
	text, err := os.ReadFile(filepath.Join(r.root, "packaging/install.sh"))
	if err != nil {
		return err
	}
	for line, value := range map[string]string{"KEY=": r.sign.allowed(), "HOME_PAGE=": r.project.Home} {
		if bytes.Count(text, []byte("\n"+line+"''\n")) != 1 {
			return fmt.Errorf("packaging/install.sh has no line %s''", line)
		}
		text = bytes.Replace(text, []byte("\n"+line+"''\n"), []byte("\n"+line+"'"+value+"'\n"), 1)
	}
	return os.WriteFile(filepath.Join(r.out, "install.sh"), text, 0o755)
}
