package general

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/community/general/internal/disktools"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
)

type lvgArgs struct {
	VG          string   `arg:"vg,required" doc:"The volume group."`
	PVs         []string `arg:"pvs" doc:"Devices of the group."`
	RemoveExtra bool     `arg:"remove_extra_pvs,extra,default=yes" doc:"Whether devices that the group has beside them are taken out."`
	PESize      string   `arg:"pesize,default=4" doc:"Size of extents, in MiB if there is no unit; that of a group that is there stays."`
	PVOptions   string   `arg:"pv_options,default=" doc:"Options for pvcreate."`
	PVResize    bool     `arg:"pvresize,default=no" doc:"Let physical volumes grow to the size of their devices."`
	VGOptions   string   `arg:"vg_options,default=" doc:"Options for vgcreate."`
	State       string   `arg:"state,default=present,choices=absent|present" doc:"Whether there shall be the group."`
	Force       bool     `arg:"force,default=no" doc:"Remove the group with the volumes that are in it."`
}

// LVG is community.general.lvg.
var LVG = modules.Define("community.general.lvg", "Manage volume groups of LVM", runLVG,
	modules.Documented(`- community.general.lvg: {vg: data, pvs: [/dev/vdb, /dev/vdc], pesize: 32}
- community.general.lvg: {vg: data, state: absent, force: true}
`), modules.Programs("pv_options", "vg_options"))

// group is one call of the module.
type group struct {
	tool.Host
	args    lvgArgs
	wanted  []string // devices, links resolved
	has     []string // those that the group has
	changed bool
}

func runLVG(ctx context.Context, env *modules.Env, a lvgArgs) (modules.Result, error) {
	g := &group{Host: disktools.Host(ctx, env), args: a}
	if len(a.PVs) == 0 && a.State == "present" {
		return modules.Fail("No physical volumes given.")
	}
	for _, dev := range a.PVs {
		g.wanted = append(g.wanted, fsx.RealPath(dev))
	}
	if a.State == "present" {
		if err := g.look(); err != nil {
			return modules.Result{}, err
		}
	}
	exists, volumes, err := g.find()
	switch {
	case err != nil:
	case !exists && a.State == "present":
		err = g.create()
	case exists && a.State == "absent":
		err = g.remove(volumes)
	case exists:
		err = g.fit()
	}
	return modules.Result{Changed: g.changed}, err
}

// look finds the devices that the group has; those that are wanted must be there, and in no other group.
func (g *group) look() error {
	for _, dev := range g.wanted {
		if !fsx.Exists(dev) {
			return tool.Fail(nil, "Device %s not found.", dev)
		}
	}
	var names []string
	for _, dev := range append(slices.Clone(g.wanted), g.args.PVs...) {
		names = append(names, "pv_name = "+dev)
	}
	selected := strings.Join(names, " || ") + " || vg_name = " + g.args.VG
	out, err := g.Run("pvs", "--noheadings", "-o", "pv_name,vg_name", "--separator", ";", "--select", selected)
	if err == nil && out.Rc != 0 {
		err = disktools.Failed(out, "Failed executing pvs command.")
	}
	if err != nil {
		return err
	}
	for _, row := range disktools.Rows(out.Stdout) {
		if len(row) < 2 {
			continue
		}
		name, err := g.mapperName(row[0])
		if err != nil {
			return err
		}
		if slices.Contains(g.wanted, name) && row[1] != "" && row[1] != g.args.VG {
			return tool.Fail(nil, "Device %s is already in %s volume group.", name, row[1])
		}
		if row[1] == g.args.VG {
			g.has = append(g.has, fsx.RealPath(name))
		}
	}
	return nil
}

// mapperName is the name by which people know a device of the device mapper.
func (g *group) mapperName(dev string) (string, error) {
	if !strings.HasPrefix(dev, "/dev/dm-") {
		return dev, nil
	}
	out, err := g.Run("dmsetup", "info", "-C", "--noheadings", "-o", "name", dev)
	if err == nil && out.Rc != 0 {
		err = disktools.Failed(out, "Failed executing dmsetup command.")
	}
	return "/dev/mapper/" + strings.TrimSpace(out.Stdout), err
}

// find tells whether there is the group, and how many volumes are in it.
func (g *group) find() (exists bool, volumes int, err error) {
	out, err := g.Run("vgs", "--noheadings", "-o", "vg_name,pv_count,lv_count", "--separator", ";")
	if err == nil && out.Rc != 0 {
		err = disktools.Failed(out, "Failed executing vgs command.")
	}
	for _, row := range disktools.Rows(out.Stdout) {
		if len(row) == 3 && row[0] == g.args.VG {
			volumes, _ = strconv.Atoi(row[2])
			return true, volumes, err
		}
	}
	return false, 0, err
}

// do runs a program that changes something; the words are the failure.
func (g *group) do(words, program string, args ...string) error {
	if g.changed = true; g.Env.Check {
		return nil
	}
	out, err := g.Run(program, args...)
	if err == nil && out.Rc != 0 {
		err = disktools.Failed(out, "%s", words)
	}
	return err
}

// prepare makes devices physical volumes.
func (g *group) prepare(devs []string) error {
	for _, dev := range devs {
		words := append(strings.Fields(g.args.PVOptions), "-f", dev)
		if err := g.do("Creating physical volume '"+dev+"' failed", "pvcreate", words...); err != nil {
			return err
		}
	}
	return nil
}

func (g *group) create() error {
	if err := g.prepare(g.wanted); err != nil {
		return err
	}
	words := append(strings.Fields(g.args.VGOptions), "-s", g.args.PESize, g.args.VG)
	return g.do("Creating volume group '"+g.args.VG+"' failed", "vgcreate", append(words, g.wanted...)...)
}

func (g *group) remove(volumes int) error {
	if volumes > 0 && !g.args.Force && !g.Env.Check {
		return tool.Fail(nil, "Refuse to remove non-empty volume group %s without force=true", g.args.VG)
	}
	return g.do("Failed to remove volume group "+g.args.VG, "vgremove", "--force", g.args.VG)
}

// fit gives the group the devices that are wanted and no others.
func (g *group) fit() error {
	if g.args.PVResize {
		for _, dev := range g.has {
			if err := g.resize(dev); err != nil {
				return err
			}
		}
	}
	add, drop := without(g.wanted, g.has), without(g.has, g.wanted)
	if len(add) > 0 {
		if err := g.prepare(add); err != nil {
			return err
		}
		failure := fmt.Sprintf("Unable to extend %s by %s.", g.args.VG, strings.Join(add, " "))
		if err := g.do(failure, "vgextend", append([]string{g.args.VG}, add...)...); err != nil {
			return err
		}
	}
	if len(drop) == 0 || !g.args.RemoveExtra {
		return nil
	}
	failure := fmt.Sprintf("Unable to reduce %s by %s.", g.args.VG, strings.Join(drop, " "))
	return g.do(failure, "vgreduce", append([]string{"--force", g.args.VG}, drop...)...)
}

// without are the elements of a list that are not in another one.
func without(list, other []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(other, s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// resize lets a physical volume grow, if there is room for an extent.
func (g *group) resize(dev string) error {
	sizes := map[string]int64{}
	for _, field := range []string{"dev_size", "pv_size", "pe_start", "vg_extent_size"} {
		out, err := g.Run("pvdisplay", dev, "--units", "b", "--columns", "--noheadings", "--nosuffix", "-o", field)
		if err != nil {
			return err
		}
		if sizes[field], err = strconv.ParseInt(strings.TrimSpace(out.Stdout), 10, 64); err != nil {
			return disktools.Failed(out, "cannot read the %s of %s", field, dev)
		}
	}
	if sizes["dev_size"]-(sizes["pe_start"]+sizes["pv_size"]) <= sizes["vg_extent_size"] {
		return nil
	}
	return g.do("Failed executing pvresize command.", "pvresize", dev)
}
