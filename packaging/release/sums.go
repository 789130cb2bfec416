package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const sumsFile = "SHA256SUMS"

// digest is the SHA-256 of a file in hexadecimal digits.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// results are the files of the release that are downloaded, in order. What is in the repositories is signed there.
func (r *release) results() ([]string, error) {
	all, err := os.ReadDir(r.out)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range all {
		if f.Type().IsRegular() && !strings.HasPrefix(f.Name(), sumsFile) {
			names = append(names, f.Name())
		}
	}
	return names, nil
}

// sums writes SHA256SUMS.
func (r *release) sums() error {
	names, err := r.results()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range names {
		sum, err := digest(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, name)
	}
	return os.WriteFile(filepath.Join(r.out, sumsFile), []byte(b.String()), 0o644)
}
