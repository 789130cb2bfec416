// Package all is the catalogue: every module that hark has.
package all

import (
	"slices"

	"hark/modules"
	"hark/modules/ansible/builtin"
	"hark/modules/ansible/posix"
	"hark/modules/community/crypto"
	"hark/modules/community/general"
	"hark/modules/connection"
	"hark/modules/foreign"
)

// Modules returns all modules, collection by collection.
func Modules() []*modules.Module {
	return slices.Concat(
		builtin.All(),
		posix.All(),
		crypto.All(),
		general.All(),
		connection.All(),
		foreign.All(),
	)
}
