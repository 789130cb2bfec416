package config

import "hark/modules/dialect"

// inventorySettings are about hosts, groups and their variables.
func inventorySettings() []Setting {
	return []Setting{
		{Name: "DEFAULT_HOST_LIST", Kind: PathList, Default: "/etc/ansible/hosts", Env: names("ANSIBLE_INVENTORY"),
			Keys: keys("defaults.inventory"),
			Doc:  "The inventories, if none are given."},
		{Name: "HOST_PATTERN_MISMATCH", Default: "warning", Env: names("ANSIBLE_HOST_PATTERN_MISMATCH"),
			Keys: keys("inventory.host_pattern_mismatch"), Choices: names("error", "warning", "ignore"),
			Doc: "What to do about a host pattern that matches nothing."},
		{Name: "INVENTORY_ANY_UNPARSED_IS_FAILED", Kind: Bool, Default: "false",
			Env: names("ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"), Keys: keys("inventory.any_unparsed_is_failed"),
			Doc: "An inventory that cannot be read is an error, whatever the others give."},
		{Name: "INVENTORY_ENABLED", Kind: List, Default: "host_list, script, auto, yaml, ini, toml",
			Env: names("ANSIBLE_INVENTORY_ENABLED"), Keys: keys("inventory.enable_plugins"),
			Doc: "The kinds of inventories that are tried, in order."},
		{Name: "INVENTORY_EXPORT", Kind: Bool, Default: "false", Env: names("ANSIBLE_INVENTORY_EXPORT"),
			Keys: keys("inventory.export"),
			Doc:  "Print inventories in their own form instead of as plays see them."},
		{Name: "INVENTORY_IGNORE_EXTS", Kind: List,
			Default: ".pyc, .pyo, .swp, .bak, ~, .rpm, .md, .txt, .rst, .orig, .ini, .cfg, .retry",
			Renewed: dialect.IniInventories, Newer: ".pyc, .pyo, .swp, .bak, ~, .rpm, .md, .txt, .rst, .orig, .cfg, .retry",
			Env:  names("ANSIBLE_INVENTORY_IGNORE"),
			Keys: keys("defaults.inventory_ignore_extensions", "inventory.ignore_extensions"),
			Doc:  "Files with these endings are left out of inventory directories."},
		{Name: "INVENTORY_IGNORE_PATTERNS", Kind: List, Env: names("ANSIBLE_INVENTORY_IGNORE_REGEX"),
			Keys: keys("defaults.inventory_ignore_patterns", "inventory.ignore_patterns"),
			Doc:  "Files that match these expressions are left out of inventory directories."},
		{Name: "INVENTORY_UNPARSED_IS_FAILED", Kind: Bool, Default: "false",
			Env: names("ANSIBLE_INVENTORY_UNPARSED_FAILED"), Keys: keys("inventory.unparsed_is_failed"),
			Doc: "It is an error if no inventory can be read."},
		{Name: "INVENTORY_UNPARSED_WARNING", Kind: Bool, Default: "true", Env: names("ANSIBLE_INVENTORY_UNPARSED_WARNING"),
			Keys: keys("inventory.inventory_unparsed_warning"),
			Doc:  "Warn if no inventory can be read."},
		{Name: "LOCALHOST_WARNING", Kind: Bool, Default: "true", Env: names("ANSIBLE_LOCALHOST_WARNING"),
			Keys: keys("defaults.localhost_warning"),
			Doc:  "Warn if there are no hosts but localhost."},
		{Name: "PLAYBOOK_VARS_ROOT", Default: "top", Env: names("ANSIBLE_PLAYBOOK_VARS_ROOT"),
			Keys: keys("defaults.playbook_vars_root"), Choices: names("top", "bottom", "all"),
			Doc: "Which playbook directories hold group_vars and host_vars: top, bottom or all."},
		{Name: "TRANSFORM_INVALID_GROUP_CHARS", Default: "never", Env: names("ANSIBLE_TRANSFORM_INVALID_GROUP_CHARS"),
			Keys: keys("defaults.force_valid_group_names"), Choices: names("always", "never", "ignore", "silently"),
			Doc: "What to do about group names that are no variable names."},
		{Name: "VARIABLE_PLUGINS_ENABLED", Kind: List, Default: "host_group_vars", Env: names("ANSIBLE_VARS_ENABLED"),
			Keys: keys("defaults.vars_plugins_enabled"),
			Doc:  "Where variables come from beside inventories."},
		{Name: "VARIABLE_PRECEDENCE", Kind: List,
			Default: "all_inventory, groups_inventory, all_plugins_inventory, all_plugins_play, groups_plugins_inventory, " +
				"groups_plugins_play", Env: names("ANSIBLE_PRECEDENCE"), Keys: keys("defaults.precedence"),
			Doc: "The order of the sources of variables."},
	}
}

// vaultSettings are about encrypted files and strings.
func vaultSettings() []Setting {
	return []Setting{
		{Name: "DEFAULT_ASK_VAULT_PASS", Kind: Bool, Default: "false", Env: names("ANSIBLE_ASK_VAULT_PASS"),
			Keys: keys("defaults.ask_vault_pass"),
			Doc:  "Ask for the vault password."},
		{Name: "DEFAULT_VAULT_ENCRYPT_IDENTITY", NoDefault: true, Env: names("ANSIBLE_VAULT_ENCRYPT_IDENTITY"),
			Keys: keys("defaults.vault_encrypt_identity"),
			Doc:  "The vault identity to encrypt with, if several are known."},
		{Name: "DEFAULT_VAULT_IDENTITY", Default: "default", Env: names("ANSIBLE_VAULT_IDENTITY"),
			Keys: keys("defaults.vault_identity"),
			Doc:  "The label of secrets that are given without one."},
		{Name: "DEFAULT_VAULT_IDENTITY_LIST", Kind: List, Env: names("ANSIBLE_VAULT_IDENTITY_LIST"),
			Keys: keys("defaults.vault_identity_list"),
			Doc:  "Vault identities that are always known: label@source."},
		{Name: "DEFAULT_VAULT_ID_MATCH", Kind: Bool, Default: "false", Env: names("ANSIBLE_VAULT_ID_MATCH"),
			Keys: keys("defaults.vault_id_match"),
			Doc:  "Try only the secret whose label stands in the file."},
		{Name: "DEFAULT_VAULT_PASSWORD_FILE", Kind: Path, NoDefault: true, Env: names("ANSIBLE_VAULT_PASSWORD_FILE"),
			Keys: keys("defaults.vault_password_file"),
			Doc:  "File that holds the vault password, or a program that prints it."},
	}
}

// pathSettings returns where things are looked for.
func pathSettings() []Setting {
	return []Setting{
		{Name: "PLUGIN_FILTERS_CFG", Kind: Path, NoDefault: true, Keys: keys("defaults.plugin_filters_cfg"),
			Doc: "File that names modules which plays may not use; /etc/ansible/plugin_filters.yml if there is one."},
		{Name: "ANSIBLE_HOME", Kind: Path, Default: "~/.ansible", Env: names("ANSIBLE_HOME"), Keys: keys("defaults.home"),
			Doc: "The directory under which everything of the user's lies."},
		{Name: "COLLECTIONS_ON_ANSIBLE_VERSION_MISMATCH", Default: "warning",
			Env:  names("ANSIBLE_COLLECTIONS_ON_ANSIBLE_VERSION_MISMATCH"),
			Keys: keys("defaults.collections_on_ansible_version_mismatch"), Choices: names("error", "warning", "ignore"),
			Doc: "What to do about a collection that asks for another version of Ansible."},
		{Name: "COLLECTIONS_PATHS", Kind: PathSpec, Default: "@home/collections:/usr/share/ansible/collections",
			Env: names("ANSIBLE_COLLECTIONS_PATHS", "ANSIBLE_COLLECTIONS_PATH"), Keys: keys("defaults.collections_paths",
				"defaults.collections_path"),
			Doc: "Where collections are looked for."},
		{Name: "DEFAULT_LOCAL_TMP", Kind: Path, Default: "@home/tmp", Env: names("ANSIBLE_LOCAL_TEMP"),
			Keys: keys("defaults.local_tmp"),
			Doc:  "Directory for temporary files of the controller."},
		{Name: "DEFAULT_MODULE_PATH", Kind: PathSpec, Default: "@home/plugins/modules:/usr/share/ansible/plugins/modules",
			Env: names("ANSIBLE_LIBRARY"), Keys: keys("defaults.library"),
			Doc: "Where modules beside the built-in ones are looked for."},
		{Name: "DEFAULT_ROLES_PATH", Kind: PathSpec, Default: "@home/roles:/usr/share/ansible/roles:/etc/ansible/roles",
			Env: names("ANSIBLE_ROLES_PATH"), Keys: keys("defaults.roles_path"),
			Doc: "Where roles are looked for."},
		{Name: "PLAYBOOK_DIR", Kind: Path, NoDefault: true, Env: names("ANSIBLE_PLAYBOOK_DIR"),
			Keys: keys("defaults.playbook_dir"),
			Doc:  "What counts as the playbook's directory in commands without a playbook."},
	}
}

// connectionSettings are about reaching hosts and what is expected there.
func connectionSettings() []Setting {
	return []Setting{
		{Name: "CONNECTION_PASSWORD_FILE", Kind: Path, NoDefault: true, Env: names("ANSIBLE_CONNECTION_PASSWORD_FILE"),
			Keys: keys("defaults.connection_password_file"),
			Doc:  "File that holds the password of the connection, for bootstrap."},
		{Name: "DEFAULT_ASK_PASS", Kind: Bool, Default: "false", Env: names("ANSIBLE_ASK_PASS"),
			Keys: keys("defaults.ask_pass"),
			Doc:  "Ask for the password of the connection."},
		{Name: "DEFAULT_EXECUTABLE", Default: "/bin/sh", Env: names("ANSIBLE_EXECUTABLE"), Keys: keys("defaults.executable"),
			Doc: "The shell of the targets."},
		{Name: "DEFAULT_PRIVATE_KEY_FILE", Kind: Path, NoDefault: true, Env: names("ANSIBLE_PRIVATE_KEY_FILE"),
			Keys: keys("defaults.private_key_file"),
			Doc:  "The ssh key, for bootstrap."},
		{Name: "DEFAULT_REMOTE_PORT", Kind: Int, NoDefault: true, Env: names("ANSIBLE_REMOTE_PORT"),
			Keys: keys("defaults.remote_port"),
			Doc:  "The ssh port, for bootstrap."},
		{Name: "DEFAULT_REMOTE_USER", NoDefault: true, Env: names("ANSIBLE_REMOTE_USER"), Keys: keys("defaults.remote_user"),
			Doc: "The user that tasks run as without become."},
		{Name: "DEFAULT_SELINUX_SPECIAL_FS", Kind: List, Default: "fuse, nfs, vboxsf, ramfs, 9p, vfat",
			Env: names("ANSIBLE_SELINUX_SPECIAL_FS"), Keys: keys("selinux.special_context_filesystems"),
			Doc: "File systems whose SELinux contexts are left alone."},
		{Name: "DEFAULT_TIMEOUT", Kind: Int, Default: "10", Env: names("ANSIBLE_TIMEOUT"), Keys: keys("defaults.timeout"),
			Doc: "Seconds that connecting to a host may take."},
		{Name: "DEFAULT_TRANSPORT", Default: "smart", Env: names("ANSIBLE_TRANSPORT"), Keys: keys("defaults.transport"),
			Doc: "The connection of hosts that name none: smart is the agent, local is this machine."},
		{Name: "HOST_KEY_CHECKING", Kind: Bool, Default: "true", Env: names("ANSIBLE_HOST_KEY_CHECKING"),
			Keys: keys("defaults.host_key_checking"),
			Doc:  "Check the ssh host keys, in bootstrap."},
		{Name: "INTERPRETER_PYTHON", Default: "auto", Env: names("ANSIBLE_PYTHON_INTERPRETER"),
			Keys: keys("defaults.interpreter_python"),
			Doc:  "The Python of the targets, for modules and facts that need one."},
		{Name: "INTERPRETER_PYTHON_FALLBACK", Kind: List,
			Default: "python3.11, python3.10, python3.9, python3.8, python3.7, python3.6, python3.5, /usr/bin/python3, " +
				"/usr/libexec/platform-python, python2.7, /usr/bin/python, python",
			Doc: "Where Python is looked for on the targets."},
	}
}
