package plan

// Plugins are the filters and tests in Python in the project's own directories, by name: they hide hark's. Those of
// collections have full names that no native one has.
type Plugins struct {
	Filters []string `json:"filters,omitempty"`
	Tests   []string `json:"tests,omitempty"`
	// More says that roles that are included later may add more of them.
	More bool `json:"more,omitempty"`
}

// ConnectionPlugins returns the connections that Ansible knows by their short names: its own, and those of collections
// that had such names before collections existed. Nobody may change it.
func ConnectionPlugins() []string { return connectionPlugins }

var connectionPlugins = []string{
	"smart", "ssh", "paramiko", "paramiko_ssh", "local", "psrp", "winrm",
	"aws_ssm", "buildah", "chroot", "docker", "funcd", "httpapi", "iocage", "jail", "kubectl", "libvirt_lxc", "lxc", "lxd",
	"napalm", "netconf", "network_cli", "oc", "persistent", "podman", "qubes", "redirected_local", "saltstack",
	"vmware_tools", "zone",
}
