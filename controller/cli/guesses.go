package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/modules"
)

// notACommand is the error of a call of hark whose first word is no command. It says what to type instead.
func (a *app) notACommand(root *cobra.Command) error {
	if a.name != "hark" || len(a.args) < 2 || a.args[1] == "" || strings.HasPrefix(a.args[1], "-") {
		return nil
	}
	word := a.args[1]
	if slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == word || c.HasAlias(word) }) ||
		slices.Contains([]string{"help", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}, word) {
		return nil
	}
	text := cmp.Or(a.guess(a.args[1:]), argparse.DidYouMean(root, word))
	return &argparse.UsageError{Text: fmt.Sprintf("there is no command %q%s", word, text)}
}

// guess returns what was probably meant by words that are no command of hark: what people type who know Ansible, or
// have not read a page yet.
func (a *app) guess(args []string) string {
	typed := func(command string, rest ...string) string {
		return ": did you mean `" + strings.Join(append([]string{"hark " + command}, rest...), " ") + "`?"
	}
	word, rest := args[0], args[1:]
	if command, ok := otherCommands()[word]; ok {
		return typed(command, rest...)
	}
	if text, ok := wishes()[word]; ok {
		return ": " + text
	}
	if slices.Contains([]string{".yml", ".yaml"}, filepath.Ext(word)) {
		return typed("play", args...)
	}
	if slices.ContainsFunc(knownWords(a).Modules,
		func(name string) bool { return modules.ShortName(name) == word || name == word }) {
		pattern := "all"
		if len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			pattern, rest = rest[0], rest[1:]
		}
		return typed("run", append([]string{pattern, "-m", word}, rest...)...)
	}
	return ""
}

// otherCommands are words for commands that have another name here.
func otherCommands() map[string]string {
	return map[string]string{
		"playbook": "play", "ansible-playbook": "play", "ansible": "run", "adhoc": "run", "ad-hoc": "run", "exec": "run",
		"ssh": "run", "cmd": "run",
		"ansible-inventory": "inventory", "ansible-vault": "vault", "ansible-config": "config", "ansible-doc": "doc",
		"ansible-pull":   "pull",
		"ansible-galaxy": "galaxy", "ansible-console": "shell", "role": "galaxy role", "collection": "galaxy collection",
		"docs": "doc", "man": "doc",
		"hosts": "agents list", "nodes": "agents list", "minions": "agents list", "ps": "jobs list", "logs": "runs show",
		"history": "runs list",
		"log":     "runs show", "upgrade": "agents upgrade", "token": "agents token", "approve": "agents approve",
		"revoke":  "agents revoke",
		"encrypt": "vault encrypt", "decrypt": "vault decrypt", "check": "doctor", "diagnose": "doctor",
		"retry": "runs retry", "web": "console", "ui": "console",
		"dashboard": "console", "keys": "key", "facts": "run all -m setup", "server": "broker run", "serve": "broker run",
	}
}

// wishes are words that may mean several commands.
func wishes() map[string]string {
	return map[string]string{
		"install": "`hark bootstrap -i INVENTORY` puts agents on hosts, `hark broker install` makes the broker a service, " +
			"and `hark galaxy install -r requirements.yml` fetches roles and collections",
		"uninstall": "`hark-agent uninstall` on a host takes its agent away, and `hark broker uninstall` the broker",
		"init":      "`hark galaxy init ROLE` makes a role, and `hark config init` a file of settings",
		"start":     "`hark broker run` starts a broker, and `hark broker install` makes it a service",
		"list":      "`hark agents list` shows the agents, `hark runs list` the runs, and `hark inventory --graph` the hosts",
		"ls":        "`hark agents list` shows the agents, `hark runs list` the runs, and `hark inventory --graph` the hosts",
		"status": "`hark agents list` shows the agents, `hark broker status` the broker, `hark runs list` the runs, and " +
			"`hark doctor` what is wrong",
		"stop":  "`hark runs stop RUN` stops a run, and `systemctl stop hark-broker` the broker",
		"lint":  "`hark play --syntax-check PLAYBOOK` reads a playbook; ansible-lint works with hark too",
		"join":  "`hark-agent join TOKEN` on a host makes it one of the fleet; `hark agents token` prints a token",
		"login": "`hark broker use FILE` takes the access that `hark broker admit` has printed",
		"add":   "`hark bootstrap -i INVENTORY` puts agents on hosts",
	}
}
