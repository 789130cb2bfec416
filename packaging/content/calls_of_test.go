package content

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"hark/modules"
)

// drawn is a module of which calls are drawn: in an area, where they can do no harm.
type drawn struct {
	name   string // as in the catalogue
	python string // the module that is Ansible's
	// always are arguments that are always given, one of the values; pools those of which any may be given.
	always, pools map[string][]any
	// never are arguments that are not given: they lead out of the area, or need what it has not.
	never string
	// alone are arguments of which one is given.
	alone []string
	// here says that what the call gives depends on the machine's programs and files: its answers are not kept.
	here bool
}

// odd are paths of an area; $AREA is its own.
func odd() []any {
	var all []any
	for _, f := range oddFiles() {
		name, _ := nameAndMode(f[0])
		if !strings.HasPrefix(name, "home") && !strings.HasPrefix(name, "bin.d") {
			all = append(all, "$AREA/"+strings.TrimSuffix(name, "/"))
		}
	}
	return append(all, "$AREA/deep", "$AREA/frag", "$AREA/sticky", "$AREA/rodir", "$AREA/missing", "$AREA/missing/f", "$AREA/new \xfe", "$AREA/deep/../plain.txt",
		"$AREA/plain.txt/", "$AREA/deep/", "plain.txt", "./deep/z.txt", "new", "$AREA//nonl", "~/mine", "~/new", "$AREA/whole", "$AREA/fifo", "$AREA/plain.txt/x", "$HOME/mine", "")
}

// under are paths that lead to one of the names.
func under(names ...string) []any {
	var all []any
	for _, n := range names {
		all = append(all, "$AREA/"+n)
	}
	return all
}

// drawnModules are the modules, with what their arguments may be.
func drawnModules() []drawn {
	expressions := []any{"^two", "t(w)o", "nope", "(", "^$", "(?i)TWO", "o", "^one$", "[[:alpha:]]", "one\ntwo", "\\bone\\b", "caf", ""}
	lines := []any{"two", "new line", "a=\\1", "", "caf\xe9", "x\ny", "  one", "one", "été", "\\g<0>!"}
	places := []any{"EOF", "BOF", "^one", "nope", "(", "o"}
	checks := []any{"true %s", "false %s", "test -s %s", "grep -q one %s", "true", "nosuch %s"}
	programs := []any{"echo hello  world", "printf 'a\\nb'", "true", "false", "sh -c 'exit 3'", "./exec.sh 'a b' \"c\"", "cat plain.txt", "echo $HOME ~ ~/x", "nosuchprogram x", "echo 'open",
		"printf 'caf\\351'", "cat missing", "cat", "", "exec.sh", "deep", "echo a > b", "printf '\\n\\nx\\n\\n'", "pwd", "sh -c 'echo out; echo err >&2'", "env", "ls"}
	files := func(m string) string { return "ansible.modules." + m }
	return []drawn{
		{name: "file", pools: map[string][]any{"src": append(odd(), "../plain.txt"), "modification_time": times(), "access_time": times(),
			"modification_time_format": {"%Y", "%Y%m%d%H%M.%S", "%q"}, "access_time_format": {"%Y", "%Y%m%d%H%M.%S"}}},
		{name: "copy", always: map[string][]any{"remote_src": {true}, "src": odd()}, pools: map[string][]any{"validate": checks, "checksum": {hexSum("one\n"), hexSum("one\ntwo\nthree\n"), "bad"}}, never: "content decrypt"},
		{name: "lineinfile", pools: map[string][]any{"line": lines, "regexp": expressions, "search_string": expressions, "insertafter": places, "insertbefore": places, "validate": checks}},
		{name: "blockinfile", pools: map[string][]any{"block": {"a\nb", "a\nb\n", "", "old", "caf\xe9", "\n\na"}, "marker": {"<!-- {mark} x -->", "no mark", "# {mark} ANSIBLE MANAGED BLOCK\n", "{mark}"},
			"marker_begin": {"BEGIN", "B", ""}, "marker_end": {"END", "E", ""}, "insertafter": places, "insertbefore": places, "validate": checks}},
		{name: "replace", pools: map[string][]any{"regexp": expressions, "replace": {"X\\1", "\\g<0>", "", "new\nline", "\\", "\\g<x>", "été"}, "after": expressions, "before": expressions, "encoding": {"utf-8", "latin-1", "bad"}, "validate": checks}},
		{name: "stat"},
		{name: "find", pools: map[string][]any{"patterns": patterns(), "excludes": patterns(), "contains": expressions, "age": {"1d", "-1d", "1w", "0", "x", "-5s", "2h"}, "size": {"1", "1k", "-1k", "0", "x", "10b", "-1m"},
			"depth": {0, 1, 2, "3"}, "paths": {"$AREA", []any{"$AREA/deep", "$AREA/frag"}, "$AREA/deep,$AREA/missing", "$AREA/plain.txt", "$AREA/to-dir", "$AREA/rodir", "", "."}}},
		{name: "slurp"},
		{name: "tempfile", always: map[string][]any{"path": under("deep", "emptydir", "plain.txt", "missing", "sticky", "to-dir")}, pools: map[string][]any{"prefix": {"a", "x/", "-", "é"}, "suffix": {".txt", "é", "/"}}},
		{name: "assemble", always: map[string][]any{"remote_src": {true}, "src": append(odd(), under("frag", "frag", "frag", "deep", "emptydir")...)},
			pools: map[string][]any{"delimiter": {"\\n", "--", "\\t\\x41", "\n", "é"}, "regexp": {"^1", "a$", "(", "c"}, "validate": checks}, never: "decrypt"},
		{name: "get_url", always: map[string][]any{"url": {"file://$AREA/plain.txt", "file://$AREA/missing", "file://$AREA/deep", "file://$AREA/with%20space.txt", "file://$AREA/latin%FF.txt", "file:$AREA/nonl"}},
			pools: map[string][]any{"checksum": {"sha1:" + hexSum("one\ntwo\nthree\n"), "sha1:bad", "sha1:file://$AREA/keys.sha1", ""}, "timeout": {1, "5"}, "headers": {map[string]any{"X-A": "b"}}, "url_username": {"me"}, "url_password": {"sesame"}},
			never: "client_cert client_key ciphers unredirected_headers use_gssapi decompress http_agent"},
		{name: "command", alone: []string{"_raw_params", "argv"}, pools: map[string][]any{"_raw_params": programs, "argv": {[]any{"echo", "a b", "$HOME", "~"}, []any{"cat"}, []any{}, []any{"nosuch"}, []any{"echo", 1, true}, "echo,a"},
			"stdin": {"in", "in\n", "caf\xe9", ""}, "creates": globs(), "removes": globs(), "executable": {"/bin/sh", "nosh"}}, never: "warn"},
		{name: "shell", python: files("command"), alone: []string{"_raw_params"}, pools: map[string][]any{"_raw_params": append(programs, "echo a | tr a b; exit 2", "echo $0; cd deep && ls", "cat <<E\nx\nE"),
			"stdin": {"in", "in\n", "caf\xe9"}, "creates": globs(), "removes": globs(), "executable": {"/bin/sh", "/bin/bash", "/nosh"}}, never: "warn argv"},
		{name: "known_hosts", here: true, always: map[string][]any{"path": under("hosts", "hosts", "hosts", "empty", "missing", "missing/f", "deep", "plain.txt", "nonl")},
			pools: map[string][]any{"name": {"h1", "h2", "[h3]:22", "h1,h2", "nope", "H1"}, "key": {hostLine("h1", 1), hostLine("h1", 3), hostLine("h2", 2), "garbage", "# c", hostLine("nope", 4), "@revoked " + hostLine("h1", 1)}}},
		{name: "cron", always: map[string][]any{"cron_file": under("crontab", "crontab", "empty", "newcron", "deep", "plain.txt", "nonl")}, pools: map[string][]any{"name": {"job", "other job", "PATH", "x\ny", "*"}, "user": {"root", "nosuch"},
			"job": {"true", "echo %a", "a\nb", "false"}, "minute": {"0", "*/5", "99", 7}, "hour": {"1", "@x"}, "day": {"1,2"}, "month": {"jan"}, "weekday": {"mon"}, "insertafter": {"PATH", "X"}, "insertbefore": {"PATH", "X"}}},
		{name: "yum_repository", always: map[string][]any{"reposdir": under("repos", "repos", "repos", "missing", "plain.txt", "emptydir")}, pools: map[string][]any{"password": {"sesame"}, "name": {"base", "a b", "x/y", "new"}, "file": {"base", "other", "broken"}}, never: "params async"},
		{name: "unarchive", here: true, always: map[string][]any{"src": under("a.tar", "a.tar", "a.tar.gz", "broken.tar.gz", "plain.txt", "missing", "empty", "deep"), "remote_src": {true}},
			pools: map[string][]any{"exclude": {[]any{"a/b"}, []any{"z.txt", "10-a"}, "nope", []any{"*.txt"}}, "include": {[]any{"z.txt"}, []any{"10-a"}, []any{"nope"}}, "extra_opts": {[]any{"--strip-components=1"}, []any{"--no-such"}},
				"dest": append(odd(), under("emptydir", "emptydir", "deep", "frag")...)}, never: "copy creates decrypt validate_certs io_buffer_size"},
		{name: "git", here: true, always: map[string][]any{"repo": {"$AREA/repo.git", "$AREA/repo.git", "file://$AREA/repo.git", "$AREA/missing.git", "$AREA/plain.txt"}, "dest": under("work", "work", "dirty", "new", "emptydir", "deep", "plain.txt", "missing/x")},
			pools: map[string][]any{"version": {"HEAD", "main", "v1", "v2", "side", "nope"}, "depth": {1, 0, "2"}, "refspec": {"+refs/heads/*:refs/remotes/origin/*", "nope"}, "remote": {"origin", "up"}, "archive": {"$AREA/o.tar.gz", "$AREA/o.zip", "$AREA/o.bad", "$AREA/missing/o.tar"},
				"archive_prefix": {"p/"}, "separate_git_dir": {"$AREA/gd", "$AREA/deep"}, "umask": {"0022", "077", "bad", 18}, "reference": {"$AREA/repo.git"}}, never: "executable key_file ssh_opts accept_hostkey accept_newhostkey verify_commit gpg_whitelist"},
		{name: "getent", here: true, pools: map[string][]any{"database": {"passwd", "group", "services", "protocols", "nosuch"}, "key": {"root", "0", "nosuch", "ssh", ""}, "split": {":", " ", "x"}, "service": {"files", "nosuch"}}},
		{name: "wait_for", here: true, always: map[string][]any{"path": odd(), "timeout": {0, 1}, "state": {"present", "absent", "started"}}, pools: map[string][]any{"search_regex": expressions, "delay": {0}, "sleep": {1}, "msg": {"my words"}, "connect_timeout": {1}}, never: "host port exclude_hosts active_connection_states"},
		{name: "ping", pools: map[string][]any{"data": {"pong", "crash", "caf\xe9", 1}}},
		{name: "community.general.ini_file", pools: map[string][]any{"section": {"a", "b c", "new", "", "[x]"}, "option": {"x", "y", "top", "new"}, "value": {"1", "new", "", "caf\xe9"}, "values": {[]any{"1", "2"}, []any{}, []any{"2"}}}},
		{name: "ansible.posix.authorized_key", always: map[string][]any{"path": under("keys", "keys", "empty", "missing", "deep", "plain.txt"), "user": {"root"}, "manage_dir": {false}},
			pools: map[string][]any{"key": {keyOf(1), keyOf(2) + " new", keyOf(3), "garbage", keyOf(1) + "\n" + keyOf(3)}, "key_options": {"no-pty", "command=\"a b\""}, "comment": {"c"}}, never: "validate_certs follow"},
		{name: "ansible.posix.sysctl", always: map[string][]any{"sysctl_file": under("sysctl.conf", "sysctl.conf", "empty", "missing", "deep", "plain.txt"), "reload": {false}, "sysctl_set": {false}}, pools: map[string][]any{"name": {"vm.swappiness", "net.ipv4.ip_forward", "new.key", ""}, "value": {"1", "10", " 5 ", "", 7}}},
		{name: "ansible.posix.mount", always: map[string][]any{"fstab": under("fstab", "fstab", "empty", "missing", "plain.txt"), "state": {"present", "absent_from_fstab", "present"}},
			pools: map[string][]any{"path": {"$AREA/a b", "$AREA/emptydir", "$AREA/deep"}, "src": {"/dev/sda1", "UUID=1", "a b"}, "fstype": {"ext4", "xfs"}, "opts": {"ro", "a,b"}, "dump": {"1", 0}, "passno": {"2", 0}}},
		{name: "community.general.archive", here: true, pools: map[string][]any{"path": append(odd(), "$AREA/*.txt", []any{"$AREA/deep", "$AREA/frag"}), "dest": under("o.tar", "o.gz", "o.zip", "deep", "missing/o"), "exclude_path": odd(), "exclusion_patterns": {[]any{"*.txt"}, []any{"b"}}, "format": {"tar", "gz", "zip", "bz2", "xz"}}},
	}
}

func times() []any { return []any{"preserve", "now", "202001020304.05", "2020", "bad", ""} }

func patterns() []any {
	return []any{[]any{"*"}, []any{"*.txt"}, "*.t?t,c*", []any{"[a-c]*"}, "^.*\\.txt$", "(", []any{"*\xff*"}, []any{"[!a-p]*", "é*"}, "f"}
}

func globs() []any {
	return []any{"$AREA/plain.txt", "$AREA/missing", "*.txt", "miss*", "$AREA/dangling", "~/mine", "[", "deep/"}
}

// full are the whole name in the catalogue, and the module in Python.
func (d drawn) full() (name, python string) {
	name, python = d.name, d.python
	if !strings.Contains(name, ".") {
		name = "ansible.builtin." + name
		if python == "" {
			python = "ansible.modules." + d.name
		}
	} else {
		parts := strings.Split(name, ".")
		python = fmt.Sprintf("ansible_collections.%s.%s.plugins.modules.%s", parts[0], parts[1], parts[2])
	}
	return name, python
}

// draw gives arguments for the module.
func (d drawn) draw(r *rand.Rand, m *modules.Module) map[string]any {
	args := map[string]any{}
	kept := ""
	if len(d.alone) > 0 {
		kept = d.alone[r.IntN(len(d.alone))]
	}
	never := strings.Fields(d.never + " seuser serole selevel setype attributes")
	for _, p := range m.Params() { // in their order: the seed decides
		always, isAlways := d.always[p.Name]
		switch {
		case isAlways:
			args[p.Name] = pick(r, always)
			continue
		case p.Hidden, p.Extra, p.Since != "", p.Resolved, slices.Contains(never, p.Name):
			continue
		case slices.Contains(d.alone, p.Name) && p.Name != kept:
			continue
		case p.Name == kept:
		case p.Required && r.IntN(25) > 0:
		case p.Required, r.IntN(10) >= share(len(m.Params())):
			continue
		}
		name := p.Name
		if len(p.Aliases) > 0 && r.IntN(8) == 0 && p.OldAlias == "" {
			name = p.Aliases[r.IntN(len(p.Aliases))]
		}
		args[name] = d.one(r, p)
	}
	return args
}

// share is how many of ten arguments are given, where there are count of them.
func share(count int) int {
	if count > 25 {
		return 1
	}
	return 3
}

func pick(r *rand.Rand, from []any) any { return from[r.IntN(len(from))] }

// one gives a value for an argument.
func (d drawn) one(r *rand.Rand, p modules.Param) any {
	values := d.values(p)
	if _, ok := d.pools[p.Name]; !ok && len(p.Choices) > 0 && r.IntN(30) > 0 {
		values = values[:len(values)-1]
	}
	return pick(r, values)
}

// values are those that an argument may have: of its pool, its choices and one that is none, or those of its type.
func (d drawn) values(p modules.Param) []any {
	pool, ok := d.pools[p.Name]
	always, isAlways := d.always[p.Name]
	switch {
	case isAlways: // whatever else would lead out of the area
		return always
	case ok && len(pool) > 0:
		return pool
	case len(p.Choices) > 0:
		var all []any
		for _, c := range p.Choices {
			all = append(all, c)
		}
		return append(all, "nochoice")
	}
	switch p.Name {
	case "mode", "directory_mode":
		return []any{
			"0644", "0600", "u+x", "a=rX", "u=rwX,go-w", "644", "1777", "bad", "u+q", "+t", "g+s", "-r", "u=g", "preserve", 384, "", "0",
			"u=rw,g=r,o=", "02755", "u=rwx,g=u,o=g", "a+X,a-x", "0o644", "0644 ", -1, 0o1777, "99999", "u+s,g-w,+X", "=", "u=",
		}
	case "owner", "group":
		return []any{"0", "root", "nosuch", 0, "54242", 54243}
	}
	switch p.Type {
	case "bool":
		return []any{true, false, "yes", "no", "on", 1, 0, "0", "maybe"}
	case "int":
		return []any{0, 1, 2, "3", -1, "x"}
	case "path":
		return odd()
	case "list":
		return []any{[]any{}, []any{"a"}, []any{"a", "b c"}, "a,b"}
	case "dict":
		return []any{map[string]any{}, map[string]any{"a": "b"}, "a=b", "x"}
	}
	return []any{"x", "1", "a b", "", "%(x)s", "100%", 5, true}
}
