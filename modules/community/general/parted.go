package general

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/community/general/internal/disktools"
	"hark/modules/internal/host/tool"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
)

type partedArgs struct {
	Device    string   `arg:"device,required" doc:"The disk."`
	Align     string   `arg:"align,default=optimal,choices=cylinder|minimal|none|optimal|undefined" doc:"How partitions are aligned; undefined leaves it to parted."`
	Number    *int     `arg:"number" doc:"The partition; needed to make or remove one."`
	Unit      string   `arg:"unit,default=KiB,choices=B|KB|MB|GB|TB|KiB|MiB|GiB|TiB|s|%|cyl|chs|compact" doc:"Unit of what is told, and of numbers without one."`
	Label     string   `arg:"label,default=msdos,choices=aix|amiga|bsd|dvh|gpt|loop|mac|msdos|pc98|sun" doc:"Kind of the partition table. A table of another kind is replaced, with all that is on it."`
	PartType  string   `arg:"part_type,default=primary,choices=extended|logical|primary" doc:"Kind of the partition, in tables that know kinds."`
	PartStart string   `arg:"part_start,default=0%" doc:"Where it begins: a number with a unit; negative from the end."`
	PartEnd   string   `arg:"part_end,default=100%" doc:"Where it ends."`
	FSType    *string  `arg:"fs_type" doc:"What file system it is for; none is made."`
	Name      *string  `arg:"name" doc:"Its name, in tables that know names."`
	Flags     []string `arg:"flags" doc:"Its flags; others are taken away."`
	State     string   `arg:"state,default=info,choices=absent|info|present" doc:"Whether there shall be the partition; info changes nothing."`
	Resize    bool     `arg:"resize,default=no" doc:"Move its end to part_end."`
}

// Parted is community.general.parted.
var Parted = modules.Define("community.general.parted", "Manage partitions", runParted,
	modules.WithRules(modules.Rules{If: []modules.RequiredIf{
		{Param: "state", Value: "present", Names: []string{"number"}},
		{Param: "state", Value: "absent", Names: []string{"number"}},
	}}),
	modules.Documented(`- community.general.parted: {device: /dev/vdb, number: 1, state: present, label: gpt, part_end: 10GiB, name: data}
- community.general.parted: {device: /dev/vdb, number: 1, state: present, label: gpt, part_end: 100%, resize: true}
- community.general.parted: {device: /dev/vdb, unit: MiB}
  register: disk
`,
		modules.Return{Name: "disk", Type: "dict", When: "success", Doc: "The disk: dev, size, unit, table, model, logical_block and physical_block."},
		modules.Return{Name: "partitions", Type: "list", When: "success", Doc: "Its partitions: num, begin, end, size, fstype, name, flags and unit."},
		modules.Return{Name: "script", Type: "str", When: "success", Doc: "What parted was told to do."},
	))

// parting is one call of the module.
type parting struct {
	tool.Host
	args    partedArgs
	exec    string
	disk    *disk
	script  string // all that was done
	changed bool
}

func runParted(ctx context.Context, env *modules.Env, a partedArgs) (modules.Result, error) {
	p := &parting{Host: disktools.Host(ctx, env), args: a}
	if err := p.start(); err != nil {
		return modules.Result{}, err
	}
	var err error
	switch a.State {
	case "present":
		err = p.present()
	case "absent":
		if p.disk.part(*a.Number) != nil || env.Check {
			err = p.do(fmt.Sprintf("rm %d ", *a.Number))
		}
	default:
		p.script = "unit '" + a.Unit + "' print "
	}
	if err == nil {
		p.disk, err = p.read()
	}
	if err != nil {
		return modules.Result{}, err
	}
	return modules.Result{Changed: p.changed, Data: value.DictOf(
		"disk", p.disk.generic, "partitions", p.disk.list(), "script", strings.TrimSpace(p.script),
	)}, nil
}

// start checks what can be checked before, and reads the disk.
func (p *parting) start() error {
	var err error
	if p.exec, err = tool.Find(p.Env, "parted"); err != nil {
		return err
	}
	if p.args.Number != nil && *p.args.Number < 1 {
		return tool.Fail(nil, "The partition number must be greater then 0.")
	}
	for _, bound := range []struct{ name, value string }{{"part_start", p.args.PartStart}, {"part_end", p.args.PartEnd}} {
		size, err := parseSizeText(bound.value, "")
		if err != nil {
			return err
		}
		if !slices.Contains(partedUnits(), size.unit) {
			return tool.Fail(value.DictOf("err", []any{size.value(), size.unit}),
				"The argument '%s' doesn't respect required format.The size unit is case sensitive.", bound.name)
		}
	}
	p.disk, err = p.read()
	return err
}

// line runs a command line, which is what failures show.
func (p *parting) line(line string) (tool.Output, error) {
	argv, err := shlex.Split(line)
	if err != nil {
		return tool.Output{}, err
	}
	return p.Run("parted", argv[1:]...)
}

// lateTables tells that this parted tells of disks without a table by an error: those before 3.1.
func (p *parting) lateTables() (bool, error) {
	out, err := p.line(p.exec + " --version")
	if err != nil {
		return false, err
	}
	match := partedVersion().FindStringSubmatch(strings.TrimLeft(out.Stdout, "\n"))
	if out.Rc != 0 || match == nil {
		return false, tool.Fail(value.DictOf("rc", int64(out.Rc), "out", out.Stdout), "Failed to get parted version.")
	}
	if atLeast(match[1]+"."+match[2], 3, 1) {
		return false, nil
	}
	out, err = p.line(p.exec + " -s -m " + p.args.Device + " print")
	return out.Rc != 0 && strings.Contains(strings.ToLower(out.Stdout), "unrecognised disk label"), err
}

// read asks parted what is on the disk.
func (p *parting) read() (*disk, error) {
	none, err := p.lateTables()
	if err != nil {
		return nil, err
	}
	if none {
		return unlabeled(p.args.Device, p.args.Unit), nil
	}
	line := fmt.Sprintf("%s -s -m %s -- unit '%s' print", p.exec, p.args.Device, p.args.Unit)
	out, err := p.line(line)
	if err != nil {
		return nil, err
	}
	if out.Rc != 0 && !strings.Contains(out.Stderr, "unrecognised disk label") {
		return nil, tool.Fail(value.DictOf("rc", int64(out.Rc), "out", out.Stdout, "err", out.Stderr),
			"Error while getting device information with parted script: '%s'", line)
	}
	return parseDisk(out.Stdout, p.args.Unit)
}

// do has parted do a script, but in check mode.
func (p *parting) do(script string) error {
	p.script += script
	if p.changed = true; p.Env.Check {
		return nil
	}
	align := "-a " + p.args.Align
	if p.args.Align == "undefined" {
		align = ""
	}
	line := fmt.Sprintf("%s -s -m %s %s -- %s", p.exec, align, p.args.Device, script)
	out, err := p.line(line)
	if err == nil && out.Rc != 0 {
		err = tool.Fail(value.DictOf("rc", int64(out.Rc), "out", out.Stdout, "err", out.Stderr), "Error while running parted script: %s", strings.TrimSpace(line))
	}
	return err
}

// withUnit begins a script with the unit of its numbers.
func (p *parting) withUnit(script string) string {
	if script == "" {
		return ""
	}
	return "unit " + p.args.Unit + " " + script
}

func (p *parting) present() error {
	n := *p.args.Number
	script := p.make(n)
	if p.args.Resize && p.disk.part(n) != nil {
		more, err := p.resize(p.disk.part(n))
		if err != nil {
			return err
		}
		script += more
	}
	if script != "" {
		if err := p.do(script); err != nil {
			return err
		}
		if !p.Env.Check {
			var err error
			if p.disk, err = p.read(); err != nil {
				return err
			}
		}
	}
	part := p.disk.part(n)
	if part == nil && !p.Env.Check {
		return nil
	}
	if part == nil || p.changed && p.Env.Check {
		part = &partition{} // not there yet
	}
	if script = p.withUnit(p.dress(n, part)); script == "" {
		return nil
	}
	return p.do(script)
}

// make is the script for the table and the partition, where they are not there.
func (p *parting) make(n int) string {
	script := ""
	if p.disk.table() != p.args.Label {
		script = "mklabel " + p.args.Label + " "
	}
	if script != "" || p.disk.part(n) == nil {
		fs := ""
		if p.args.FSType != nil {
			fs = *p.args.FSType + " "
		}
		script += fmt.Sprintf("mkpart %s %s%s %s ", p.args.PartType, fs, p.args.PartStart, p.args.PartEnd)
	}
	return p.withUnit(script)
}

// resize is the script that moves the end of a partition, where it is elsewhere.
func (p *parting) resize(part *partition) (string, error) {
	size, err := parseSizeText(p.args.PartEnd, p.args.Unit)
	if err != nil {
		return "", err
	}
	if size.unit == "%" {
		size = sizeText{number: float64(int64(float64(int64(p.disk.size)) * size.number / 100)), unit: p.args.Unit}
	}
	if inBytes(part.end.number, p.args.Unit) == inBytes(size.number, size.unit) {
		return "", nil
	}
	return fmt.Sprintf("resizepart %d %s ", *p.args.Number, p.args.PartEnd), nil
}

// dress is the script for the name and the flags of a partition.
func (p *parting) dress(n int, part *partition) string {
	script := ""
	if p.args.Name != nil && (part.num == 0 || part.name != *p.args.Name) {
		script = fmt.Sprintf(`name %d '"%s"' `, n, *p.args.Name) // parted takes off the inner quotes
	}
	flags := p.args.Flags
	if len(flags) == 0 {
		return script
	}
	// parted sets and clears boot with esp.
	if slices.Contains(flags, "esp") && !slices.Contains(flags, "boot") {
		flags = append(slices.Clone(flags), "boot")
	}
	for _, f := range without(flags, part.flags) {
		script += fmt.Sprintf("set %d %s on ", n, f)
	}
	for _, f := range without(part.flags, flags) {
		script += fmt.Sprintf("set %d %s off ", n, f)
	}
	return script
}
