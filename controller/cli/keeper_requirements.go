package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"hark/controller/config"
	"hark/controller/internal/ansible/galaxy"
	"hark/controller/internal/duties/checkout"
)

// requirementsWord makes this program the process that fetches what a keeper's project requires.
const requirementsWord = "keeper-requirements"

// requiredDir is where roles and collections lie in the copy of a commit. sumFile has the digest of the requirement
// files that named them.
const (
	requiredDir = ".hark-requirements"
	sumFile     = "sum"
)

// requirementsLimit is how long it may take to fetch it.
const requirementsLimit = 5 * time.Minute

// requirementFiles returns the files of a project, relative to it, that say what it requires. They are those of AWX.
func requirementFiles(dir string) []string {
	var out []string
	for _, name := range []string{"requirements", "roles/requirements", "collections/requirements"} {
		for _, ext := range []string{".yml", ".yaml"} {
			if _, err := os.Stat(filepath.Join(dir, name+ext)); err == nil {
				out = append(out, name+ext)
			}
		}
	}
	return out
}

// require fetches what the project in a directory requires, unless it is there. An earlier copy of the project with
// the same files of requirements gives what was fetched for it: two commits that require the same play the same.
func (k *keeping) require(ctx context.Context, dir string) error {
	into := filepath.Join(dir, requiredDir)
	files := requirementFiles(dir)
	if isDirectory(into) || len(files) == 0 || k.onlySigned() {
		return nil
	}
	sum, err := sumOf(dir, files)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, requiredDir+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if before := k.requiredBefore(sum); before != "" {
		err = checkout.CopyTree(before, tmp)
	} else {
		if k.fetching != dir {
			k.log.Info().Strs("files", files).Msg("fetching what the project requires")
			k.fetching = dir
		}
		if err = k.fetchRequired(ctx, dir, tmp); err == nil {
			err = os.WriteFile(filepath.Join(tmp, sumFile), []byte(sum), 0o600)
		}
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp, into)
}

// onlySigned reports whether only signed tags are played: the signature is on the files of requirements, and not on
// what they name.
func (k *keeping) onlySigned() bool { return k.keyring != "" && !k.unsigned }

// unfetched says, of a project that cannot be compiled, that nothing was fetched for it.
func (k *keeping) unfetched(dir string, err error) error {
	files := requirementFiles(dir)
	if err == nil || len(files) == 0 || !k.onlySigned() {
		return err
	}
	return fmt.Errorf("%w\nThe keeper fetches nothing that %s names, since no tag signs it: put it into the project, or "+
		"start the keeper with --unsigned-requirements", err, strings.Join(files, " or "))
}

// sumOf returns a digest of files.
func sumOf(dir string, files []string) (string, error) {
	h := sha256.New()
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// requiredBefore returns what was fetched for the same files of requirements, "" if that is nowhere.
func (k *keeping) requiredBefore(sum string) string {
	dirs, _ := k.source.Taken() // none is an answer
	for _, dir := range dirs {
		at := filepath.Join(dir, requiredDir)
		if text, err := os.ReadFile(filepath.Join(at, sumFile)); err == nil && string(text) == sum {
			return at
		}
	}
	return ""
}

// fetchRequired has a process fetch it that stands in the project, since files of requirements have relative paths.
// It asks nobody for passwords.
func (k *keeping) fetchRequired(ctx context.Context, dir, into string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this binary: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, requirementsLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, requirementsWord, into)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &said
	cmd.Env = append(append(os.Environ(), "PWD="+dir), checkout.Environ...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the keeper, who ends it
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	switch text := strings.TrimPrefix(strings.TrimSpace(said.String()), "hark: "); {
	case ctx.Err() != nil:
		return fmt.Errorf("cannot fetch what the project requires within %s", requirementsLimit)
	case err != nil:
		return errors.New(cmp.Or(text, "cannot fetch what the project requires: "+err.Error()))
	}
	return nil
}

// environ returns the variables with which the project is played from a directory.
func (k *keeping) environ(dir string) []string {
	if k.onlySigned() { // it may have been fetched before that was demanded
		return nil
	}
	return requiredEnviron(k.world, dir)
}

// requiredEnviron returns the variables with which a project is played from a directory, nil if nothing was fetched
// for it: what was comes before the paths of the settings, and behind what lies beside the playbook.
func requiredEnviron(w config.World, dir string) []string {
	at := filepath.Join(dir, requiredDir)
	if !isDirectory(at) {
		return nil
	}
	w.Dir = dir
	cfg, err := config.Load(w, "")
	if err != nil { // whoever plays says so
		return nil
	}
	paths := func(own string, list []string) string {
		return strings.Join(append([]string{filepath.Join(at, own)}, list...), ":")
	}
	return []string{"ANSIBLE_ROLES_PATH=" + paths("roles", cfg.List("DEFAULT_ROLES_PATH")),
		"ANSIBLE_COLLECTIONS_PATH=" + paths("collections", cfg.List("COLLECTIONS_PATHS"))}
}

// withEnviron returns an environment with variables beside it, or in place of its own.
func withEnviron(getenv func(string) (string, bool), more []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, pair := range more {
			if text, ok := strings.CutPrefix(pair, name+"="); ok {
				return text, true
			}
		}
		return getenv(name)
	}
}

// requiring is one call of the process that fetches.
type requiring struct {
	*galaxyJob
	into   string
	failed []string
}

// fetchRequirements is that process. It stands in the project.
func fetchRequirements(into string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	w := config.ThisWorld()
	a, err := newApp(System{Args: []string{"hark"}, In: strings.NewReader(""), Out: io.Discard, Err: io.Discard,
		NoTTY: true, World: w})
	if err != nil {
		return err
	}
	r := &requiring{into: into, galaxyJob: &galaxyJob{app: a, timeout: 60, noCache: true,
		keyring: a.cfg.Text("GALAXY_GPG_KEYRING"), noVerify: a.cfg.Bool("GALAXY_DISABLE_GPG_VERIFY"),
		count:        a.cfg.Text("GALAXY_REQUIRED_VALID_SIGNATURE_COUNT"),
		ignoreStatus: a.cfg.List("GALAXY_IGNORE_INVALID_SIGNATURE_STATUS_CODES")}}
	temp, err := os.MkdirTemp(into, "tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := r.open(temp, r); err != nil {
		return err
	}
	var said bytes.Buffer
	r.client.Errors = &said
	for _, file := range requirementFiles(w.Dir) {
		if err := r.file(ctx, file, w.Dir); err != nil {
			why := unchanging(reason(err, said.String()), temp)
			return fmt.Errorf("%s: cannot fetch what the project requires: %s", file, why)
		}
	}
	return nil
}

// reason returns why something could not be fetched, with what git said.
func reason(err error, git string) string {
	if git = strings.Join(strings.Fields(git), " "); git != "" {
		return err.Error() + " (" + git + ")"
	}
	return err.Error()
}

// unchanging returns a text without the names of temporary files: a reason is told again when it has changed.
func unchanging(text, temp string) string {
	return regexp.MustCompile(regexp.QuoteMeta(temp)+`[^\s'"`+"`"+`]*`).ReplaceAllString(text, "a temporary directory")
}

// file fetches what one file asks for.
func (r *requiring) file(ctx context.Context, file, dir string) error {
	var wanted *galaxy.RequirementsFile
	var err error
	if filepath.Dir(file) == "collections" {
		wanted, err = r.client.Wanted(nil, file, nil)
		if err == nil {
			wanted.Roles = nil
		}
	} else if wanted, err = r.client.ReadRequirements(file, true, true, []string{r.rolesDir()}); err == nil &&
		filepath.Dir(file) == "roles" {
		wanted.Collections = nil
	}
	if err != nil {
		return err
	}
	places := append([]string{filepath.Join(dir, "roles")}, r.cfg.List("DEFAULT_ROLES_PATH")...)
	wanted.Roles = slices.DeleteFunc(wanted.Roles, func(one *galaxy.Role) bool { return one.LiesIn(places) })
	if wanted.Collections, err = r.client.Absent(wanted.Collections, append([]string{filepath.Join(dir, "collections"),
		filepath.Join(r.into, "collections")}, r.cfg.List("COLLECTIONS_PATHS")...)); err != nil {
		return err
	}
	if err := r.client.InstallRoles(ctx, wanted.Roles, galaxy.RoleOptions{Paths: []string{r.rolesDir()}}); err != nil {
		return errors.New(cmp.Or(strings.Join(r.failed, "; "), err.Error())) // the error says what flags could do
	}
	if len(wanted.Collections) == 0 {
		return nil
	}
	return r.client.Install(ctx, wanted.Collections, galaxy.Root(filepath.Join(r.into, "collections")),
		galaxy.InstallOptions{})
}

func (r *requiring) rolesDir() string { return filepath.Join(r.into, "roles") }

// Say, Warn, Error and Verbose make it a galaxy.Screen that keeps what went wrong.
func (r *requiring) Say(string)          {}
func (r *requiring) Verbose(int, string) {}
func (r *requiring) Error(text string)   { r.failed = append(r.failed, strings.TrimPrefix(text, "- ")) }
func (r *requiring) Warn(text string)    { r.Error(text) }
