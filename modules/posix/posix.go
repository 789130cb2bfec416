// Package posix holds the everyday modules of the collection ansible.posix.
package posix

import (
	"hark/modules"
)

// All are the modules of this family.
func All() []*modules.Module {
	return []*modules.Module{ACL, AuthorizedKey, Firewalld, Mount, SEBoolean, SELinux, Synchronize, Sysctl}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// orNil is the value of an argument as results have it.
func orNil(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}
