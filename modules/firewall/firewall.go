// Package firewall holds the modules that set the rules of the host's packet filter.
package firewall

import "hark/modules"

// All are the modules of this family.
func All() []*modules.Module { return []*modules.Module{Iptables, Ufw} }
