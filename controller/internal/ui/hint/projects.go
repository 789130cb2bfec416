package hint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// facts returns those that most playbooks use, without "ansible_".
func facts() []string {
	return []string{
		"all_ipv4_addresses", "all_ipv6_addresses", "architecture", "bios_date", "bios_version", "cmdline", "date_time",
		"default_ipv4", "default_ipv6",
		"devices", "distribution", "distribution_file_parsed", "distribution_file_path", "distribution_file_variety",
		"distribution_major_version",
		"distribution_release", "distribution_version", "dns", "domain", "effective_user_id", "env", "fips", "form_factor",
		"fqdn", "hostname", "interfaces",
		"is_chroot", "kernel", "kernel_version", "lsb", "machine", "machine_id", "memfree_mb", "memory_mb", "memtotal_mb",
		"mounts", "nodename", "os_family",
		"pkg_mgr", "processor", "processor_cores", "processor_count", "processor_threads_per_core", "processor_vcpus",
		"product_name", "product_serial",
		"product_uuid", "product_version", "python", "python_version", "real_user_id", "selinux", "service_mgr",
		"swapfree_mb", "swaptotal_mb", "system",
		"system_vendor", "uptime_seconds", "user_dir", "user_gid", "user_id", "user_shell", "user_uid",
		"userspace_architecture", "userspace_bits",
		"virtualization_role", "virtualization_type",
	}
}

// FactVariables returns the variables of those facts.
func FactVariables() []string {
	out := slices.Clone(facts())
	for i := range out {
		out[i] = "ansible_" + out[i]
	}
	return out
}

// Metas returns the actions of meta.
func Metas() []string {
	return []string{
		"flush_handlers", "noop", "refresh_inventory", "clear_facts", "clear_host_errors", "end_play", "end_batch",
		"end_host", "end_role", "reset_connection",
	}
}

// includeArguments returns the arguments of what is no module.
func includeArguments() map[string][]string {
	role := []string{"name", "role", "tasks_from", "vars_from", "defaults_from", "handlers_from", "allow_duplicates",
		"public", "rolespec_validate", "apply"}
	return map[string][]string{
		"import_role": role, "include_role": role, "include_tasks": {"file", "apply"}, "import_tasks": {"file"},
	}
}

const notGathered = "facts are not gathered: the play has `gather_facts: no`; take it away, or run `setup:` before"

// undefined is for a variable that there is not. Facts are missing where nobody gathered them, and the parts of a
// result where it was not registered.
func undefined(w Words, m []string) string {
	name := m[1]
	fact := ""
	if rest, ok := strings.CutPrefix(name, "ansible_"); ok {
		fact = rest
	}
	near := meant(name, w.Variables)
	switch {
	case fact != "" && slices.Contains(facts(), fact) && !w.gathered():
		return notGathered
	case near != "":
		return near
	case fact != "" && slices.Contains(facts(), fact):
		return ""
	case fact != "" && closeFact(name) != "" && !w.gathered():
		return "did you mean the fact '" + closeFact(name) + "'? And " + notGathered
	case fact != "" && closeFact(name) != "":
		return "did you mean '" + closeFact(name) + "'?"
	case slices.Contains([]string{"rc", "stdout", "stderr", "stdout_lines", "stderr_lines", "results", "changed", "failed",
		"skipped"}, name):
		return "a result has a name only by `register: result`; then it is result." + name
	}
	return ""
}

// closeFact returns the fact that a variable is nearly named as.
func closeFact(name string) string {
	if near := Nearest(name, FactVariables()); near != "" && Close(name, near) {
		return near
	}
	return ""
}

// gathered reports whether the facts of the host are there.
func (w Words) gathered() bool {
	return slices.Contains(w.Variables, "ansible_architecture") ||
		slices.Contains(w.Variables, "ansible_distribution") || slices.Contains(w.Variables, "ansible_os_family")
}

// missingFact is for ansible_facts.NAME.
func missingFact(w Words, m []string) string {
	switch {
	case w.gathered():
		return meant(m[1], facts())
	case slices.Contains(facts(), m[1]):
		return notGathered
	}
	return ""
}

// RegisterName says how a name of a result may be written.
func RegisterName(name string) string {
	if fixed := notInNames().ReplaceAllString(name, "_"); fixed != name && fixed != "" {
		return "names have letters, digits and _ only, and begin with no digit; did you mean '" +
			strings.TrimLeft(fixed, "0123456789") + "'?"
	}
	return "names have letters, digits and _ only, and begin with no digit"
}

var notInNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_]`) })

// unmatched is for a pattern that no host has.
func unmatched(w Words, m []string) string {
	if near := meant(m[1], w.Hosts); near != "" {
		return near
	}
	if w.NoInventory {
		return "no inventory was given or found: name one with -i FILE, or hosts with -i " + m[1] + ","
	}
	return ""
}

// roleFile is for tasks_from and its like.
func roleFile(w Words, m []string) string {
	if w.Entries == nil {
		return ""
	}
	sub, name := path.Split(m[1])
	for _, dir := range w.Dirs {
		roles := path.Join(dir, "roles")
		for _, role := range w.Entries(roles) {
			if near := nearFile(name, w.Entries(path.Join(roles, role, sub))); near != "" {
				return "did you mean '" + near + "', of the role " + role + "?"
			}
		}
	}
	return ""
}

// nearFile returns the nearest of files, compared without the endings of YAML files.
func nearFile(name string, files []string) string {
	var plain []string
	for _, file := range files {
		plain = append(plain, strings.TrimSuffix(strings.TrimSuffix(file, ".yml"), ".yaml"))
	}
	return Nearest(strings.TrimSuffix(strings.TrimSuffix(name, ".yml"), ".yaml"), plain)
}

// nearPlaybook is for a file that is looked for beside the playbook.
func nearPlaybook(w Words, m []string) string {
	if w.Entries == nil {
		return ""
	}
	for _, dir := range append(slices.Clone(w.Dirs), ".") {
		sub, name := path.Split(m[1])
		for _, place := range []string{path.Join(dir, sub), path.Join(dir, "vars", sub)} {
			if path.IsAbs(sub) {
				place = path.Clean(sub)
			}
			if near := Nearest(name, w.Entries(place)); near != "" {
				return "did you mean '" + sub + near + "'?"
			}
		}
	}
	return ""
}

// Close reports whether two names differ by at most two letters.
func Close(a, b string) bool { return distance(a, b, 3) < 3 }

// IsInventory reports whether a file looks like an inventory in INI's form: its first line with something on it is a
// section, or a host with variables.
func IsInventory(lines []string) bool {
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		return hostLine().MatchString(line)
	}
	return false
}

var hostLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\[[\w.:-]+\]|[\w.\[\]:-]+(\s+\w+=\S+)+)$`)
})

// Hostless names the first play of a playbook that has no hosts, "" if none is seen. A task where a play is wanted is
// called so.
func Hostless(name string, lines []string) string {
	var start int
	var keys []string
	judge := func() string {
		if start == 0 ||
			slices.ContainsFunc(keys,
				func(k string) bool { return k == "hosts" || strings.HasSuffix(k, "import_playbook") || k == "include" }) {
			return ""
		}
		for _, k := range keys {
			if !slices.Contains(playKeys(), k) {
				return fmt.Sprintf(
					"%s:%d is a task, and a playbook is a list of plays: put it below `tasks:` of a play, or include the file with "+
						"include_tasks", name, start)
			}
		}
		return fmt.Sprintf("%s:%d: this play has no `hosts:`", name, start)
	}
	for i, line := range lines {
		m := keyLine().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if m[1] == "- " {
			if text := judge(); text != "" {
				return text
			}
			start, keys = i+1, nil
		}
		keys = append(keys, m[2])
	}
	return judge()
}

var keyLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(- |  )["']?([\w.]+)["']?:(?:\s|$)`) })

// playKeys are keywords that both plays and tasks may have, and those of plays.
func playKeys() []string {
	return []string{
		"name", "vars", "tags", "become", "become_user", "become_method", "environment", "gather_facts", "tasks", "roles",
		"handlers", "pre_tasks", "post_tasks",
		"vars_files", "vars_prompt", "serial", "strategy", "any_errors_fatal", "max_fail_percentage", "connection",
		"remote_user", "port", "collections",
		"module_defaults", "order", "force_handlers", "run_once", "when", "gather_subset", "ignore_errors", "no_log",
		"check_mode", "diff", "fact_path",
	}
}
