package builtin

import (
	"context"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/facts"
	"hark/modules/py/value"
	"hark/modules/result"
)

func setup(known *facts.Memory) *modules.Module {
	return modules.Define("ansible.builtin.setup", "Gathers facts about the host",
		func(ctx context.Context, env *modules.Env, a facts.Args) (modules.Result, error) {
			res, err := facts.Gather(ctx, env, known, a)
			res.Data = value.DictOf("changed", modules.Here)
			res.Marks.Quiet = result.Yes // also with -v
			return res, err
		}, isFacts,
		modules.Documented(`- ansible.builtin.setup: {gather_subset: ["!all", network]}
- ansible.builtin.setup: {filter: ["ansible_*_mb"]}
`,
			modules.Return{Name: "ansible_facts", Type: "dict", When: "always", Doc: "The facts."},
		), modules.Programs("fact_path"))
}

// isFacts says what both modules are. What programs they start, and how, is the host's own affair: no argument
// reaches them but fact_path.
func isFacts(m *modules.Module) {
	m.Facts = true
	m.Traits |= modules.ReadsInCheck
	m.StartsInCheck = []string{
		"capsh", "dmidecode", "ethtool", "findmnt", "getent", "head", "lsb_release", "lsblk", "lvs", "pvs", "python*", "stat",
		"vgs",
	}
}
