package main

import (
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// packedIn makes all packages, with small files in place of programs, manual pages and completions, from a copy of
// the checkout that was made with another umask at another time. It returns the digests.
func packedIn(t *testing.T, umask string, at time.Time) map[string]string {
	t.Helper()
	from, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "checkout-of-"+umask)
	r := &release{
		root: root, out: filepath.Join(t.TempDir(), "out-"+umask), work: filepath.Join(t.TempDir(), "work"), version: testVersion,
		made: time.Unix(1790000000, 0).UTC(), controllers: []string{"amd64", "arm64"},
		project: project{Name: "hark", Vendor: "The hark project", Maintainer: "hark <hark@hark.example>", Home: "https://hark.example"},
	}
	must(t, "sh", "-c", `umask `+umask+`; mkdir -p "$1" "$2" && cd "$3" && tar c LICENSE README.md docs packaging/release agent/hark-agent agent/wire agent/version |
		tar x -C "$1" --no-same-permissions`, "copy", root, r.out, from)
	var made []string
	for _, p := range append(agents(), controllers()...) {
		made = append(made, r.path(p))
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		made = append(made, filepath.Join(r.work, "hark."+shell), filepath.Join(r.work, "hark-agent."+shell))
	}
	made = append(made, filepath.Join(r.work, "man/hark/hark.1.gz"), filepath.Join(r.work, "man/hark-agent/hark-agent.8.gz"))
	for _, path := range made {
		must(t, "sh", "-c", `umask `+umask+`; mkdir -p "$(dirname "$1")" && basename "$1" >"$1"`, "make", path)
	}
	mask, err := strconv.ParseInt(umask, 8, 32)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Umask(syscall.Umask(int(mask)))
	t.Chdir(filepath.Join(root, "packaging/release"))
	t.Setenv("VERSION", testVersion)
	for _, dir := range []string{root, r.work} {
		must(t, "sh", "-c", `find "$1" -exec touch -h -d "$2" {} +`, "touch", dir, at.Format(time.RFC3339))
	}
	if err := r.documents(); err != nil {
		t.Fatal(err)
	}
	if err := r.packages(); err != nil {
		t.Fatal(err)
	}
	return digests(t, r.out)
}

// TestPackagesAreTheSameInAnyDirectory: neither a directory nor the times and modes of files in a checkout get into a
// package.
func TestPackagesAreTheSameInAnyDirectory(t *testing.T) {
	first := packedIn(t, "022", time.Unix(1600000000, 0))
	second := packedIn(t, "077", time.Unix(1700000000, 0))
	if len(first) < 15 {
		t.Errorf("there are %d packages", len(first))
	}
	for name, sum := range first {
		if second[name] != sum {
			t.Errorf("%s differs", name)
		}
	}
}

// TestWhoMakesThePackagesCanBeSet: whoever publishes a build of his own says so without a change of the checkout.
func TestWhoMakesThePackagesCanBeSet(t *testing.T) {
	p, err := readProject("project.yaml")
	if err != nil || p.Name != "hark" || p.Vendor == "" {
		t.Fatalf("%+v, %v", p, err)
	}
	t.Setenv("HARK_RELEASE_HOME", "https://packages.example.org/hark")
	t.Setenv("HARK_RELEASE_MAINTAINER", "Anna <anna@example.org>")
	p, err = readProject("project.yaml")
	if err != nil || p.Home != "https://packages.example.org/hark" || p.Maintainer != "Anna <anna@example.org>" || p.Vendor != "The hark project" {
		t.Errorf("%+v, %v", p, err)
	}
	t.Setenv("HARK_RELEASE_HOME", "ftp://example.org")
	if _, err := readProject("project.yaml"); err == nil {
		t.Error("a home that is no https is taken")
	}
}
