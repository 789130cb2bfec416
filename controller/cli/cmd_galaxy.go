package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/galaxy"
	"hark/controller/internal/ui/view"
)

// newGalaxyCommand is ansible-galaxy.
func newGalaxyCommand(a *app, name string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name,
		Short: "Fetch, build and check roles and collections",
		Long:  "Fetches, builds and checks roles and collections: from Galaxy servers, git, archives and directories.",
		Example: "  " + a.example(name) + " install -r requirements.yml\n  " + a.example(name) +
			" collection install community.general\n  " +
			a.example(name) + " role install git+https://git.example.com/nginx.git,v1.2",
		RunE:        argparse.NeedChoice,
		Annotations: map[string]string{"commands": "collection role", "action": "TYPE"},
		Args:        cobra.ArbitraryArgs,
	}
	a.flags(cmd).verbosity(new(int))
	collection := &cobra.Command{Use: "collection", Short: "Fetch, build and check collections",
		RunE: argparse.NeedChoice, Args: cobra.ArbitraryArgs,
		Annotations: map[string]string{"commands": "download init build install list verify", "action": "COLLECTION_ACTION"}}
	collection.AddCommand(newCollectionDownloadCommand(a), newGalaxyInitCommand(a, true), newCollectionBuildCommand(a),
		newCollectionInstallCommand(a), newCollectionListCommand(a), newCollectionVerifyCommand(a))
	role := &cobra.Command{Use: "role", Short: "Fetch roles", RunE: argparse.NeedChoice, Args: cobra.ArbitraryArgs,
		Annotations: map[string]string{"commands": "init remove list search info install", "action": "ROLE_ACTION"}}
	role.AddCommand(newGalaxyInitCommand(a, false), newRoleRemoveCommand(a), newRoleListCommand(a),
		newRoleSearchCommand(a), newRoleInfoCommand(a), newRoleInstallCommand(a))
	cmd.AddCommand(collection, role)
	return cmd
}

// impliedRole puts role where ansible-galaxy lets it be left out. Front is how many words come before the arguments
// of galaxy.
func impliedRole(name string, args []string) []string {
	front := 0
	if name == "hark" {
		if len(args) == 0 || args[0] != "galaxy" {
			return args
		}
		front = 1
	} else if name != "ansible-galaxy" {
		return args
	}
	rest := args[front:]
	if len(rest) == 0 || slices.Contains([]string{"-h", "--help", "--version"}, rest[0]) ||
		slices.Contains(rest, "role") || slices.Contains(rest, "collection") {
		return args
	}
	return slices.Concat(args[:front], []string{"role"}, rest)
}

// galaxyJob is one call of a galaxy command.
type galaxyJob struct {
	*app
	level                          int // of verbosity
	server, token                  string
	ignoreCerts, clear, noCache    bool
	timeout                        int
	args                           []string
	force, forceDeps, noDeps       bool
	ignoreErrors, pre, upgrade     bool
	offline, keepHistory, noVerify bool
	requirements, path, output     string
	paths                          []string
	keyring, count                 string
	signatures, ignoreStatus       []string
	format, skeleton, roleType     string
	query                          galaxy.RoleQuery
	// implied: ansible-galaxy was called without role or collection.
	implied bool

	client *galaxy.Client
	screen galaxy.Screen
}

// newGalaxySub makes a sub-command: its flags, those that all have, and its work with a client.
func newGalaxySub(a *app, use, short, args string, add func(flags, *galaxyJob),
	run func(context.Context, *galaxyJob) error) *cobra.Command {
	j := &galaxyJob{app: a}
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, Annotations: map[string]string{"args": args}}
	fs := a.flags(cmd)
	fs.Text(&j.server, "server", "s", "", "API_SERVER", "the Galaxy server: a URL, or a name of the configuration")
	fs.Text(&j.token, "token", "", "", "API_KEY", "the token for the server")
	fs.Toggle(&j.ignoreCerts, "ignore-certs", "c", false, "take any certificate")
	fs.Number(&j.timeout, "timeout", "", 60, "TIMEOUT", "seconds that an answer of the server may take")
	fs.verbosity(&j.level)
	add(fs, j)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := argparse.CheckExclusive(cmd); err != nil {
			return err
		}
		j.args = args
		if err := a.begin(cmd, j.level); err != nil {
			return err
		}
		j.implied = !slices.Contains(j.args, "role") && !slices.Contains(j.args, "collection")
		return galaxyError(j.with(cmd, run))
	}
	return cmd
}

// with runs the command with a client and takes away what that has fetched.
func (j *galaxyJob) with(cmd *cobra.Command, run func(context.Context, *galaxyJob) error) error {
	local := j.cfg.Text("DEFAULT_LOCAL_TMP")
	if err := os.MkdirAll(local, 0o700); err != nil {
		return ansibleerror.Errorf("cannot make the directory for temporary files: %v", err)
	}
	temp, err := os.MkdirTemp(local, "hark-galaxy-")
	if err != nil {
		return ansibleerror.Errorf("cannot make a temporary directory: %v", err)
	}
	defer os.RemoveAll(temp)
	if err := j.open(temp, galaxyScreen{j.display}); err != nil {
		return err
	}
	return run(cmd.Context(), j)
}

// open makes the client, which fetches into a directory that somebody else removes.
func (j *galaxyJob) open(temp string, screen galaxy.Screen) (err error) {
	j.screen = screen
	j.client = &galaxy.Client{Screen: screen, Errors: j.term.Err, Temp: temp, Insecure: j.insecure(),
		Offline: j.offline,
		Signing: galaxy.Signing{Keyring: j.keyring, Count: j.count, Ignore: j.ignoreStatus, Off: j.noVerify}}
	if j.keyring != "" {
		j.client.Signing.Keyring = j.resolve(j.keyring)
	}
	j.client.Servers, err = j.servers()
	return err
}

func (j *galaxyJob) insecure() bool { return j.ignoreCerts || j.cfg.Bool("GALAXY_IGNORE_CERTS") }

// galaxyError gives the errors of the package their exit codes.
func galaxyError(err error) error {
	var (
		options galaxy.OptionsError
		syntax  galaxy.SyntaxError
	)
	switch {
	case errors.As(err, &options):
		return argparse.OptionsError(string(options))
	case errors.As(err, &syntax):
		return &syntaxProblem{string(syntax)}
	}
	return err
}

// syntaxProblem is a file that has another form than it must, found outside of playbooks.
type syntaxProblem struct{ text string }

func (e *syntaxProblem) Error() string { return e.text }

// galaxyScreen is the display as the package wants it.
type galaxyScreen struct{ d *view.Display }

func (s galaxyScreen) Say(text string)                { s.d.Print(view.NoColor, text) }
func (s galaxyScreen) Warn(text string)               { s.d.Warn(text) }
func (s galaxyScreen) Error(text string)              { s.d.ErrorWrapped(text) }
func (s galaxyScreen) Verbose(level int, text string) { s.d.Verbose(level, "", text) }

// resolve makes a path absolute, with variables and ~ expanded.
func (j *galaxyJob) resolve(path string) string { return j.cfg.Abs(path) }

// given returns the paths of -p, and then those of the configuration.
func (j *galaxyJob) given(flag []string, configured []string) []string {
	var out []string
	for _, list := range flag {
		for _, p := range filepath.SplitList(list) {
			out = append(out, j.resolve(p))
		}
	}
	return append(out, configured...)
}

// servers returns those of the command line, of server_list, or the one that is set.
func (j *galaxyJob) servers() ([]*galaxy.Server, error) {
	var list []*galaxy.Server
	for _, name := range j.cfg.List("GALAXY_SERVER_LIST") {
		if name == "" {
			continue
		}
		o, err := j.configured(name)
		if err != nil {
			return nil, err
		}
		s, err := galaxy.NewServer(o, j.screen)
		if err != nil {
			return nil, err
		}
		if name == j.server {
			return []*galaxy.Server{s}, nil
		}
		list = append(list, s)
	}
	token := galaxy.Token{Text: j.token, File: j.cfg.Text("GALAXY_TOKEN_PATH")}
	o := j.serverOptions("cmd_arg", j.server)
	o.Auth = token
	if j.server == "" {
		if len(list) > 0 {
			return list, nil
		}
		o.Name, o.URL = "default", j.cfg.Text("GALAXY_SERVER")
	}
	s, err := galaxy.NewServer(o, j.screen)
	return []*galaxy.Server{s}, err
}

func (j *galaxyJob) serverOptions(name, url string) galaxy.ServerOptions {
	o := galaxy.ServerOptions{Name: name, URL: url, Insecure: j.insecure(),
		Timeout: time.Duration(j.timeout) * time.Second, ClearCache: j.clear}
	if !j.noCache {
		o.CacheDir = j.cfg.Text("GALAXY_CACHE_DIR")
	}
	return o
}
