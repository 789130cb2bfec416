package config

import (
	"strings"

	"hark/modules/dialect"
)

// of makes settings those of a plug-in.
func of(plugin string, list ...Setting) []Setting {
	for i := range list {
		list[i].Plugin = plugin
	}
	return list
}

// setting returns a row that is set by one variable and by one entry of ansible.cfg, and is None without.
func setting(name, env, key, doc string) Setting {
	return Setting{Name: name, NoDefault: true, Env: names(env), Keys: keys(key), Doc: doc}
}

// or returns a row a default.
func (s Setting) or(kind Kind, def string) Setting {
	s.Kind, s.Default, s.NoDefault = kind, def, false
	return s
}

// also adds a variable and an entry that count more than those before.
func (s Setting) also(env, key string) Setting {
	s.Env = append(s.Env, env)
	s.Keys = append(s.Keys, keys(key)...)
	return s
}

// pluginSettings returns those of Ansible's plug-ins that are not about the screen.
func pluginSettings() []Setting {
	var all []Setting
	for _, part := range [][]Setting{cacheSettings(), becomePluginSettings(), sshSettings(), inventoryPluginSettings(),
		shellSettings(), urlSettings()} {
		all = append(all, part...)
	}
	return all
}

func cacheSettings() []Setting {
	return of("cache/jsonfile",
		Setting{Name: "_uri", Kind: Path, NoDefault: true, Env: names("ANSIBLE_CACHE_PLUGIN_CONNECTION"),
			Keys: keys("defaults.fact_caching_connection"),
			Doc:  "Directory of the files, one for each host."},
		setting("_prefix", "ANSIBLE_CACHE_PLUGIN_PREFIX", "defaults.fact_caching_prefix",
			"What the names of the files start with."),
		setting("_timeout", "ANSIBLE_CACHE_PLUGIN_TIMEOUT", "defaults.fact_caching_timeout",
			"Seconds after which facts are too old; 0 is never.").or(Int, "86400"),
	)
}

// becomePluginSettings returns those of ansible-core's programs that change the user where the agent cannot.
func becomePluginSettings() []Setting {
	var all []Setting
	for _, m := range dialect.Methods() {
		if m.Collection == "" && m.Runs() {
			all = append(all, becomeSettingsOf(m)...)
		}
	}
	return all
}

func becomeSettingsOf(m dialect.Method) []Setting {
	var rows []Setting
	for _, o := range []struct {
		option         dialect.BecomeOption
		key, def, what string
	}{
		{dialect.BecomeExe, "executable", m.Exe, "The program."}, {dialect.BecomeFlags, "flags", m.Flags, "Its flags."},
		{dialect.BecomePass, "password", "", "The password."}, {dialect.BecomeUser, "user", m.User, "Who to become."},
	} {
		name := string(o.option)
		s := Setting{Name: name, NoDefault: true, Doc: o.what, Env: names("ANSIBLE_"+strings.ToUpper(name), m.Env(o.option)),
			Keys: keys(m.Section() + "." + o.key)}
		if o.option != dialect.BecomePass {
			s.Keys = append(keys("privilege_escalation."+name), s.Keys...)
			s = s.or(Text, o.def)
		}
		rows = append(rows, s)
	}
	for _, o := range m.Others {
		rows = append(rows, setting(o.Name, o.Env, o.Key, o.Doc).or(List, ""))
	}
	return of("become/"+m.Name, rows...)
}

// sshSettings returns those of ssh, which bootstrap alone uses.
func sshSettings() []Setting {
	ssh := func(name, env, doc string) Setting { return setting(name, env, "ssh_connection."+name, doc) }
	list := of("connection/ssh",
		ssh("control_path", "ANSIBLE_SSH_CONTROL_PATH", "Socket of a shared connection."),
		ssh("control_path_dir", "ANSIBLE_SSH_CONTROL_PATH_DIR", "Directory of those sockets.").or(Text, "~/.ansible/cp"),
		setting("host_key_checking", "ANSIBLE_HOST_KEY_CHECKING", "defaults.host_key_checking", "Check the host keys.").
			also("ANSIBLE_SSH_HOST_KEY_CHECKING", "ssh_connection.host_key_checking").or(Bool, "true"),
		Setting{Name: "pipelining", Kind: Bool, Default: "false", Env: names("ANSIBLE_PIPELINING", "ANSIBLE_SSH_PIPELINING"),
			Keys: keys("defaults.pipelining", "connection.pipelining",
				"ssh_connection.pipelining"), Doc: "Save round trips; an agent needs none."},
		ssh("pkcs11_provider", "ANSIBLE_PKCS11_PROVIDER", "Library of a smart card.").or(Text, ""),
		Setting{Name: "port", Kind: Int, NoDefault: true, Env: names("ANSIBLE_REMOTE_PORT"),
			Keys: keys("defaults.remote_port"), Doc: "The port."},
		setting("private_key_file", "ANSIBLE_PRIVATE_KEY_FILE", "defaults.private_key_file", "The key."),
		Setting{Name: "reconnection_retries", Kind: Int, Default: "0", Env: names("ANSIBLE_SSH_RETRIES"),
			Keys: keys("connection.retries", "ssh_connection.retries"), Doc: "How often to try again."},
		setting("remote_user", "ANSIBLE_REMOTE_USER", "defaults.remote_user", "The user."),
		ssh("scp_executable", "ANSIBLE_SCP_EXECUTABLE", "The scp of this machine.").or(Text, "scp"),
		ssh("scp_extra_args", "ANSIBLE_SCP_EXTRA_ARGS", "Arguments of scp only.").or(Text, ""),
		ssh("scp_if_ssh", "ANSIBLE_SCP_IF_SSH", "Whether to use scp.").or(Text, "smart"),
		ssh("sftp_batch_mode", "ANSIBLE_SFTP_BATCH_MODE", "Whether sftp may not ask.").or(Bool, "yes"),
		ssh("sftp_executable", "ANSIBLE_SFTP_EXECUTABLE", "The sftp of this machine.").or(Text, "sftp"),
		ssh("sftp_extra_args", "ANSIBLE_SFTP_EXTRA_ARGS", "Arguments of sftp only.").or(Text, ""),
		ssh("ssh_args", "ANSIBLE_SSH_ARGS", "Arguments of every ssh.").or(Text,
			"-C -o ControlMaster=auto -o ControlPersist=60s"),
		ssh("ssh_common_args", "ANSIBLE_SSH_COMMON_ARGS", "More arguments of ssh, scp and sftp.").or(Text, ""),
		ssh("ssh_executable", "ANSIBLE_SSH_EXECUTABLE", "The ssh of this machine.").or(Text, "ssh"),
		ssh("ssh_extra_args", "ANSIBLE_SSH_EXTRA_ARGS", "More arguments of ssh only.").or(Text, ""),
		Setting{Name: "ssh_transfer_method", NoDefault: true, Env: names("ANSIBLE_SSH_TRANSFER_METHOD"),
			Keys:    keys("ssh_connection.transfer_method"),
			Choices: names("sftp", "scp", "piped", "smart"), Doc: "How files travel."},
		ssh("sshpass_prompt", "ANSIBLE_SSHPASS_PROMPT", "How ssh asks for the password.").or(Text, ""),
		setting("timeout", "ANSIBLE_TIMEOUT", "defaults.timeout",
			"Seconds that connecting may take.").also("ANSIBLE_SSH_TIMEOUT", "ssh_connection.timeout").or(Int, "10"),
		setting("use_tty", "ANSIBLE_SSH_USETTY", "ssh_connection.usetty", "Ask for a terminal.").or(Bool, "yes"),
	)
	return append(list, of("connection/local",
		Setting{Name: "pipelining", Kind: Bool, Default: "false", Env: names("ANSIBLE_PIPELINING"),
			Keys: keys("defaults.pipelining", "connection.pipelining"),
			Doc:  "Save round trips; there are none."})...)
}

func inventoryPluginSettings() []Setting {
	list := of("inventory/constructed",
		setting("use_extra_vars", "ANSIBLE_INVENTORY_USE_EXTRA_VARS", "inventory_plugins.use_extra_vars",
			"Extra variables count in its templates.").or(Bool, "false"))
	list = append(list, of("inventory/script",
		setting("always_show_stderr", "ANSIBLE_INVENTORY_PLUGIN_SCRIPT_STDERR", "inventory_plugin_script.always_show_stderr",
			"Show what the script prints on stderr even if it succeeds.").or(Bool, "true"))...)
	list = append(list, of("inventory/yaml",
		setting("yaml_extensions", "ANSIBLE_YAML_FILENAME_EXT", "defaults.yaml_valid_extensions",
			"How the names of YAML files end.").
			also("ANSIBLE_INVENTORY_PLUGIN_EXTS", "inventory_plugin_yaml.yaml_valid_extensions").or(List,
			".yaml, .yml, .json"))...)
	return append(list, of("vars/host_group_vars",
		setting("_valid_extensions", "ANSIBLE_YAML_FILENAME_EXT", "defaults.yaml_valid_extensions",
			"How the names of files of variables end.").or(List, ".yml, .yaml, .json"),
		Setting{Name: "stage", NoDefault: true, Env: names("ANSIBLE_VARS_PLUGIN_STAGE"),
			Keys:    keys("vars_host_group_vars.stage"),
			Choices: names("all", "task", "inventory"), Doc: "When the files are read."})...)
}

func shellSettings() []Setting {
	return of("shell/sh",
		setting("admin_users", "ANSIBLE_ADMIN_USERS", "defaults.admin_users", "Users who may do everything.").or(List,
			"root, toor"),
		setting("async_dir", "ANSIBLE_ASYNC_DIR", "defaults.async_dir", "Directory of the results of jobs.").or(Text,
			"~/.ansible_async"),
		setting("common_remote_group", "ANSIBLE_COMMON_REMOTE_GROUP", "defaults.common_remote_group",
			"Group that users of files in transit share."),
		setting("remote_tmp", "ANSIBLE_REMOTE_TEMP", "defaults.remote_tmp",
			"Directory of files in transit.").also("ANSIBLE_REMOTE_TMP", "defaults.remote_tmp").or(Text, "~/.ansible/tmp"),
		setting("system_tmpdirs", "ANSIBLE_SYSTEM_TMPDIRS", "defaults.system_tmpdirs",
			"Directories that everybody may write to.").or(List, "/var/tmp, /tmp"),
		setting("world_readable_temp", "ANSIBLE_SHELL_ALLOW_WORLD_READABLE_TEMP", "defaults.allow_world_readable_tmpfiles",
			"Let everybody read files in transit.").or(Bool, "false"),
	)
}

func urlSettings() []Setting {
	row := func(name, env, doc string) Setting {
		return setting(name, "ANSIBLE_LOOKUP_URL_"+env, "url_lookup."+name, doc)
	}
	return of("lookup/url",
		row("ca_path", "CA_PATH", "Certificates to trust."),
		row("ciphers", "CIPHERS", "Ciphers to use."),
		row("follow_redirects", "FOLLOW_REDIRECTS", "Which redirects to follow.").or(Text, "urllib2"),
		row("force", "FORCE", "Take nothing from a cache.").or(Bool, "false"),
		setting("force_basic_auth", "ANSIBLE_LOOKUP_URL_AGENT", "url_lookup.agent",
			"Send the password before it is asked for.").or(Bool, "false"),
		setting("http_agent", "ANSIBLE_LOOKUP_URL_AGENT", "url_lookup.agent", "What the client calls itself.").or(Text,
			"ansible-httpget"),
		row("timeout", "TIMEOUT", "Seconds that the server may take.").or(Float, "10"),
		row("unix_socket", "UNIX_SOCKET", "Socket to connect to."),
		row("unredirected_headers", "UNREDIR_HEADERS", "Headers that do not follow a redirect."),
		row("use_gssapi", "USE_GSSAPI", "Authenticate by GSSAPI.").or(Bool, "false"),
		row("use_netrc", "USE_NETRC", "Take passwords from ~/.netrc.").or(Bool, "true"),
	)
}
