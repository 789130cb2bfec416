// Package posix holds the modules of the collection ansible.posix, a file each, named as the module.
package posix

import (
	"hark/modules"
)

// All returns the modules of the collection.
func All() []*modules.Module {
	return []*modules.Module{
		AuthorizedKey,
		Firewalld,
		Mount,
		SEBoolean,
		SELinux,
		Synchronize,
		Sysctl,
	}
}
