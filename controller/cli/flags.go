package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

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

	passwords passwords
	// shown are the options as -vvvv shows them, line is the call as Ansible's own command has it.
	shown []view.Flag
	line  []string
}

// group is a set of flags with how their help is titled.
const (
	groupAnnotation   = "group"   // the title
	metavarAnnotation = "metavar" // what the value is called in the usage
	excludeAnnotation = "exclude" // flags of the same word exclude each other
	// longFirstAnnotation: the long name is the one that the usage shows; quietShortAnnotation: the short one is taken
	// and not shown, being of a later Ansible.
	longFirstAnnotation  = "long-first"
	quietShortAnnotation = "quiet-short"
)

// flagSet declares flags with what argparse knows of them and pflag does not.
type flagSet struct {
	*pflag.FlagSet
	group string
}

func (f flagSet) note(name, key string, values ...string) {
	_ = f.SetAnnotation(name, key, values) // the flag was just declared
}

// meta titles a flag, and names its value.
func (f flagSet) meta(name, metavar string) {
	f.note(name, metavarAnnotation, metavar)
	if f.group != "" {
		f.note(name, groupAnnotation, f.group)
	}
}

func (f flagSet) text(p *string, name, short, value, metavar, usage string) {
	f.StringVarP(p, name, short, value, usage)
	f.meta(name, metavar)
}

func (f flagSet) number(p *int, name, short string, value int, metavar, usage string) {
	f.IntVarP(p, name, short, value, usage)
	f.meta(name, metavar)
}

// span is a duration. Its help says how it is written, and what it is by itself unless that is 0.
func (f flagSet) span(p *time.Duration, name string, def time.Duration, metavar, usage string) {
	usage += ", such as " + spans
	if def != 0 {
		usage += fmt.Sprintf(" (default: %s)", spanText(def))
	}
	f.DurationVar(p, name, def, usage)
	f.meta(name, metavar)
}

// spans are examples of a duration.
const spans = "90s, 5m or 2h"

// spanText is a duration without the parts that are nothing: 5m, not 5m0s.
func spanText(d time.Duration) string {
	text := d.String()
	for _, rest := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, rest) {
			text = text[:len(text)-2]
		}
	}
	return text
}

func (f flagSet) list(p *[]string, name, short, metavar, usage string) {
	f.StringArrayVarP(p, name, short, nil, usage)
	f.meta(name, metavar)
}

func (f flagSet) toggle(p *bool, name, short string, value bool, usage string) {
	f.BoolVarP(p, name, short, value, usage)
	f.meta(name, "")
}

// aliases are the other names of flags.
func aliases() map[string]string {
	return map[string]string{
		"key-file": "private-key", "conn-pass-file": "connection-password-file", "inventory-file": "inventory",
		"ask-vault-pass": "ask-vault-password", "vault-pass-file": "vault-password-file", "become-pass-file": "become-password-file",
		"changed-only": "only-changed", "api-key": "token",
	}
}

func normalize(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if to, ok := aliases()[name]; ok {
		name = to
	}
	return pflag.NormalizedName(name)
}

func (a *app) flagSet(fs *pflag.FlagSet) flagSet {
	fs.SetNormalizeFunc(normalize)
	fs.SortFlags = false
	return flagSet{FlagSet: fs}
}

func (a *app) baseFlags(fs flagSet, o *options) {
	fs.CountVarP(&o.verbosity, "verbose", "v", "print more: -v results, -vv where tasks stand, -vvv connections and arguments")
	fs.note("verbose", metavarAnnotation, "")
	o.verbosity = a.cfg.Int("DEFAULT_VERBOSITY")
}

func (a *app) connectFlags(fs flagSet, o *options) {
	fs.group = "Connection Options"
	fs.text(&o.privateKey, "private-key", "", a.cfg.Text("DEFAULT_PRIVATE_KEY_FILE"), "PRIVATE_KEY_FILE", "ssh key, used by bootstrap")
	fs.text(&o.user, "user", "u", a.cfg.Text("DEFAULT_REMOTE_USER"), "REMOTE_USER", "run tasks as this user where they do not become another")
	fs.text(&o.connection, "connection", "c", a.cfg.Text("DEFAULT_TRANSPORT"), "CONNECTION", "how to reach hosts: smart is their agent, local is this machine")
	fs.number(&o.timeout, "timeout", "T", a.cfg.Int("DEFAULT_TIMEOUT"), "TIMEOUT", "seconds that reaching a host may take")
	fs.text(&o.sshCommon, "ssh-common-args", "", "", "SSH_COMMON_ARGS", "arguments of ssh, scp and sftp, used by bootstrap")
	fs.text(&o.sftpExtra, "sftp-extra-args", "", "", "SFTP_EXTRA_ARGS", "arguments of sftp, accepted and not needed")
	fs.text(&o.scpExtra, "scp-extra-args", "", "", "SCP_EXTRA_ARGS", "arguments of scp, accepted and not needed")
	fs.text(&o.sshExtra, "ssh-extra-args", "", "", "SSH_EXTRA_ARGS", "arguments of ssh, used by bootstrap")
	fs.group = ""
	fs.toggle(&o.askPass, "ask-pass", "k", a.cfg.Bool("DEFAULT_ASK_PASS"), "ask for the password of the connection")
	fs.text(&o.passFile, "connection-password-file", "", a.cfg.Text("CONNECTION_PASSWORD_FILE"), "CONNECTION_PASSWORD_FILE", "file with that password")
	fs.exclusive("ask-pass", "connection-password-file")
}

// exclusive flags cannot be given together.
func (f flagSet) exclusive(names ...string) {
	for _, name := range names {
		f.note(name, excludeAnnotation, names...)
	}
}

func (a *app) runasFlags(fs flagSet, o *options) {
	fs.group = "Privilege Escalation Options"
	fs.toggle(&o.become, "become", "b", a.cfg.Bool("DEFAULT_BECOME"), "run tasks as another user")
	fs.text(&o.becomeMethod, "become-method", "", a.cfg.Text("DEFAULT_BECOME_METHOD"), "BECOME_METHOD", "how an agent that is not root changes the user")
	fs.text(&o.becomeUser, "become-user", "", "", "BECOME_USER", fmt.Sprintf("who to become (default=%s)", a.cfg.Text("DEFAULT_BECOME_USER")))
	fs.group = ""
	a.becomePasswordFlags(fs, o)
}

func (a *app) becomePasswordFlags(fs flagSet, o *options) {
	fs.toggle(&o.becomeAskPass, "ask-become-pass", "K", a.cfg.Bool("DEFAULT_BECOME_ASK_PASS"), "ask for the become password")
	fs.text(&o.becomePassFile, "become-password-file", "", a.cfg.Text("BECOME_PASSWORD_FILE"), "BECOME_PASSWORD_FILE", "file with that password")
	fs.exclusive("ask-become-pass", "become-password-file")
}

func (a *app) inventoryFlags(fs flagSet, o *options) {
	fs.list(&o.inventories, "inventory", "i", "INVENTORY", "inventory file or directory, or a list of hosts with commas")
	fs.toggle(&o.listHosts, "list-hosts", "", false, "show the hosts that match and do nothing else")
	fs.text(&o.limit, "limit", "l", "", "SUBSET", "only hosts that match this pattern too")
}

func (a *app) vaultFlags(fs flagSet, o *options) {
	fs.list(&o.vaultIDs, "vault-id", "", "VAULT_IDS", "a vault identity: label@file or label@prompt")
	fs.toggle(&o.askVault, "ask-vault-password", "J", a.cfg.Bool("DEFAULT_ASK_VAULT_PASS"), "ask for the vault password")
	fs.note("ask-vault-password", quietShortAnnotation, "J")
	fs.list(&o.vaultFiles, "vault-password-file", "", "VAULT_PASSWORD_FILES", "file with the vault password")
	fs.exclusive("ask-vault-password", "vault-password-file")
}

func (a *app) tagFlags(fs flagSet, o *options) {
	fs.list(&o.tags, "tags", "t", "TAGS", "only plays and tasks with these tags")
	fs.list(&o.skipTags, "skip-tags", "", "SKIP_TAGS", "only plays and tasks without these tags")
}

func (a *app) checkFlags(fs flagSet, o *options) {
	fs.toggle(&o.check, "check", "C", false, "change nothing, show what would change")
	fs.toggle(&o.diff, "diff", "D", a.cfg.Bool("DIFF_ALWAYS"), "show how files change")
}

func (a *app) extraFlags(fs flagSet, o *options) {
	fs.list(&o.extra, "extra-vars", "e", "EXTRA_VARS", "more variables: key=value, YAML, JSON, or @file")
}

func (a *app) forkFlags(fs flagSet, o *options) {
	fs.number(&o.forks, "forks", "f", a.cfg.Int("DEFAULT_FORKS"), "FORKS", "how many hosts may be at a task at once (default: all)")
}

func (a *app) moduleFlags(fs flagSet, o *options) {
	fs.list(&o.modulePath, "module-path", "M", "MODULE_PATH", "directories of more modules, separated by colons")
}

func (a *app) brokerFlag(fs flagSet, o *options) {
	fs.text(&o.broker, "broker", "", a.cfg.Text("HARK_BROKER"), "URL", "the broker between this machine and the agents")
	a.own(fs, "broker")
}

func (a *app) cacheFlag(fs flagSet, o *options) {
	fs.toggle(&o.flushCache, "flush-cache", "", false, "forget the facts that are kept of every host")
}

// own keeps flags that Ansible 2.14 has not out of the help under Ansible's names.
func (a *app) own(fs flagSet, names ...string) {
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
