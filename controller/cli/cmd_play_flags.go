package cli

import (
	"strconv"
	"strings"

	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
)

// shownFlags returns the options of a play as -vvvv shows them: those that are set, in Ansible's order and under its
// names.
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
	number("verbosity", o.Verbosity)
	if o.Connect.KeyFile != "" {
		text("private_key_file", j.cfg.Abs(o.Connect.KeyFile))
	}
	text("remote_user", o.Connect.User)
	text("connection", o.Connect.Kind)
	number("timeout", o.Connect.Timeout)
	text("ssh_common_args", o.Connect.SSHCommon)
	text("sftp_extra_args", o.Connect.SFTPExtra)
	text("scp_extra_args", o.Connect.SCPExtra)
	text("ssh_extra_args", o.Connect.SSHExtra)
	flag("ask_pass", o.Connect.AskPassword)
	text("connection_password_file", o.Connect.PasswordFile)
	flag("force_handlers", o.ForceHandlers)
	flag("flush_cache", o.FlushCache)
	flag("become", o.Become.On)
	text("become_method", o.Become.Method)
	text("become_user", o.Become.User)
	flag("become_ask_pass", o.Become.AskPassword)
	text("become_password_file", o.Become.PasswordFile)
	if tags := project.Split(o.Tags.Only); len(tags) > 0 {
		list("tags", tags)
	} else {
		list("tags", []string{"all"})
	}
	list("skip_tags", project.Split(o.Tags.Skip))
	flag("check", o.Mode.Check)
	flag("diff", o.Mode.Diff)
	list("inventory", project.Effective{Settings: j.cfg, Options: o}.Sources())
	text("subset", o.Inventory.Limit)
	list("extra_vars", o.Extra)
	list("vault_ids", o.Vault.IDs)
	flag("ask_vault_pass", o.Vault.Ask)
	list("vault_password_files", o.Vault.Files)
	number("forks", o.Forks.Number)
	list("module_path", project.ModuleDirs(o, func(dir string) string { return dir }))
	flag("step", j.step)
	text("start_at_task", j.startAt)
	return out
}

// pyTuple returns a list of texts as Python prints a tuple.
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
