package config

// galaxySettings are those of hark galaxy.
func galaxySettings() []Setting {
	return []Setting{
		{Name: "GALAXY_CACHE_DIR", Kind: Path, Default: "@home/galaxy_cache", Env: names("ANSIBLE_GALAXY_CACHE_DIR"), Keys: keys("galaxy.cache_dir"),
			Doc: "Where answers of Galaxy servers are kept for a day."},
		{Name: "GALAXY_COLLECTION_SKELETON", Kind: Path, NoDefault: true, Env: names("ANSIBLE_GALAXY_COLLECTION_SKELETON"), Keys: keys("galaxy.collection_skeleton"),
			Doc: "The tree that galaxy collection init copies."},
		{Name: "GALAXY_COLLECTION_SKELETON_IGNORE", Kind: List, Default: "^.git$, ^.*/.git_keep$", Env: names("ANSIBLE_GALAXY_COLLECTION_SKELETON_IGNORE"), Keys: keys("galaxy.collection_skeleton_ignore"),
			Doc: "What of it is left out: regular expressions."},
		{Name: "GALAXY_DISABLE_GPG_VERIFY", Kind: Bool, Default: "false", Env: names("ANSIBLE_GALAXY_DISABLE_GPG_VERIFY"), Keys: keys("galaxy.disable_gpg_verify"),
			Doc: "Check no signatures of collections."},
		{Name: "GALAXY_DISPLAY_PROGRESS", Kind: Bool, NoDefault: true, Env: names("ANSIBLE_GALAXY_DISPLAY_PROGRESS"), Keys: keys("galaxy.display_progress"),
			Doc: "Show a turning wheel; hark shows none."},
		{Name: "GALAXY_GPG_KEYRING", Kind: Path, NoDefault: true, Env: names("ANSIBLE_GALAXY_GPG_KEYRING"), Keys: keys("galaxy.gpg_keyring"),
			Doc: "The keyring that signatures of collections are checked with."},
		{Name: "GALAXY_IGNORE_CERTS", Kind: Bool, NoDefault: true, Env: names("ANSIBLE_GALAXY_IGNORE"), Keys: keys("galaxy.ignore_certs"),
			Doc: "Take any certificate of Galaxy servers."},
		{Name: "GALAXY_IGNORE_INVALID_SIGNATURE_STATUS_CODES", Kind: List, NoDefault: true, Env: names("ANSIBLE_GALAXY_IGNORE_SIGNATURE_STATUS_CODES"), Keys: keys("galaxy.ignore_signature_status_codes"),
			Doc: "Codes of GnuPG that make no signature bad."},
		{Name: "GALAXY_REQUIRED_VALID_SIGNATURE_COUNT", Default: "1", Env: names("ANSIBLE_GALAXY_REQUIRED_VALID_SIGNATURE_COUNT"), Keys: keys("galaxy.required_valid_signature_count"),
			Doc: "How many signatures of a collection must be good: a number or all, with + in front at least one must be there."},
		{Name: "GALAXY_ROLE_SKELETON", Kind: Path, NoDefault: true, Env: names("ANSIBLE_GALAXY_ROLE_SKELETON"), Keys: keys("galaxy.role_skeleton"),
			Doc: "The tree that galaxy role init copies."},
		{Name: "GALAXY_ROLE_SKELETON_IGNORE", Kind: List, Default: "^.git$, ^.*/.git_keep$", Env: names("ANSIBLE_GALAXY_ROLE_SKELETON_IGNORE"), Keys: keys("galaxy.role_skeleton_ignore"),
			Doc: "What of it is left out: regular expressions."},
		{Name: "GALAXY_SERVER", Default: "https://galaxy.ansible.com", Env: names("ANSIBLE_GALAXY_SERVER"), Keys: keys("galaxy.server"),
			Doc: "The Galaxy server, where no list of servers is set."},
		{Name: "GALAXY_SERVER_LIST", Kind: List, NoDefault: true, Env: names("ANSIBLE_GALAXY_SERVER_LIST"), Keys: keys("galaxy.server_list"),
			Doc: "Names of Galaxy servers, in the order in which they are asked; [galaxy_server.NAME] says where each is."},
		{Name: "GALAXY_TOKEN_PATH", Kind: Path, Default: "@home/galaxy_token", Env: names("ANSIBLE_GALAXY_TOKEN_PATH"), Keys: keys("galaxy.token_path"),
			Doc: "The file with the token for Galaxy servers."},
	}
}
