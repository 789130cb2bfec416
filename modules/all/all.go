// Package all is the catalogue: every module that hark has.
package all

import (
	"hark/modules"
	"hark/modules/accounts"
	"hark/modules/commands"
	"hark/modules/connection"
	"hark/modules/control"
	"hark/modules/crypto"
	"hark/modules/facts"
	"hark/modules/files"
	"hark/modules/firewall"
	"hark/modules/foreign"
	"hark/modules/general"
	"hark/modules/network"
	"hark/modules/packages"
	"hark/modules/posix"
	"hark/modules/pypi"
	"hark/modules/rpm"
	"hark/modules/services"
	"hark/modules/storage"
	"hark/modules/system"
	"hark/modules/vcs"
)

// Modules are all modules, family by family.
func Modules() []*modules.Module {
	var list []*modules.Module
	for _, family := range [][]*modules.Module{
		accounts.All(),
		commands.All(),
		connection.All(),
		control.All(),
		crypto.All(),
		facts.All(),
		files.All(),
		firewall.All(),
		foreign.All(),
		general.All(),
		network.All(),
		packages.All(
			packages.Manager{Path: "/usr/bin/dnf", Name: "dnf", Module: rpm.Dnf},
			packages.Manager{Path: "/usr/bin/dnf5", Name: "dnf5", Module: rpm.Dnf5},
			packages.Manager{Path: "/usr/bin/yum", Name: "yum", Module: rpm.Yum},
		),
		posix.All(),
		pypi.All(),
		rpm.All(),
		services.All(),
		storage.All(),
		system.All(),
		vcs.All(),
	} {
		list = append(list, family...)
	}
	return list
}
