package config

import "hark/playbook/level"

// harkSettings are hark's own.
func harkSettings() []Setting {
	return []Setting{
		{Name: "HARK_BROKER", NoDefault: true, Env: names("HARK_BROKER"), Keys: keys("hark.broker"), Flag: "broker",
			Doc: "URL of the broker between this machine and the agents: nats://HOST:PORT, tls://HOST:PORT. Several are " +
				"separated by commas."},
		{Name: "HARK_ANSIBLE", NoDefault: true, Env: names("HARK_ANSIBLE"), Keys: keys("hark.ansible"),
			Choices: level.Names(),
			Doc: "The language of playbooks: that of ansible-core 2.14 to 2.18, or of 2.19 and later. Without it that of " +
				"the ansible-core on this machine, and where there is none the newest."},
		{Name: "HARK_HOME", Kind: Path, Default: "~/.config/hark", Env: names("HARK_HOME"), Keys: keys("hark.home"),
			Doc: "Directory of the operator's keys, credentials and roster."},
		{Name: "HARK_OPERATOR_KEY", Kind: Path, Default: "@hark/operator.nk", Env: names("HARK_OPERATOR_KEY"),
			Keys: keys("hark.operator_key"),
			Doc:  "File of the key that signs what is sent to agents. It is made when it is first needed."},
		{Name: "HARK_CREDENTIALS", Kind: Path, NoDefault: true, Env: names("HARK_CREDENTIALS"),
			Keys: keys("hark.credentials"),
			Doc:  "File with the token for a broker that asks for one, or a NATS .creds file."},
		{Name: "HARK_CA", Kind: Path, NoDefault: true, Env: names("HARK_CA"), Keys: keys("hark.ca"),
			Doc: "Certificate authority of the broker, in PEM."},
		{Name: "HARK_LEASE", Kind: Seconds, Default: "60", Env: names("HARK_LEASE"), Keys: keys("hark.lease"),
			Doc: "Seconds that an agent waits at a barrier without hearing of the controller, or a time with its unit: 90s, " +
				"5m. The default is 60."},
		{Name: "HARK_FORKS", Kind: Int, Default: "0", Env: names("HARK_FORKS"), Keys: keys("hark.forks"),
			Doc: "How many hosts may be at a step at once; 0 is all of them. DEFAULT_FORKS counts if it is set."},
		{Name: "HARK_SSH", Kind: Bool, Default: "true", Env: names("HARK_SSH"), Keys: keys("hark.ssh"),
			Doc: "Reach hosts without an agent over ssh, and those whose connection is ssh. If off they are unreachable; " +
				"bootstrap uses ssh all the same."},
		{Name: "HARK_SSH_KEEP", Kind: Bool, Default: "true", Env: names("HARK_SSH_KEEP"), Keys: keys("hark.ssh_keep"),
			Doc: "Leave the agent's program in the cache (~/.cache/hark) of users of ssh connections, for the next run. It " +
				"goes when it was not used for a week. If off nothing stays on hosts; if set to on, connections of ssh stay too, " +
				"for as long as ssh_args say."},
		{Name: "HARK_FACTS_AGE", Kind: Seconds, Default: "86400", Env: names("HARK_FACTS_AGE"), Keys: keys("hark.facts_age"),
			Doc: "For how many seconds facts on record may leave a host out of a `facts:` pattern, or a time with its unit: " +
				"12h, 7d. Hosts whose facts are older are asked. The default is a day."},
		{Name: "HARK_NOTIFY", Kind: List, NoDefault: true, Env: names("HARK_NOTIFY"), Keys: keys("hark.notify"),
			Doc: "Who is told when how a run or the hosts of a keeper stand changes: targets, separated by commas."},
		{Name: "HARK_CONSOLE", NoDefault: true, Env: names("HARK_CONSOLE"), Keys: keys("hark.console"),
			Doc: "Address of the console in messages, such as https://hark.example.org."},
		{Name: "HARK_STATUS_LINE", Kind: Bool, Default: "true", Env: names("HARK_STATUS_LINE"),
			Keys: keys("hark.status_line"),
			Doc:  "On a terminal, show a line that tells how far a long run is."},
		{Name: "HARK_RECORD", Default: "brief", Choices: names("brief", "full", "off"), Env: names("HARK_RECORD"),
			Keys: keys("hark.record"),
			Doc: "What is recorded of runs: brief is what the screen needed, full has the output of all tasks, off is " +
				"nothing."},
		{Name: "HARK_RUNS_KEEP", Default: "30d,2GB,400d", Env: names("HARK_RUNS_KEEP"), Keys: keys("hark.runs_keep"),
			Doc: "How long the lines of records are kept, how much room all records may take (0 is any), and how long is kept " +
				"who ran what and how it ended."},
	}
}
