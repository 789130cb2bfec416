package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"hark/controller/config"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"

	"github.com/spf13/cobra"
)

// flags are those of a command, with the settings that are their defaults.
type flags struct {
	argparse.Flags
	cfg *config.Config
	// hark reports whether the program was not called by a name of Ansible's.
	hark bool
	home string // the operator's directory
	app  *app
	cmd  *cobra.Command
}

// flags declares the flags of a command.
func (a *app) flags(cmd *cobra.Command) flags {
	return flags{Flags: argparse.NewFlags(cmd.Flags()), cfg: a.cfg, hark: a.name == "hark", home: a.fleet.Home, app: a,
		cmd: cmd}
}

func (f flags) json(p *bool) { f.Toggle(p, "json", "", false, "print JSON") }

// data names the directory of a broker's authority.
func (f flags) data(p *string) {
	f.Text(p, "data", "", brokerData(f.home), "DIR", "the directory of the broker's keys")
}

// installedBroker is the directory of a broker that is a service of this machine.
const installedBroker = "/var/lib/hark-broker"

// brokerData returns the directory of the broker on this machine: the operator's own, or that of the service if there
// is one and no other.
func brokerData(home string) string {
	own := filepath.Join(home, "broker")
	if _, err := os.Stat(filepath.Join(own, "keys")); err == nil {
		return own
	}
	if _, err := os.Stat(installedBroker); err == nil {
		return installedBroker
	}
	return own
}

func (f flags) agentBinaries(p *[]string) {
	f.List(p, "agent-binary", "", "FILE",
		"the agent to put on hosts; one for each architecture (default: those beside hark)")
}

func (f flags) verbosity(n *int) {
	f.Count(n, "verbose", "v", "print more: -v results, -vv where tasks stand, -vvv connections and arguments")
	*n = f.cfg.Int("DEFAULT_VERBOSITY")
}

func (f flags) connect(o *project.Connect) {
	f.Group = "Connection Options"
	f.Text(&o.KeyFile, "private-key", "", f.cfg.Text("DEFAULT_PRIVATE_KEY_FILE"), "PRIVATE_KEY_FILE",
		"the ssh key, for hosts that are reached over ssh and for bootstrap")
	f.Text(&o.User, "user", "u", f.cfg.Text("DEFAULT_REMOTE_USER"), "REMOTE_USER",
		"log in as this user over ssh; an agent runs tasks as this user where they do not become another")
	f.Text(&o.Kind, "connection", "c", f.cfg.Text("DEFAULT_TRANSPORT"), "CONNECTION",
		"how to reach hosts: smart takes a host's agent if it has one and ssh otherwise, ssh, local (this machine), or a "+
			"connection plug-in")
	f.Number(&o.Timeout, "timeout", "T", f.cfg.Int("DEFAULT_TIMEOUT"), "TIMEOUT", "seconds that reaching a host may take")
	f.Text(&o.SSHCommon, "ssh-common-args", "", "", "SSH_COMMON_ARGS",
		"more arguments of ssh, for runs over ssh and bootstrap")
	f.Text(&o.SFTPExtra, "sftp-extra-args", "", "", "SFTP_EXTRA_ARGS", "accepted and not needed: hark uses no sftp")
	f.Text(&o.SCPExtra, "scp-extra-args", "", "", "SCP_EXTRA_ARGS", "accepted and not needed: hark uses no scp")
	f.Text(&o.SSHExtra, "ssh-extra-args", "", "", "SSH_EXTRA_ARGS",
		"more arguments of ssh, for runs over ssh and bootstrap")
	f.completeFlag("connection",
		func(*completion) []string { return []string{"smart", "ssh", "local", "docker", "podman"} })
	f.Group = ""
	f.Toggle(&o.AskPassword, "ask-pass", "k", f.cfg.Bool("DEFAULT_ASK_PASS"), "ask for the password of the connection")
	f.Text(&o.PasswordFile, "connection-password-file", "", f.cfg.Text("CONNECTION_PASSWORD_FILE"),
		"CONNECTION_PASSWORD_FILE", "file with that password")
	f.Exclusive("ask-pass", "connection-password-file")
}

func (f flags) become(o *project.Become) {
	f.Group = "Privilege Escalation Options"
	f.Toggle(&o.On, "become", "b", f.cfg.Bool("DEFAULT_BECOME"), "run tasks as another user")
	f.Text(&o.Method, "become-method", "", f.cfg.Text("DEFAULT_BECOME_METHOD"), "BECOME_METHOD",
		"how to become another user, where the agent or the ssh user is not root")
	f.Text(&o.User, "become-user", "", "", "BECOME_USER", fmt.Sprintf("who to become (default=%s)",
		f.cfg.Text("DEFAULT_BECOME_USER")))
	f.Group = ""
	f.completeFlag("become-method", func(c *completion) []string { return knownWords(c.app).Becomes })
	f.becomePassword(o)
}

func (f flags) becomePassword(o *project.Become) {
	f.Toggle(&o.AskPassword, "ask-become-pass", "K", f.cfg.Bool("DEFAULT_BECOME_ASK_PASS"), "ask for the become password")
	f.Text(&o.PasswordFile, "become-password-file", "", f.cfg.Text("BECOME_PASSWORD_FILE"), "BECOME_PASSWORD_FILE",
		"file with that password")
	f.Exclusive("ask-become-pass", "become-password-file")
}

func (f flags) inventory(o *project.Inventory) {
	f.List(&o.Sources, "inventory", "i", "INVENTORY", "inventory file or directory, or a list of hosts with commas")
	f.Toggle(&o.ListHosts, "list-hosts", "", false, "show the hosts that match and do nothing else")
	f.Text(&o.Limit, "limit", "l", "", "SUBSET", "only hosts that match this pattern too")
	f.completeFlag("limit", func(c *completion) []string { return c.patterns() })
}

func (f flags) vault(o *project.Vault) {
	f.List(&o.IDs, "vault-id", "", "VAULT_IDS", "a vault identity: label@file or label@prompt")
	f.Toggle(&o.Ask, "ask-vault-password", "J", f.cfg.Bool("DEFAULT_ASK_VAULT_PASS"), "ask for the vault password")
	f.QuietShort("ask-vault-password")
	f.List(&o.Files, "vault-password-file", "", "VAULT_PASSWORD_FILES", "file with the vault password")
	f.Exclusive("ask-vault-password", "vault-password-file")
}

func (f flags) tags(o *project.Tags) {
	f.List(&o.Only, "tags", "t", "TAGS", "only plays and tasks with these tags")
	f.List(&o.Skip, "skip-tags", "", "SKIP_TAGS", "only plays and tasks without these tags")
	f.completeFlag("tags", func(c *completion) []string { return c.tags() })
	f.completeFlag("skip-tags", func(c *completion) []string { return c.tags() })
}

func (f flags) mode(o *project.Mode) {
	f.Toggle(&o.Check, "check", "C", false, "change nothing, show what would change")
	f.Toggle(&o.Diff, "diff", "D", f.cfg.Bool("DIFF_ALWAYS"), "show how files change")
}

func (f flags) extra(o *[]string) {
	f.List(o, "extra-vars", "e", "EXTRA_VARS", "more variables: key=value, YAML, JSON, or @file")
}

func (f flags) forks(o *project.Forks) {
	f.Number(&o.Number, "forks", "f", f.cfg.Int("DEFAULT_FORKS"), "FORKS",
		"how many hosts may be at a task at once (default: all, unless the settings say so)")
}

func (f flags) modules(o *[]string) {
	f.List(o, "module-path", "M", "MODULE_PATH", "directories of more modules, separated by colons")
}

func (f flags) broker(o *string) {
	f.Text(o, "broker", "", f.cfg.Text("HARK_BROKER"), "URL", "the broker between this machine and the agents")
	f.own("broker")
}

func (f flags) flushCache(o *bool) {
	f.Toggle(o, "flush-cache", "", false, "forget the facts that are kept of every host")
}

// own keeps flags that Ansible 2.14 has not out of the help under Ansible's names.
func (f flags) own(names ...string) {
	for _, name := range names {
		f.Lookup(name).Hidden = !f.hark
	}
}
