package config

// placeSettings returns the directories of plug-ins in Python, and when those for variables run.
func placeSettings() []Setting {
	return []Setting{
		{Name: "DEFAULT_CALLBACK_PLUGIN_PATH", Kind: PathSpec,
			Default: "@home/plugins/callback:/usr/share/ansible/plugins/callback", Env: names("ANSIBLE_CALLBACK_PLUGINS"),
			Keys: keys("defaults.callback_plugins"),
			Doc:  "Where callback plug-ins in Python lie."},
		{Name: "DEFAULT_FILTER_PLUGIN_PATH", Kind: PathSpec,
			Default: "@home/plugins/filter:/usr/share/ansible/plugins/filter", Env: names("ANSIBLE_FILTER_PLUGINS"),
			Keys: keys("defaults.filter_plugins"),
			Doc:  "Where filter plug-ins in Python lie."},
		{Name: "DEFAULT_LOOKUP_PLUGIN_PATH", Kind: PathSpec,
			Default: "@home/plugins/lookup:/usr/share/ansible/plugins/lookup", Env: names("ANSIBLE_LOOKUP_PLUGINS"),
			Keys: keys("defaults.lookup_plugins"),
			Doc:  "Where lookup plug-ins in Python lie."},
		{Name: "DEFAULT_TEST_PLUGIN_PATH", Kind: PathSpec, Default: "@home/plugins/test:/usr/share/ansible/plugins/test",
			Env: names("ANSIBLE_TEST_PLUGINS"), Keys: keys("defaults.test_plugins"),
			Doc: "Where test plug-ins in Python lie."},
		{Name: "DEFAULT_CACHE_PLUGIN_PATH", Kind: PathSpec, Default: "@home/plugins/cache:/usr/share/ansible/plugins/cache",
			Env: names("ANSIBLE_CACHE_PLUGINS"), Keys: keys("defaults.cache_plugins"),
			Doc: "Where fact cache plug-ins in Python lie."},
		{Name: "DEFAULT_VARS_PLUGIN_PATH", Kind: PathSpec, Default: "@home/plugins/vars:/usr/share/ansible/plugins/vars",
			Env: names("ANSIBLE_VARS_PLUGINS"), Keys: keys("defaults.vars_plugins"),
			Doc: "Where vars plug-ins in Python lie."},
		{Name: "RUN_VARS_PLUGINS", Default: "demand", Env: names("ANSIBLE_RUN_VARS_PLUGINS"),
			Keys: keys("defaults.run_vars_plugins"), Choices: names("demand", "start"),
			Doc: "When vars plug-ins run: when inventories are read, or for tasks."},
	}
}
