// Package all is the catalogue: every module that hark has.
package all

import (
	"hark/modules"
	"hark/modules/commands"
	"hark/modules/files"
)

// Modules are all modules, family by family.
func Modules() []*modules.Module {
	var list []*modules.Module
	for _, family := range [][]*modules.Module{
		commands.All(),
		files.All(),
	} {
		list = append(list, family...)
	}
	return list
}
