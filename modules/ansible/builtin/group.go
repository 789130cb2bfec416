package builtin

import (
	"context"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/accounts"
	"hark/modules/py/value"
)

type groupArgs struct {
	Name      string `arg:"name,required" doc:"The group."`
	State     string `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be there."`
	GID       *int   `arg:"gid" doc:"Its number."`
	System    bool   `arg:"system,default=no" doc:"Make it a system group."`
	Local     bool   `arg:"local,default=no" doc:"Use the tools of libuser, which leave directories alone."`
	NonUnique bool   `arg:"non_unique,default=no" doc:"Allow a gid that another group has."`
	Force     bool   `arg:"force,since=2.15,default=no" doc:"Remove it although it is the primary group of a user."`
	GIDMin    *int   `arg:"gid_min,since=2.18" doc:"The least number that a new group gets, instead of that in login.defs."`
	GIDMax    *int   `arg:"gid_max,since=2.18" doc:"The greatest number that a new group gets, instead of that in login.defs."`
}

// Group is ansible.builtin.group.
var Group = modules.Define("ansible.builtin.group", "Adds or removes groups", runGroup,
	modules.Operands("name"),
	modules.StartsInCheck("getent"),
	modules.WithRules(modules.Rules{If: []modules.RequiredIf{{Param: "non_unique", Value: true, Names: []string{"gid"}}}}),
	modules.Documented(`- ansible.builtin.group: {name: deploy, gid: 1750, state: present}
`,
		modules.Return{Name: "name", Type: "str", When: "always", Doc: "The group."},
		modules.Return{Name: "gid", Type: "int", When: "the group is there", Doc: "Its id."},
		modules.Return{Name: "state", Type: "str", When: "always", Doc: "present or absent."},
		modules.Return{Name: "system", Type: "bool", When: "state is present", Doc: "Whether it is a system group."},
	))

func runGroup(ctx context.Context, env *modules.Env, a groupArgs) (modules.Result, error) {
	if msg := notForLocal(a); msg != "" {
		return modules.Fail("%s", msg)
	}
	db := accounts.Database{Ctx: ctx, Env: env}
	data := value.DictOf("name", a.Name, "state", a.State)
	exists, err := groupExists(db, a)
	if err != nil {
		return modules.Result{}, err
	}
	if env.Check && exists != (a.State == "present") {
		return modules.Result{Changed: true}, nil
	}
	var done *accounts.Ran
	switch {
	case a.State == "absent" && exists:
		done, err = db.Run(append(append([]string{kin(a.Local, "groupdel")}, forced(a)...), a.Name)...)
	case a.State == "present" && !exists:
		done, err = addGroup(db, a)
	case a.State == "present":
		done, err = modifyGroup(db, a)
	}
	if err != nil {
		return modules.Result{}, err
	}
	if done.Failed() {
		return modules.Result{Failed: true, Msg: done.Stderr, Data: value.DictOf("name", a.Name)}, nil
	}
	data.Put("changed", modules.Here)
	changed := done.Outcome(data)
	if g, err := db.GroupNamed(a.Name); err == nil && g != nil && a.State == "present" {
		data.Put("system", a.System)
		data.Put("gid", g.GID)
	}
	return modules.Result{Changed: changed, Data: data}, nil
}

// notForLocal names an argument that the tools of libuser do not have.
func notForLocal(a groupArgs) string {
	switch {
	case !a.Local:
		return ""
	case a.Force:
		return "force is not a valid option for local, force=True and local=True are mutually exclusive"
	case a.GIDMin != nil:
		return "'gid_min' can not be used with 'local'"
	case a.GIDMax != nil:
		return "'gid_max' can not be used with 'local'"
	}
	return ""
}

func forced(a groupArgs) []string {
	if a.Force {
		return []string{"-f"}
	}
	return nil
}

func groupExists(db accounts.Database, a groupArgs) (bool, error) {
	if a.Local {
		return accounts.InFile(db.Env, accounts.GroupFile, a.Name,
			"'local: true' specified and group was not found in "+accounts.GroupFile+
				". The local group may already exist if the local group database exists somewhere other than "+accounts.GroupFile+
				".")
	}
	g, err := db.GroupNamed(a.Name)
	return g != nil, err
}

// kin returns the name of a tool, or of its kin in libuser.
func kin(local bool, name string) string {
	if local {
		return "l" + name
	}
	return name
}

func addGroup(db accounts.Database, a groupArgs) (*accounts.Ran, error) {
	if err := freeGID(db, a); err != nil {
		return nil, err
	}
	argv := append([]string{kin(a.Local, "groupadd")}, gidOptions(a)...)
	if a.System {
		argv = append(argv, "-r")
	}
	argv = append(argv, idRange("GID", a.GIDMin, a.GIDMax)...)
	return db.Run(append(argv, a.Name)...)
}

func modifyGroup(db accounts.Database, a groupArgs) (*accounts.Ran, error) {
	if err := freeGID(db, a); err != nil {
		return nil, err
	}
	g, err := db.GroupNamed(a.Name)
	if err != nil || g == nil || a.GID == nil || g.GID == *a.GID {
		return nil, err
	}
	return db.Run(append(append([]string{kin(a.Local, "groupmod")}, gidOptions(a)...), a.Name)...)
}

func gidOptions(a groupArgs) []string {
	if a.GID == nil {
		return nil
	}
	options := []string{"-g", itoa(*a.GID)}
	if a.NonUnique {
		options = append(options, "-o")
	}
	return options
}

// idRange returns the options that put other limits in the place of those in login.defs; kind is UID or GID.
func idRange(kind string, least, greatest *int) []string {
	var options []string
	if least != nil {
		options = append(options, "-K", kind+"_MIN="+itoa(*least))
	}
	if greatest != nil {
		options = append(options, "-K", kind+"_MAX="+itoa(*greatest))
	}
	return options
}

// freeGID checks what the tools of libuser do not: that no other group has the gid.
func freeGID(db accounts.Database, a groupArgs) error {
	if !a.Local || a.GID == nil || *a.GID == 0 {
		return nil
	}
	all, err := db.Groups()
	for _, g := range all {
		if g.GID == *a.GID && g.Name != a.Name {
			return &modules.Ended{Result: modules.Result{
				Failed: true, Msg: "GID '" + itoa(g.GID) + "' already exists with group '" + g.Name + "'",
			}}
		}
	}
	return err
}
