package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/duties/checkout"
	"hark/controller/internal/duties/duty"
	"hark/controller/internal/fleet/hostservice"
	"hark/controller/internal/fleet/trust"
	"hark/playbook/level"
)

// keeperKey is where in its directory the service has its operator key.
var keeperKey = filepath.Join("home", "operator.nk")

// keeperService returns the keeper as a service of this machine.
func keeperService() hostservice.Service {
	return hostservice.Service{Name: "hark-keeper", Description: "hark keeper: holds hosts to their playbooks",
		Mark: keeperKey, Plain: true}
}

// keeperInstall is one call of hark keeper install.
type keeperInstall struct {
	*app
	verbosity                      int
	dir, project, keyring, access  string
	tags                           string
	poll                           time.Duration
	inventories, passwords, extras []string
	level, health                  string
	unsigned                       bool
}

func newKeeperInstallCommand(a *app) *cobra.Command {
	j := &keeperInstall{app: a}
	cmd := &cobra.Command{
		Use: "install", Short: "Install the keeper as a service of this machine and start it", Args: argparse.NoArgs,
		Long: "Installs a systemd service that runs the keeper with the given flags, as a user of its own (" +
			keeperService().Name + ") with an operator key of its own, and starts it. Run again with other flags it changes " +
			"the service. It needs root, and says what lets the keeper to the broker and to hosts.",
		Example: "  hark keeper install --project https://example.org/site.git#main --verify-tags /etc/hark/release-keys.gpg",
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.verbosity)
	fs.Text(&j.project, "project", "", ".", "DIR|URL#BRANCH", "the project")
	fs.Text(&j.keyring, "verify-tags", "", "", "KEYRING",
		"only what somebody has tagged whose public key is in this file (gpg --export)")
	fs.Text(&j.tags, "tag-names", "", "", "PATTERN", "only signed tags with such names, as with `hark keeper run`")
	fs.Toggle(&j.unsigned, "unsigned-requirements", "", false,
		"with --verify-tags: fetch what requirements.yml names, as with `hark keeper run`")
	fs.Span(&j.poll, "poll", time.Minute, "TIME", "how often to look whether the project has changed")
	fs.Text(&j.level, "level", "", "", "LEVEL", "language of the project, as with `hark keeper run`")
	fs.Text(&j.health, "health", "", "", "HOST:PORT", "where to answer GET /healthz, as with `hark keeper run`")
	fs.List(&j.inventories, "inventory", "i", "INVENTORY", "the inventory, in place of that of the project's settings")
	fs.List(&j.passwords, "vault-password-file", "", "FILE",
		"file with the password of vaults; it may be readable by root only")
	fs.List(&j.extras, "extra-vars", "e", "EXTRA_VARS",
		"additional variables as key=value or YAML/JSON, with @ from a file; all users of this machine can read them")
	fs.Text(&j.access, "access", "", "", "FILE",
		"access to the broker, as `hark broker admit` printed it for the keeper's key")
	fs.Text(&j.dir, "data", "", "/var/lib/hark-keeper", "DIR",
		"the directory of the keeper's own key and of what it fetches")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, j.verbosity); err != nil {
			return err
		}
		return j.install(cmd.Context())
	}
	return cmd
}

// install makes the service, and says what it needs yet.
func (j *keeperInstall) install(ctx context.Context) error {
	s, err := j.service()
	if err != nil {
		return err
	}
	access, err := j.readAccess()
	if err != nil {
		return err
	}
	if err := hostservice.Allowed(); err != nil {
		return fmt.Errorf("cannot install the service: %w", err)
	}
	if err := s.Claim(); err != nil {
		return fmt.Errorf("cannot install the service: %w", err)
	}
	keeper, _, err := trust.LoadOrCreate(filepath.Join(s.Data, keeperKey))
	if err != nil {
		return err
	}
	reaches, err := j.let(filepath.Join(s.Data, "home"), access)
	if err != nil {
		return err
	}
	if err := s.Install(ctx); err != nil {
		return err
	}
	fmt.Fprintf(j.term.Out, "keeper installed, its key is %s\n", keeper.Key)
	if !reaches {
		fmt.Fprintf(j.term.Out,
			"to reach a broker it needs access: hark broker admit %s > access.json; then install it again, with --access "+
				"access.json\n", keeper.Key)
	}
	fmt.Fprintf(j.term.Out,
		"to look, hosts must trust its key: hark key trust %s --check --until 90d\nto mend them too: hark key trust %[1]s\n"+
			"to read how hosts stand: hark key believe %[1]s\n"+
			"to let others read that, a console too: sudo -u %s env HARK_HOME=%s %s runs readers add NAME KEY\n",
		keeper.Key, s.Name, filepath.Join(s.Data, "home"), s.Program)
	return probe(ctx, s)
}

// service returns the service that the flags ask for.
func (j *keeperInstall) service() (hostservice.Service, error) {
	s := keeperService()
	var err error
	if s.Program, err = os.Executable(); err != nil {
		return s, fmt.Errorf("cannot find this program: %v", err)
	}
	s.Data, s.Arguments = absolute(j.app, j.dir), []string{"keeper", "run"}
	project := j.project
	if project != "" && isDirectory(absolute(j.app, project)) {
		project = absolute(j.app, project)
		s.Reads = append(s.Reads, filepath.Join(project, duty.FileName))
	}
	if dir, branch, ok := strings.Cut(project, "#"); ok && isDirectory(absolute(j.app, dir)) {
		project = absolute(j.app, dir) + "#" + branch
	}
	if dir := checkout.Repository(project); dir != "" {
		s.Reads = append(s.Reads, dir)
	}
	keyring := j.keyring
	if keyring != "" {
		keyring = absolute(j.app, keyring)
	}
	if err := errors.Join(checkout.Check(project, keyring), checkout.CheckNames(keyring, j.tags)); err != nil {
		return s, err
	}
	s.Arguments = append(s.Arguments, "--project", project)
	if keyring != "" {
		s.Arguments, s.Reads = append(s.Arguments, "--verify-tags", keyring), append(s.Reads, keyring)
	}
	if j.tags != "" {
		s.Arguments = append(s.Arguments, "--tag-names", j.tags)
	}
	if j.unsigned {
		s.Arguments = append(s.Arguments, "--unsigned-requirements")
	}
	if j.poll != time.Minute {
		s.Arguments = append(s.Arguments, "--poll", j.poll.String())
	}
	if j.level != "" {
		if _, err := level.Parse(j.level); err != nil {
			return s, &argparse.UsageError{Text: "argument --level: " + err.Error()}
		}
		s.Arguments = append(s.Arguments, "--level", j.level)
	}
	if j.health != "" {
		s.Arguments = append(s.Arguments, "--health", j.health)
	}
	for _, i := range j.inventories {
		if filepath.IsAbs(i) {
			s.Reads = append(s.Reads, i)
		}
		s.Arguments = append(s.Arguments, "-i", i)
	}
	for _, e := range j.extras {
		if file, ok := strings.CutPrefix(e, "@"); ok && filepath.IsAbs(file) {
			s.Reads = append(s.Reads, file)
		}
		s.Arguments = append(s.Arguments, "-e", e)
	}
	for _, path := range s.Reads {
		if _, err := os.Stat(path); err != nil {
			return s, fmt.Errorf("the keeper cannot read what it needs: %w", err)
		}
	}
	s.Credentials, err = j.credentials()
	return s, err
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// probeLimit is how long the project's repository has to answer.
const probeLimit = 30 * time.Second

// probe returns why the service cannot fetch its project, nil if it can.
func probe(ctx context.Context, s hostservice.Service) error {
	args := checkout.Probe(s.Arguments[slices.Index(s.Arguments, "--project")+1])
	if args == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	cmd, err := s.Command(ctx, "git", args...)
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, checkout.Environ...)
	out, err := cmd.CombinedOutput()
	switch text := strings.TrimSpace(string(out)); {
	case err == nil && text != "":
		return nil
	case err == nil:
		err = errors.New("it has no such branch")
	case text != "":
		err = errors.New(text)
	}
	return fmt.Errorf("the keeper is installed, but its user %s cannot fetch the project: %w", s.Name, err)
}

// credentials returns the files with the passwords of vaults, which may be root's only.
func (j *keeperInstall) credentials() ([]hostservice.Credential, error) {
	var all []hostservice.Credential
	for _, file := range j.passwords {
		path := absolute(j.app, file)
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("cannot read the vault password: %w", err)
		case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 != 0:
			return nil, fmt.Errorf("%s is no plain file: a service takes the password itself, and no program that tells it",
				path)
		}
		all = append(all, hostservice.Credential{Flag: "--vault-password-file", Path: path})
	}
	return all, nil
}

// readAccess reads the access to a broker, nil for none.
func (j *keeperInstall) readAccess() (*trust.Access, error) {
	if j.access == "" {
		return nil, nil
	}
	text, err := os.ReadFile(absolute(j.app, j.access))
	if err != nil {
		return nil, fmt.Errorf("cannot read the access: %w", err)
	}
	var access trust.Access
	if err := json.Unmarshal(text, &access); err != nil || access.URL == "" {
		return nil, fmt.Errorf("%s is not what `hark broker admit` prints", j.access)
	}
	return &access, nil
}

// let writes the access, if there is one, into the keeper's home, and reports whether there is one in the end.
func (j *keeperInstall) let(home string, access *trust.Access) (bool, error) {
	brokers, err := trust.OpenBrokers(home)
	if err != nil {
		return false, err
	}
	if access != nil {
		err = brokers.Put(*access)
	}
	return len(brokers.Brokers) > 0, err
}

func newKeeperUninstallCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "uninstall", Short: "Stop the keeper's service and remove it; its directory stays", Args: argparse.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			was, err := keeperService().Remove()
			switch {
			case err != nil:
				return err
			case !was:
				fmt.Fprintln(a.term.Out, "the keeper is not installed as a service")
			default:
				fmt.Fprintln(a.term.Out, "the keeper's service is removed; its directory with its key stays")
			}
			return nil
		},
	}
}
