package project

import (
	"os"
	"path/filepath"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/move"
	"hark/playbook/roles"
	"hark/playbook/syntax"
)

// Move tells what becomes of the project when it moves from the classic language to that of 2.19.
func (p *Project) Move(playbooks []string) move.Report {
	in := move.Input{
		Playbooks: playbooks, Loader: &syntax.Loader{Secrets: p.Secrets, Duplicates: "ignore"},
		Roles: &roles.Finder{Paths: p.Settings.List("DEFAULT_ROLES_PATH"), CollectionPaths: p.collectionPaths(pythonPackages())}, Set: p.set,
	}
	for _, source := range p.Sources() {
		info, err := os.Stat(source)
		switch {
		case err != nil || strings.Contains(source, ","):
		case info.IsDir():
			in.VarsDirs, in.Inventories = append(in.VarsDirs, source), append(in.Inventories, source)
		default:
			in.VarsDirs = append(in.VarsDirs, filepath.Dir(source))
		}
	}
	p.Extra.Each(func(k, v value.Value) bool {
		in.Variables = append(in.Variables, move.Variable{Name: value.Printed(k), Origin: "-e", Value: v})
		return true
	})
	for _, v := range p.Inventory.SourceVars() {
		in.Variables = append(in.Variables, move.Variable{Name: v.Name, Origin: v.Of + " in the inventory", Value: v.Value})
	}
	return move.Read(in)
}

// set tells where a setting is set, also one that this level does not have any more.
func (e Effective) set(name string) (string, bool) {
	if origin, ok := e.Settings.Gone[name]; ok {
		return origin, true
	}
	return e.Settings.Get(name).Origin, e.Settings.IsSet(name)
}
