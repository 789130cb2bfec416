package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ui/prompts"
	"hark/controller/internal/ui/view"
)

// pullJob is one call of hark pull: it checks a repository out on this machine and plays a playbook of it here.
type pullJob struct {
	*app
	o                                  project.Options
	purge, ifChanged, force, full      bool
	acceptHostKey, verify, clean, subs bool
	sleep, dest, url, checkout, module string
	playbooks                          []string
}

// newPullCommand is ansible-pull.
func newPullCommand(a *app, name string) *cobra.Command {
	j := &pullJob{app: a}
	cmd := &cobra.Command{
		Use:   name,
		Short: "Check a repository out and play it on this machine",
		Long:  "Checks a repository of playbooks out and plays one of them on this machine.",
		Example: "  " + a.example(name) + " -U https://example.org/site.git\n  " + a.example(name) +
			" -U https://example.org/site.git -C stable -o web.yml",
		Annotations: map[string]string{"args": "[playbook.yml ...]"},
		Args:        cobra.ArbitraryArgs,
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.o.Verbosity)
	fs.connect(&j.o.Connect)
	fs.vault(&j.o.Vault)
	fs.extra(&j.o.Extra)
	fs.tags(&j.o.Tags)
	fs.inventory(&j.o.Inventory)
	fs.modules(&j.o.ModulePath)
	fs.becomePassword(&j.o.Become)
	fs.Toggle(&j.purge, "purge", "", false, "remove the checkout after the run")
	fs.Toggle(&j.ifChanged, "only-if-changed", "o", false, "play only if the checkout brought something new")
	fs.Text(&j.sleep, "sleep", "s", "", "SLEEP", "wait a random time before, up to so many seconds")
	fs.Toggle(&j.force, "force", "f", false, "play even if the checkout fails")
	fs.Text(&j.dest, "directory", "d", "", "DEST", "where to check out")
	fs.Text(&j.url, "url", "U", "", "URL", "the repository")
	fs.Toggle(&j.full, "full", "", false, "fetch the whole history")
	fs.Text(&j.checkout, "checkout", "C", "", "CHECKOUT", "the branch, tag or commit")
	fs.Toggle(&j.acceptHostKey, "accept-host-key", "", false, "accept the ssh host key of the repository's server")
	fs.Text(&j.module, "module-name", "m", "git", "MODULE_NAME", "the module that checks out: git, subversion, hg or bzr")
	fs.Toggle(&j.verify, "verify-commit", "", false, "check the signature of the commit")
	fs.Toggle(&j.clean, "clean", "", false, "throw away changes in the checkout")
	fs.Toggle(&j.subs, "track-subs", "", false, "take the newest commits of submodules")
	fs.Toggle(&j.o.Mode.Check, "check", "", false, "change nothing, show what would change")
	fs.Toggle(&j.o.Mode.Diff, "diff", "", a.cfg.Bool("DIFF_ALWAYS"), "show how files change")
	cmd.RunE = j.run
	return cmd
}

func (j *pullJob) run(cmd *cobra.Command, args []string) error {
	if err := argparse.CheckExclusive(cmd); err != nil {
		return err
	}
	if err := j.begin(cmd, j.o.Verbosity); err != nil {
		return err
	}
	nap, err := j.check()
	if err != nil {
		return err
	}
	j.playbooks = args
	j.display.Print(view.NoColor, "Starting Ansible Pull at "+time.Now().Format("2006-01-02 15:04:05"))
	j.display.Print(view.NoColor, strings.Join(j.args, " "))
	ctx := cmd.Context()
	if nap > 0 {
		j.display.Print(view.NoColor, fmt.Sprintf("Sleeping for %d seconds...", nap))
		if err := prompts.Wait(ctx, time.Duration(nap)*time.Second); err != nil {
			return err
		}
	}
	out, err := j.child(ctx, j.cfg.WorkingDir(), "ansible", j.checkoutArgs())
	switch {
	case err != nil && j.force:
		j.display.Warn("Unable to update repository. Continuing with (forced) run of playbook.")
	case err != nil:
		return err
	case j.ifChanged && !bytes.Contains(out, []byte(`"changed": true`)):
		j.display.Print(view.NoColor, "Repository has not changed, quitting.")
		return nil
	}
	return j.play(ctx)
}

// check checks the flags and gives the seconds to wait first.
func (j *pullJob) check() (int, error) {
	if j.dest == "" {
		j.dest = filepath.Join(j.cfg.Text("ANSIBLE_HOME"), "pull", hostNames()[0])
	}
	j.dest = j.cfg.Abs(j.dest)
	if info, err := os.Stat(j.dest); err == nil && !info.IsDir() {
		return 0, argparse.OptionsError(j.dest + " is not a valid or accessible directory.")
	}
	nap := 0
	if j.sleep != "" {
		most, err := strconv.Atoi(j.sleep)
		if err != nil {
			return 0, argparse.OptionsError(j.sleep + " is not a number.")
		}
		nap = rand.IntN(max(most, 0) + 1)
	}
	if j.url == "" {
		return 0, argparse.OptionsError("URL for repository not specified, use -h for help")
	}
	if choices := []string{"git", "subversion", "hg", "bzr"}; !slices.Contains(choices, j.module) {
		return 0, argparse.OptionsError(fmt.Sprintf("Unsupported repo module %s, choices are %s", j.module,
			strings.Join(choices, ",")))
	}
	registry, err := project.Registry(j.cfg, levelOf(j.app), j.display.Warn)
	if err != nil {
		return 0, err
	}
	if _, ok := registry.Get(j.module); !ok {
		return 0, argparse.OptionsError(fmt.Sprintf("module '%s' not found.\n", j.module))
	}
	return nap, nil
}

// hostNames returns the names of this machine, its full one first.
func hostNames() []string {
	name, _ := os.Hostname()
	short, _, _ := strings.Cut(name, ".")
	return unique([]string{name, short})
}

// hosts returns what a pull is limited to: this machine by all its names.
func (j *pullJob) hosts() string { return "localhost," + strings.Join(hostNames(), ",") + ",127.0.0.1" }

// commonArgs are for both of the commands that a pull runs.
func (j *pullJob) commonArgs() []string {
	args := []string{"-c", "local"}
	if j.o.Verbosity > 0 {
		args = append(args, "-"+strings.Repeat("v", j.o.Verbosity))
	}
	for _, e := range j.o.Extra {
		args = append(args, "-e", e)
	}
	return args
}

// inventories returns those of -i that exist: one that the checkout brings is not there for the checkout itself.
func (j *pullJob) inventories(dir string) []string {
	var args []string
	for _, i := range j.o.Inventory.Sources {
		path := i
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, err := os.Stat(path); err == nil || strings.Contains(i, ",") {
			args = append(args, "-i", i)
		}
	}
	return args
}

// checkoutArgs returns the arguments of the ad-hoc command that checks out.
func (j *pullJob) checkoutArgs() []string {
	args := j.inventories(j.cfg.WorkingDir())
	if args == nil {
		args = []string{"-i", "localhost,"}
		if python := pythonOfAnsible(j.app); python.ansible != "" { // as there: this machine's is known and not looked for
			args = append(args, "-e", "ansible_python_interpreter="+python.path)
		}
	}
	args = append(args, j.commonArgs()...)
	return append(args, "-m", j.module, "-a", strings.Join(j.moduleArgs(), " "), "all", "-l", j.hosts())
}

// moduleArgs returns the arguments of the module that checks out.
func (j *pullJob) moduleArgs() []string {
	source, version := "repo", "revision"
	if j.module == "git" || j.module == "bzr" {
		source, version = "name", "version"
	}
	args := []string{source + "=" + j.url, "dest=" + j.dest}
	add := func(on bool, text string) {
		if on {
			args = append(args, text)
		}
	}
	add(j.checkout != "", version+"="+j.checkout)
	switch j.module {
	case "git":
		add(j.acceptHostKey, "accept_hostkey=yes")
		add(j.o.Connect.KeyFile != "", "key_file="+j.o.Connect.KeyFile)
		add(j.verify, "verify_commit=yes")
		add(j.subs, "track_submodules=yes")
		add(!j.full, "depth=1")
	case "subversion":
		add(!j.full, "export=yes")
	}
	add(j.clean, "force=yes")
	return args
}

// play plays what was checked out, in its directory.
func (j *pullJob) play(ctx context.Context) error {
	books, err := j.choose()
	if err != nil {
		return err
	}
	args := append(j.commonArgs(), books...)
	add := func(flag string, values ...string) {
		for _, v := range values {
			args = append(args, flag, v)
		}
	}
	add("--vault-password-file", j.o.Vault.Files...)
	add("--vault-id", j.o.Vault.IDs...)
	add("--skip-tags", j.o.Tags.Skip...)
	add("-t", j.o.Tags.Only...)
	for flag, on := range map[string]bool{"--ask-become-pass": j.o.Become.AskPassword, "-C": j.o.Mode.Check,
		"-D": j.o.Mode.Diff} {
		if on {
			args = append(args, flag)
		}
	}
	if j.o.Inventory.Limit == "" {
		j.o.Inventory.Limit = j.hosts()
	}
	add("-l", j.o.Inventory.Limit)
	_, err = j.child(ctx, j.dest, "ansible-playbook", append(args, j.inventories(j.dest)...))
	if j.purge {
		if e := os.RemoveAll(j.dest); e != nil {
			j.display.Error(fmt.Sprintf("Failed to remove %s: %v", j.dest, e))
		}
	}
	return err
}

// choose returns the playbooks to play: those of the command line, else that of this machine, else local.yml.
func (j *pullJob) choose() ([]string, error) {
	names, all := j.playbooks, true
	if len(names) == 0 {
		all = false
		for _, host := range hostNames() {
			names = append(names, host+".yml")
		}
		names = append(names, "local.yml")
	}
	var books, missing []string
	for _, name := range names {
		path := filepath.Join(j.dest, name)
		f, err := os.Open(path)
		switch {
		case err == nil:
			_ = f.Close()
			books = append(books, path)
		case errors.Is(err, os.ErrNotExist):
			missing = append(missing, path+": File does not exist")
		default:
			missing = append(missing, path+": File is not readable")
		}
		if err == nil && !all {
			return books, nil
		}
	}
	if len(missing) == 0 {
		return books, nil
	}
	j.display.Warn(strings.Join(missing, "\n"))
	return nil, argparse.OptionsError("Could not find a playbook to run.")
}

// child runs another command of this program and shows what it prints, warnings and errors on standard output too: a
// job of cron's that drops that hears of nothing but a pull that could not begin. It is also given back.
func (j *pullJob) child(ctx context.Context, dir, name string, args []string) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot tell which program this is: %w", err)
	}
	j.display.Verbose(4, "", "EXEC: "+name+" "+strings.Join(args, " "))
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Args[0], cmd.Dir = name, dir
	cmd.Stdin, cmd.Stdout = j.term.In, io.MultiWriter(j.term.Out, &out)
	cmd.Stderr = cmd.Stdout
	var exit *exec.ExitError
	if err = cmd.Run(); errors.As(err, &exit) {
		return out.Bytes(), &quietError{max(exit.ExitCode(), exitError)}
	}
	return out.Bytes(), err
}
