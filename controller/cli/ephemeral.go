package cli

import (
	"cmp"
	"errors"
	"os"
	"sync"

	"hark/agent/version"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/connections"
	"hark/controller/internal/fleet/ephemeral"
	"hark/controller/internal/play/link"
	"hark/controller/internal/ui/view"
)

// overSSH, in place of a broker's URL, has all hosts reached as if none had an agent.
const overSSH = "ssh:"

func (f flags) ephemeral(o *project.Options) {
	f.Toggle(&o.Ephemeral, "ephemeral", "", false,
		"bring up agents over ssh for this run only, on all hosts; nothing is installed")
	f.agentBinaries(&o.AgentBinaries)
	f.own("ephemeral", "agent-binary")
}

// noAgents reports whether no host has an agent: that was asked for, or nobody knows of a broker. implied is the
// latter.
func (p *run) noAgents() (yes, implied bool) {
	if p.o.Ephemeral || p.o.Broker == overSSH {
		return true, false
	}
	_, err := p.fleet.Access(p.o.Broker)
	return errors.Is(err, fleet.ErrNoBroker), true
}

// ways returns what flags and settings say of connections.
func (p *run) ways() connections.Settings {
	ssh := func(name string) string { return p.cfg.Text("connection/ssh." + name) }
	return connections.Settings{
		Connection: p.o.Connect.Kind, User: p.o.Connect.User, KeyFile: p.o.Connect.KeyFile,
		Password: p.o.Passwords.Connection,
		Port:     p.cfg.Int("DEFAULT_REMOTE_PORT"), Timeout: p.sshTimeout(),
		Retries:    p.cfg.Int("connection/ssh.reconnection_retries"),
		Executable: ssh("ssh_executable"), Prompt: ssh("sshpass_prompt"), Provider: ssh("pkcs11_provider"),
		HostKeyChecking: p.cfg.Bool("connection/ssh.host_key_checking"),
		Args:            ssh("ssh_args"), CommonArgs: cmp.Or(p.o.Connect.SSHCommon,
			ssh("ssh_common_args")), ExtraArgs: cmp.Or(p.o.Connect.SSHExtra, ssh("ssh_extra_args")),
		ControlPath: ssh("control_path"), ControlDir: ssh("control_path_dir"),
		ControlDirSet: p.cfg.IsSet("connection/ssh.control_path_dir") ||
			p.cfg.IsSet("HARK_SSH_KEEP") && p.cfg.Bool("HARK_SSH_KEEP"),
		Home: os.Getenv("HOME"), Hidden: p.display.Hidden(),
	}
}

// sshTimeout returns the time that connecting may take, in seconds: the flag, else the setting of ssh, which is the
// common one by itself.
func (p *run) sshTimeout() int {
	if p.o.Connect.Timeout != p.cfg.Int("DEFAULT_TIMEOUT") {
		return p.o.Connect.Timeout
	}
	return p.cfg.Int("connection/ssh.timeout")
}

// usualForks is how many agents are on their way at once where nobody says.
const usualForks = 50

// keptNote is said once in a run that leaves the program of agents on hosts where it was not.
const keptNote = "hark leaves its agent's program in ~/.cache/hark of the users that it reached over ssh, for the " +
	"next run. HARK_SSH_KEEP=no leaves nothing."

// linkOf returns the link of a run: hub is what it has of agents that are there.
func (p *run) linkOf(hub link.Config) link.Link {
	none, implied := p.noAgents()
	cfg := ephemeral.Config{
		Hub: hub, Resident: !none, Ways: p.ways(), Keep: p.cfg.Bool("HARK_SSH_KEEP"), Forks: cmp.Or(p.forkLimit(),
			usualForks),
		Kept:     sync.OnceFunc(func() { p.display.PrintErr(view.NoColor, keptNote) }),
		Binaries: func() (*bootstrap.Binaries, error) { return p.agentBinaries(p.o.AgentBinaries) },
		Name:     "hark " + version.String(), Logger: p.logTo(),
	}
	if p.display.Verbosity() > 0 { // standard output is Ansible's at any verbosity
		cfg.Say = func(host, text string) { p.display.PrintErr(view.NoColor, host+": "+text) }
	}
	if !p.cfg.Bool("HARK_SSH") {
		cfg.NoSSH = "hosts are not reached over ssh, since HARK_SSH is off"
	}
	if none && implied {
		cfg.Because = "no broker is configured"
	}
	return ephemeral.New(cfg)
}
