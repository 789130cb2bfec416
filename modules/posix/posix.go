// Package posix holds the everyday modules of the collection ansible.posix.
package posix

import (
	"hark/modules"
)

// All are the modules of this family.
func All() []*modules.Module {
	return []*modules.Module{ACL, AuthorizedKey, Firewalld, Mount, SEBoolean, SELinux, Synchronize, Sysctl}
}
