package cli

import (
	"strconv"
	"strings"

	"hark/controller/internal/view"
	"hark/playbook/jinja/value"
)

// shownFlags are the options of a play as -vvvv shows them: those that are set, in Ansible's order and under its names.
func (j *playJob) shownFlags(names []string) []view.Flag {
	o := &j.o
	out := []view.Flag{{Name: "Positional arguments", Value: strings.Join(names, " ")}}
	text := func(name, v string) {
		if v != "" {
			out = append(out, view.Flag{Name: name, Value: v})
		}
	}
	flag := func(name string, on bool) {
		if on {
			text(name, "True")
		}
	}
	number := func(name string, n int) {
		if n != 0 {
			text(name, strconv.Itoa(n))
		}
	}
	list := func(name string, items []string) {
		if len(items) > 0 {
			text(name, pyTuple(items))
		}
	}
	number("verbosity", o.verbosity)
	if o.privateKey != "" {
		text("private_key_file", j.cfg.Abs(o.privateKey))
	}
	text("remote_user", o.user)
	text("connection", o.connection)
	number("timeout", o.timeout)
	text("ssh_common_args", o.sshCommon)
	text("sftp_extra_args", o.sftpExtra)
	text("scp_extra_args", o.scpExtra)
	text("ssh_extra_args", o.sshExtra)
	flag("ask_pass", o.askPass)
	text("connection_password_file", o.passFile)
	flag("force_handlers", o.forceHandlers)
	flag("flush_cache", o.flushCache)
	flag("become", o.become)
	text("become_method", o.becomeMethod)
	text("become_user", o.becomeUser)
	flag("become_ask_pass", o.becomeAskPass)
	text("become_password_file", o.becomePassFile)
	if tags := split(o.tags); len(tags) > 0 {
		list("tags", tags)
	} else {
		list("tags", []string{"all"})
	}
	list("skip_tags", split(o.skipTags))
	flag("check", o.check)
	flag("diff", o.diff)
	list("inventory", j.sourcesOf(o))
	text("subset", o.limit)
	list("extra_vars", o.extra)
	list("vault_ids", o.vaultIDs)
	flag("ask_vault_pass", o.askVault)
	list("vault_password_files", o.vaultFiles)
	number("forks", o.forks)
	list("module_path", j.moduleDirs(o, func(dir string) string { return dir }))
	flag("step", j.step)
	text("start_at_task", j.startAt)
	return out
}

// pyTuple is a list of texts as Python prints a tuple.
func pyTuple(items []string) string {
	parts := make([]string, len(items))
	for i, s := range items {
		parts[i] = value.ReprText(s)
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
