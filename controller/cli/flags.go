package cli

import (
	"fmt"
	"strings"
	"time"

	"hark/controller/internal/argparse"
	"hark/controller/internal/secrets"
	"hark/controller/internal/view"
)

// options are the flags that the commands share. Each command adds the groups that it takes.
type options struct {
	verbosity int
	adHoc     bool // one task for many hosts, whose results are shown whole

	privateKey, user, connection             string
	timeout                                  int
	sshCommon, sshExtra, scpExtra, sftpExtra string
	askPass                                  bool
	passFile                                 string

	become, becomeAskPass                    bool
	becomeMethod, becomeUser, becomePassFile string

	inventories []string
	listHosts   bool
	limit       string

	vaultIDs, vaultFiles []string
	askVault             bool

	tags, skipTags []string
	check, diff    bool
	extra          []string
	forks          int
	forksGiven     bool
	modulePath     []string
	forceHandlers  bool
	flushCache     bool
	taskTimeout    int
	straggler      time.Duration
	follow         bool

	poll, background int
	oneLine          bool
	tree             string
	baseDir          string

	broker    string
	ephemeral bool
	// agentBinaries are the agents that --ephemeral may bring, none for those beside hark.
	agentBinaries []string

	passwords secrets.Passwords
	// shown are the options as -vvvv shows them, line is the call as Ansible's own command has it.
	shown []view.Flag
	line  []string
}

func (a *app) baseFlags(fs argparse.Flags, o *options) {
	fs.Count(&o.verbosity, "verbose", "v", "print more: -v results, -vv where tasks stand, -vvv connections and arguments")
	o.verbosity = a.cfg.Int("DEFAULT_VERBOSITY")
}

func (a *app) connectFlags(fs argparse.Flags, o *options) {
	fs.Group = "Connection Options"
	fs.Text(&o.privateKey, "private-key", "", a.cfg.Text("DEFAULT_PRIVATE_KEY_FILE"), "PRIVATE_KEY_FILE", "ssh key, used by bootstrap")
	fs.Text(&o.user, "user", "u", a.cfg.Text("DEFAULT_REMOTE_USER"), "REMOTE_USER", "run tasks as this user where they do not become another")
	fs.Text(&o.connection, "connection", "c", a.cfg.Text("DEFAULT_TRANSPORT"), "CONNECTION", "how to reach hosts: smart is their agent, local is this machine")
	fs.Number(&o.timeout, "timeout", "T", a.cfg.Int("DEFAULT_TIMEOUT"), "TIMEOUT", "seconds that reaching a host may take")
	fs.Text(&o.sshCommon, "ssh-common-args", "", "", "SSH_COMMON_ARGS", "arguments of ssh, scp and sftp, used by bootstrap")
	fs.Text(&o.sftpExtra, "sftp-extra-args", "", "", "SFTP_EXTRA_ARGS", "arguments of sftp, accepted and not needed")
	fs.Text(&o.scpExtra, "scp-extra-args", "", "", "SCP_EXTRA_ARGS", "arguments of scp, accepted and not needed")
	fs.Text(&o.sshExtra, "ssh-extra-args", "", "", "SSH_EXTRA_ARGS", "arguments of ssh, used by bootstrap")
	fs.Group = ""
	fs.Toggle(&o.askPass, "ask-pass", "k", a.cfg.Bool("DEFAULT_ASK_PASS"), "ask for the password of the connection")
	fs.Text(&o.passFile, "connection-password-file", "", a.cfg.Text("CONNECTION_PASSWORD_FILE"), "CONNECTION_PASSWORD_FILE", "file with that password")
	fs.Exclusive("ask-pass", "connection-password-file")
}

func (a *app) runasFlags(fs argparse.Flags, o *options) {
	fs.Group = "Privilege Escalation Options"
	fs.Toggle(&o.become, "become", "b", a.cfg.Bool("DEFAULT_BECOME"), "run tasks as another user")
	fs.Text(&o.becomeMethod, "become-method", "", a.cfg.Text("DEFAULT_BECOME_METHOD"), "BECOME_METHOD", "how an agent that is not root changes the user")
	fs.Text(&o.becomeUser, "become-user", "", "", "BECOME_USER", fmt.Sprintf("who to become (default=%s)", a.cfg.Text("DEFAULT_BECOME_USER")))
	fs.Group = ""
	a.becomePasswordFlags(fs, o)
}

func (a *app) becomePasswordFlags(fs argparse.Flags, o *options) {
	fs.Toggle(&o.becomeAskPass, "ask-become-pass", "K", a.cfg.Bool("DEFAULT_BECOME_ASK_PASS"), "ask for the become password")
	fs.Text(&o.becomePassFile, "become-password-file", "", a.cfg.Text("BECOME_PASSWORD_FILE"), "BECOME_PASSWORD_FILE", "file with that password")
	fs.Exclusive("ask-become-pass", "become-password-file")
}

func (a *app) inventoryFlags(fs argparse.Flags, o *options) {
	fs.List(&o.inventories, "inventory", "i", "INVENTORY", "inventory file or directory, or a list of hosts with commas")
	fs.Toggle(&o.listHosts, "list-hosts", "", false, "show the hosts that match and do nothing else")
	fs.Text(&o.limit, "limit", "l", "", "SUBSET", "only hosts that match this pattern too")
}

func (a *app) vaultFlags(fs argparse.Flags, o *options) {
	fs.List(&o.vaultIDs, "vault-id", "", "VAULT_IDS", "a vault identity: label@file or label@prompt")
	fs.Toggle(&o.askVault, "ask-vault-password", "J", a.cfg.Bool("DEFAULT_ASK_VAULT_PASS"), "ask for the vault password")
	fs.QuietShort("ask-vault-password")
	fs.List(&o.vaultFiles, "vault-password-file", "", "VAULT_PASSWORD_FILES", "file with the vault password")
	fs.Exclusive("ask-vault-password", "vault-password-file")
}

func (a *app) tagFlags(fs argparse.Flags, o *options) {
	fs.List(&o.tags, "tags", "t", "TAGS", "only plays and tasks with these tags")
	fs.List(&o.skipTags, "skip-tags", "", "SKIP_TAGS", "only plays and tasks without these tags")
}

func (a *app) checkFlags(fs argparse.Flags, o *options) {
	fs.Toggle(&o.check, "check", "C", false, "change nothing, show what would change")
	fs.Toggle(&o.diff, "diff", "D", a.cfg.Bool("DIFF_ALWAYS"), "show how files change")
}

func (a *app) extraFlags(fs argparse.Flags, o *options) {
	fs.List(&o.extra, "extra-vars", "e", "EXTRA_VARS", "more variables: key=value, YAML, JSON, or @file")
}

func (a *app) forkFlags(fs argparse.Flags, o *options) {
	fs.Number(&o.forks, "forks", "f", a.cfg.Int("DEFAULT_FORKS"), "FORKS", "how many hosts may be at a task at once (default: all)")
}

func (a *app) moduleFlags(fs argparse.Flags, o *options) {
	fs.List(&o.modulePath, "module-path", "M", "MODULE_PATH", "directories of more modules, separated by colons")
}

func (a *app) brokerFlag(fs argparse.Flags, o *options) {
	fs.Text(&o.broker, "broker", "", a.cfg.Text("HARK_BROKER"), "URL", "the broker between this machine and the agents")
	a.own(fs, "broker")
}

func (a *app) cacheFlag(fs argparse.Flags, o *options) {
	fs.Toggle(&o.flushCache, "flush-cache", "", false, "forget the facts that are kept of every host")
}

// own keeps flags that Ansible 2.14 has not out of the help under Ansible's names.
func (a *app) own(fs argparse.Flags, names ...string) {
	for _, name := range names {
		fs.Lookup(name).Hidden = a.name != "hark"
	}
}

// split cuts the values of --tags and the like at commas; equal ones count once.
func split(values []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, v := range values {
		for _, tag := range strings.Split(v, ",") {
			if tag = strings.TrimSpace(tag); !seen[tag] {
				seen[tag] = true
				out = append(out, tag)
			}
		}
	}
	return out
}
