package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"hark/agent/securefile"
	"hark/agent/version"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ansible/secrets"
	"hark/modules/dialect"
	"hark/modules/mask"
)

// begin is what every command does once its flags are read: it makes the display and says at -v
// which settings are in force.
func (a *app) begin(cmd *cobra.Command, verbosity int) error {
	a.screens.Tagged = levelOf(a).Has(dialect.UnwrappedMessages)
	if levelOf(a).Has(dialect.SecretsRedacted) {
		a.screens.Hidden = &mask.Masker{}
	}
	a.cfg, a.screens.Settings = a.cfg.At(levelOf(a)), a.screens.Settings.At(levelOf(a))
	if a.screens.Tagged {
		a.cfg = a.cfg.Newer()
	}
	d, err := a.screens.Open(verbosity)
	if err != nil {
		return err
	}
	a.display = d
	if err := guardHome(a); err != nil {
		return err
	}
	if verbosity >= 2 {
		d.Verbose(2, "", versionText(a, cmd.Root().Name()))
	}
	if a.cfg.File == "" {
		d.Verbose(1, "", "No config file found; using defaults")
	} else {
		d.Verbose(1, "", "Using "+a.cfg.File+" as config file")
	}
	for _, old := range a.cfg.Deprecated {
		d.Deprecate(old)
	}
	if verbosity > 0 && len(a.cfg.Unknown) > 0 {
		d.Warn("These entries of " + a.cfg.File + " mean nothing to hark and are ignored: " +
			strings.Join(a.cfg.Unknown, ", "))
	}
	a.hintSettings()
	return nil
}

// guardHome makes sure that nobody else can replace what lies in the operator's directory: keys and the record of
// agents.
func guardHome(a *app) error {
	home := a.fleet.Home
	err := securefile.Dir(home)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	st, bad := os.Stat(home)
	if bad != nil {
		return bad
	}
	if ownerOf(st) != os.Geteuid() {
		return fmt.Errorf("cannot use the directory of hark's keys: %w", err)
	}
	if bad := os.Chmod(home, st.Mode().Perm()&^0o022); bad != nil {
		return fmt.Errorf("cannot use the directory of hark's keys: %w", err)
	}
	a.display.Warn(fmt.Sprintf(
		"Others could write %s, where hark's keys and its record of agents lie. They no longer can; see that what is there "+
			"is yours", home))
	return nil
}

// ownerOf returns the owner of a file, -1 if that is not known.
func ownerOf(st fs.FileInfo) int {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return int(sys.Uid)
	}
	return -1
}

// example returns how a command is called in examples.
func (a *app) example(name string) string {
	if name == a.name {
		return name
	}
	return "hark " + name
}

// versionText returns what --version prints. Its first line is that of the Ansible whose behaviour hark has, since
// that is what scripts look at; the lines on Python are there where ansible-core is, since editors look there for its
// modules.
func versionText(a *app, name string) string {
	file := a.cfg.File
	if file == "" {
		file = "None"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s [core %s]\n", name, levelOf(a).CoreVersion())
	fmt.Fprintf(&b, "  config file = %s\n", file)
	fmt.Fprintf(&b, "  configured module search path = %s\n", printed(a.cfg.List("DEFAULT_MODULE_PATH")))
	python := a.python()
	if python.ansible != "" {
		fmt.Fprintf(&b, "  ansible python module location = %s\n", python.ansible)
	}
	fmt.Fprintf(&b, "  ansible collection location = %s\n", strings.Join(a.cfg.List("COLLECTIONS_PATHS"), ":"))
	fmt.Fprintf(&b, "  executable location = %s\n", executable(a))
	if python.ansible != "" {
		fmt.Fprintf(&b, "  python version = %s (%s)\n  jinja version = %s\n  libyaml = True\n", python.version, python.path,
			python.jinja())
	}
	l, origin := levelFrom(a)
	fmt.Fprintf(&b, "  language level = %s (%s)\n", l, origin)
	fmt.Fprintf(&b, "  hark version = %s", version.String())
	return b.String()
}

func executable(a *app) string {
	if path, err := exec.LookPath(a.args[0]); err == nil {
		return path
	}
	return a.args[0]
}

func versionFlag(a *app, cmd *cobra.Command) {
	cmd.Version = version.String()
	// to find the text takes a look at many files
	if slices.ContainsFunc(a.args, func(arg string) bool { return strings.HasPrefix(arg, "--v") }) {
		cmd.SetVersionTemplate(versionText(a, cmd.Name()) + "\n")
	}
	cmd.Flags().Bool("version", false, "show the version and where things are")
}

// keeper gathers secrets for a command.
func (a *app) keeper() secrets.Keeper {
	return secrets.Keeper{Settings: a.cfg, Console: a.term, Display: a.display}
}

// askPasswords asks for the passwords that the flags want.
func (a *app) askPasswords(ctx context.Context, o *project.Options) (err error) {
	o.Passwords, err = a.keeper().Passwords(ctx, secrets.Wanted{
		AskConnection: o.Connect.AskPassword, AskBecome: o.Become.AskPassword, ConnectionFile: o.Connect.PasswordFile,
		BecomeFile: o.Become.PasswordFile, Become: o.Become.Method,
	})
	return err
}
