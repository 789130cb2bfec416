// Command release makes everything that a release of hark is: packages, archives, repositories, images, what they are
// made of and where they come from, all signed. The same commit and the same key give the same bytes in any
// directory, on any machine with the same Go.
//
// It is a module of its own, so that nothing of the libraries for these formats is linked into hark.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// release is one run of the program.
type release struct {
	// root is the checkout, out the directory of the results, work one for what is made on the way.
	root, out, work string
	// version is the semantic version, made the time of the commit.
	version string
	made    time.Time
	project project
	sign    *signer
	// controllers are the architectures for which there are packages.
	controllers []string
}

func main() {
	out := flag.String("o", "bin/release", "directory of the results; what is in it is removed")
	only := flag.Bool("packages", false, "make only packages and their SHA256SUMS, without signatures")
	archs := flag.String("arch", "amd64,arm64", "architectures of the packages")
	flag.Parse()
	if err := run(*out, strings.Split(*archs, ","), *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(out string, archs []string, only bool) error {
	r, err := begin(out, archs)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	steps := []func() error{r.build, r.packages, r.sums}
	if !only {
		if r.sign, err = openSigner(os.Getenv(keyVariable), r.made); err != nil {
			return err
		}
		steps = []func() error{
			r.build, r.packages, r.archives, r.aptRepository, r.rpmRepository, r.images, r.charts, r.scripts, r.keys, r.bom,
			r.provenance, r.sums, r.signSums,
		}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	fmt.Printf("hark %s is in %s\n", r.version, r.out)
	return nil
}

func begin(out string, archs []string) (*release, error) {
	r := &release{controllers: archs}
	var err error
	if r.root, err = filepath.Abs("../.."); err != nil {
		return nil, err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	if r.version, err = r.form("semver"); err != nil {
		return nil, err
	}
	if r.made, err = r.time(); err != nil {
		return nil, err
	}
	if r.project, err = readProject("project.yaml"); err != nil {
		return nil, err
	}
	if err := empty(r.out); err != nil {
		return nil, err
	}
	r.work, err = os.MkdirTemp("", "release")
	return r, err
}

// empty makes an empty directory. It removes what another run has left, and nothing else.
func empty(dir string) error {
	had, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, sumsFile)); len(had) > 0 && err != nil {
		return fmt.Errorf("%s has files and no %s: it is not of an earlier release, so it is not emptied", dir, sumsFile)
	}
	return errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755))
}

// form is the version as a kind of packages writes it.
func (r *release) form(kind string) (string, error) {
	return r.output(nil, filepath.Join(r.root, "packaging/release/version"), kind)
}

// time is that of the commit; SOURCE_DATE_EPOCH is another one, in seconds.
func (r *release) time() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = r.output(nil, "git", "-c", "safe.directory=*", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, fmt.Errorf("cannot find the time of the commit; SOURCE_DATE_EPOCH gives one: %w", err)
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q: want seconds", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// output runs a program in the checkout, with settings beside the environment, and gives what it prints.
func (r *release) output(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), env...)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
