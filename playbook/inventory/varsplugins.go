package inventory

import "hark/modules/py/value"

// VarsPlugins are vars plug-ins that are not hark's own, which reads group_vars and host_vars. Calls come one at a time.
type VarsPlugins interface {
	// Vars are the variables that plug-ins give groups or hosts (kind group_vars, host_vars) for a directory, which is an inventory's or
	// the playbook's, at a stage: those that files of variables there stand above, and those that stand above the files. Nil is none.
	Vars(dir, kind string, names []string, stage Stage) (under, over *value.Dict, err error)
}

// Stage is when vars plug-ins run.
type Stage string

// The stages. A plug-in runs at one of the first two or at both (AnyStage); when an inventory is shown, all but those that are for the first
// alone run.
const (
	AtInventory Stage = "inventory" // once, when the sources were read: what they give then is hosts' and groups' own
	AtTasks     Stage = "task"
	AnyStage    Stage = "all"
	NoStage     Stage = "none"
)

// includes tells whether what has a stage of its own runs at another one.
func (own Stage) includes(stage Stage) bool {
	if own == "" {
		own = AtTasks
	}
	return own == AnyStage || own == stage || stage == AnyStage && own != NoStage
}

// lay lays what a directory holds for groups or hosts over out: that of plug-ins, of files, and of plug-ins that come after files.
func (inv *Inventory) lay(out *value.Dict, dir *varsDir, stage Stage, names ...string) error {
	var under, over *value.Dict
	if inv.o.VarsPlugins != nil && len(names) > 0 {
		var err error
		if under, over, err = inv.o.VarsPlugins.Vars(dir.root, dir.kind, names, stage); err != nil {
			return err
		}
	}
	inv.combine(out, under)
	if inv.o.FilesStage.includes(stage) {
		for _, name := range names {
			d, err := inv.fileVars(dir, name)
			if err != nil {
				return err
			}
			inv.combine(out, d)
		}
	}
	inv.combine(out, over)
	return nil
}

// layOwn gives hosts and groups what runs when the sources were read.
func (inv *Inventory) layOwn() error {
	if inv.o.VarsPlugins == nil && !inv.o.FilesStage.includes(AtInventory) {
		return nil
	}
	groupDirs, hostDirs := inv.sourceDirs("group_vars"), inv.sourceDirs("host_vars")
	for _, g := range inv.groupList {
		for _, dir := range groupDirs {
			if err := inv.lay(g.vars, dir, AtInventory, g.Name); err != nil {
				return err
			}
		}
	}
	for _, h := range inv.hostList {
		for _, dir := range hostDirs {
			if h.vars == nil {
				h.vars = value.NewDict()
			}
			if err := inv.lay(h.vars, dir, AtInventory, h.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func groupNames(groups []*Group) []string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.Name
	}
	return names
}
