package plan

// Plugins are the filters and tests of the project's own directories that are written in Python, by name: they hide
// hark's. Those of collections are asked for by the full names that nobody knows.
type Plugins struct {
	Filters []string `json:"filters,omitempty"`
	Tests   []string `json:"tests,omitempty"`
	// More: roles that are included later may bring more of them.
	More bool `json:"more,omitempty"`
}

// ConnectionPlugins are the connections that Ansible knows by their short names: its own, and those of collections
// that had such names before there were collections. Nobody may change it.
func ConnectionPlugins() []string { return connectionPlugins }

var connectionPlugins = []string{
	"smart", "ssh", "paramiko", "paramiko_ssh", "local", "psrp", "winrm",
	"aws_ssm", "buildah", "chroot", "docker", "funcd", "httpapi", "iocage", "jail", "kubectl", "libvirt_lxc", "lxc", "lxd",
	"napalm", "netconf", "network_cli", "oc", "persistent", "podman", "qubes", "redirected_local", "saltstack",
	"vmware_tools", "zone",
}
