package general

import (
	"context"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/community/general/internal/disktools"
	"hark/modules/internal/host/tool"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
)

type lvolArgs struct {
	VG       string  `arg:"vg,required" doc:"The volume group."`
	LV       *string `arg:"lv" doc:"The logical volume."`
	Size     *string `arg:"size" doc:"Its size: a number with a unit of bskmgtpe, MiB without one; 50%VG, 100%FREE or the like; + and - change the size that is there."`
	Opts     *string `arg:"opts" doc:"Options for lvcreate."`
	State    string  `arg:"state,default=present,choices=absent|present" doc:"Whether there shall be the volume."`
	Force    bool    `arg:"force,default=no" doc:"Allow it to become smaller, or to be removed."`
	Shrink   bool    `arg:"shrink,default=yes" doc:"Let it become smaller if it is larger than size."`
	Active   bool    `arg:"active,default=yes" doc:"Whether it can be used."`
	Snapshot *string `arg:"snapshot" doc:"A snapshot of the volume, by this name."`
	PVs      *string `arg:"pvs" doc:"The physical volumes to take, parted by commas."`
	ResizeFS bool    `arg:"resizefs,default=no" doc:"Resize the file system with it."`
	ThinPool *string `arg:"thinpool" doc:"The thin pool; without lv it is what is made."`
}

// LVol is community.general.lvol.
var LVol = modules.Define("community.general.lvol", "Manage logical volumes of LVM", runLVol,
	modules.WithRules(modules.Rules{OneOf: [][]string{{"lv", "thinpool"}}}),
	modules.Documented(`- community.general.lvol: {vg: data, lv: www, size: 10g}
- community.general.lvol: {vg: data, lv: www, size: +100%FREE, resizefs: true}
- community.general.lvol: {vg: data, lv: www, snapshot: before, size: 1g}
- community.general.lvol: {vg: data, lv: www, state: absent, force: true}
`,
		modules.Return{Name: "vg", Type: "str", When: "the volume was there", Doc: "The volume group."},
		modules.Return{Name: "lv", Type: "str", When: "the volume was there", Doc: "The volume."},
		modules.Return{Name: "size", Type: "float", When: "the volume was there", Doc: "The size that it had, in the unit of size."},
	), modules.Programs("opts"))

// volume is one call of the module.
type volume struct {
	tool.Host
	args lvolArgs
	size volumeSize
	yes  []string // the option of releases that ask
	vg   struct{ size, free, extent float64 }
	all  []volumeRow
	this *volumeRow // the volume that is meant, nil if there is none
}

// volumeRow is a logical volume as lvs tells of it.
type volumeRow struct {
	name                 string
	size                 float64
	active, pool, thinly bool
}

// volumeSize is the size argument.
type volumeSize struct {
	sign    string // + or -, "" for neither
	number  string // without the unit; with % of what, for percentages
	unit    string // "" for percentages
	option  string // -L, or -l for percentages
	percent int
	of      string // VG, PVS or FREE
}

// shownUnit is the unit that sizes are told in.
func (s volumeSize) shownUnit() string {
	if s.option == "-l" {
		return "m"
	}
	return s.unit
}

func parseSize(text string) (volumeSize, error) {
	s := volumeSize{option: "-L", unit: "m", number: text}
	if text == "" {
		return s, nil
	}
	if text[0] == '+' || text[0] == '-' {
		s.sign, s.number = text[:1], text[1:]
	}
	if percent, of, ok := strings.Cut(s.number, "%"); ok {
		var err error
		if s.percent, err = strconv.Atoi(percent); err != nil {
			return s, tool.Fail(nil, "invalid literal for int() with base 10: %s", modules.Repr(percent))
		}
		switch s.option, s.unit, s.of = "-l", "", of; {
		case s.percent > 100:
			return s, tool.Fail(nil, "Size percentage cannot be larger than 100%%")
		case of == "ORIGIN":
			return s, tool.Fail(nil, "Snapshot Volumes are not supported")
		case of != "VG" && of != "PVS" && of != "FREE":
			return s, tool.Fail(nil, "Specify extents as a percentage of VG|PVS|FREE")
		}
		return s, nil
	}
	if n := len(s.number); n > 0 && strings.ContainsAny(strings.ToLower(s.number[n-1:]), "bskmgtpe") {
		s.unit, s.number = s.number[n-1:], s.number[:n-1]
	}
	if _, err := strconv.ParseFloat(s.number, 64); err != nil || s.number[0] < '0' || s.number[0] > '9' {
		return s, tool.Fail(nil, "Bad size specification of '%s'", s.number)
	}
	return s, nil
}

func runLVol(ctx context.Context, env *modules.Env, a lvolArgs) (modules.Result, error) {
	v := &volume{Host: disktools.Host(ctx, env), args: a}
	err := v.version()
	if err == nil {
		v.size, err = parseSize(modules.Text(a.Size))
	}
	if err != nil {
		return modules.Result{}, err
	}
	if res, err := v.look(); res != nil || err != nil {
		return orNoResult(res), err
	}
	name, err := v.meant()
	if err != nil {
		return modules.Result{}, err
	}
	for i, row := range v.all {
		if v.this == nil && (row.name == name || row.name == name[strings.LastIndexByte(name, '/')+1:]) {
			v.this = &v.all[i]
		}
	}
	switch {
	case v.this == nil && a.State == "present":
		return v.create()
	case v.this == nil:
		res := modules.Result{}
		res.Set("msg", "")
		return res, nil
	case a.State == "absent":
		return v.remove()
	}
	changed, ended, err := v.resize()
	if err != nil || ended != nil {
		return orNoResult(ended), err
	}
	return v.activate(changed)
}

func orNoResult(res *modules.Result) modules.Result {
	if res == nil {
		return modules.Result{}
	}
	return *res
}

var lvmVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`LVM version:\s+(\d+)\.(\d+)\.(\d+).*(\d{4}-\d{2}-\d{2})`)
})

// version finds out whether this LVM asks questions, from 2.2.99 on.
func (v *volume) version() error {
	out, err := v.Run("lvm", "version")
	if err != nil {
		return err
	}
	match := lvmVersion().FindStringSubmatch(out.Stdout)
	if out.Rc != 0 || match == nil {
		return tool.Fail(nil, "Failed to get LVM version number")
	}
	number := 0
	for _, part := range match[1:4] {
		n, _ := strconv.Atoi(part)
		number = number*1000 + n
	}
	if number >= 2002099 {
		v.yes = []string{"--yes"}
	}
	return nil
}

// look reads the group and its volumes. Of a group that is not there nothing needs to be removed.
func (v *volume) look() (*modules.Result, error) {
	unit := strings.ToLower(v.size.shownUnit())
	report := func(program string, args ...string) ([][]string, *modules.Result, error) {
		out, err := v.Run(program, append(args, "--units", unit, "--separator", ";", v.args.VG)...)
		switch {
		case err != nil:
			return nil, nil, err
		case out.Rc != 0 && v.args.State == "absent":
			return nil, &modules.Result{Data: value.DictOf("stdout", "Volume group "+v.args.VG+" does not exist.")}, nil
		case out.Rc != 0:
			return nil, nil, disktools.Failed(out, "Volume group %s does not exist.", v.args.VG)
		}
		return disktools.Rows(out.Stdout), nil, nil
	}
	list, res, err := report("vgs", "--noheadings", "--nosuffix", "-o", "vg_name,size,free,vg_extent_size")
	if res != nil || err != nil {
		return res, err
	}
	for _, row := range list {
		if len(row) == 4 {
			v.vg.size, v.vg.free, v.vg.extent = floatOf(row[1]), floatOf(row[2]), floatOf(row[3])
			break
		}
	}
	list, res, err = report("lvs", "-a", "--noheadings", "--nosuffix", "-o", "lv_name,size,lv_attr")
	for _, row := range list {
		if len(row) != 3 || len(row[2]) < 5 {
			continue
		}
		v.all = append(v.all, volumeRow{
			name: strings.NewReplacer("[", "", "]", "").Replace(row[0]), size: floatOf(row[1]),
			active: row[2][4] == 'a', pool: row[2][0] == 't', thinly: row[2][0] == 'V',
		})
	}
	return res, err
}

func floatOf(text string) float64 {
	n, _ := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n
}

// find is the volume of a name, nil if there is none.
func (v *volume) find(names ...string) *volumeRow {
	for i, row := range v.all {
		for _, name := range names {
			if name != "" && row.name == name {
				return &v.all[i]
			}
		}
	}
	return nil
}

// meant is the name of what is made or removed: the snapshot, the volume or the pool.
func (v *volume) meant() (string, error) {
	lv, pool := modules.Text(v.args.LV), modules.Text(v.args.ThinPool)
	switch {
	case modules.Text(v.args.Snapshot) != "":
		origin := v.find(lv, pool)
		if origin == nil {
			return "", tool.Fail(nil, "Snapshot origin LV %s does not exist in volume group %s.", orPython(v.args.LV), v.args.VG)
		}
		if origin.pool || pool != "" {
			return "", tool.Fail(nil, "Snapshots of thin pool LVs are not supported.")
		}
		return *v.args.Snapshot, nil
	case pool != "" && lv == "":
		return pool, nil
	case pool != "" && v.find(pool) == nil:
		return "", tool.Fail(nil, "Thin pool LV %s does not exist in volume group %s.", pool, v.args.VG)
	}
	return lv, nil
}

// orPython is an argument as Python prints it in a text.
func orPython(s *string) string {
	if s == nil {
		return "None"
	}
	return *s
}

func (v *volume) test() []string {
	if v.Env.Check {
		return []string{"--test"}
	}
	return nil
}

func (v *volume) create() (modules.Result, error) {
	s, lv, pool, snapshot := v.size, modules.Text(v.args.LV), modules.Text(v.args.ThinPool), modules.Text(v.args.Snapshot)
	origin := v.find(lv)
	switch {
	case s.sign == "-":
		return modules.Fail("Bad size specification of '%s%s' for creating LV", s.sign, s.number)
	case s.number == "" && !(snapshot != "" && origin != nil && origin.thinly):
		return modules.Fail("No size given.")
	case pool != "" && lv != "" && s.option == "-l":
		return modules.Fail("Thin volume sizing with percentage not supported.")
	}
	opts, err := shlex.Split(modules.Text(v.args.Opts))
	if err != nil {
		return modules.Result{}, err
	}
	size, full := []string{s.option, s.number + s.unit}, v.args.VG+"/"
	words := append(v.test(), v.yes...)
	switch {
	case snapshot != "":
		if s.number != "" {
			words = append(words, size...)
		}
		words = append(append(append(words, "-s", "-n", snapshot), opts...), full+lv)
	case pool != "" && lv != "":
		words = append(append(append(words, "-n", lv, "-V", s.number+s.unit), opts...), "-T", full+pool)
	case pool != "":
		words = append(append(append(words, size...), opts...), "-T", full+pool)
	default:
		words = append(append(append(append(words, "-n", lv), size...), opts...), v.args.VG)
		words = append(words, v.devices()...)
	}
	out, err := v.Run("lvcreate", words...)
	if err == nil && out.Rc != 0 {
		err = disktools.Failed(out, "Creating logical volume '%s' failed", orPython(v.args.LV))
	}
	res := modules.Result{Changed: true}
	res.Set("msg", "")
	return res, err
}

// devices are the physical volumes that are named.
func (v *volume) devices() []string {
	return strings.Fields(strings.ReplaceAll(modules.Text(v.args.PVs), ",", " "))
}

func (v *volume) remove() (modules.Result, error) {
	if !v.args.Force {
		return modules.Fail("Sorry, no removal of logical volume %s without force=true.", v.this.name)
	}
	out, err := v.Run("lvremove", append(v.test(), "--force", v.args.VG+"/"+v.this.name)...)
	if err == nil && out.Rc != 0 {
		err = disktools.Failed(out, "Failed to remove logical volume %s", orPython(v.args.LV))
	}
	return modules.Result{Changed: true}, err
}

// data is what results tell of a volume that is there.
func (v *volume) data() *value.Dict {
	return value.DictOf("vg", v.args.VG, "lv", v.this.name, "size", v.this.size)
}

// activate makes the volume usable, or not.
func (v *volume) activate(changed bool) (modules.Result, error) {
	res := modules.Result{Changed: changed || v.this.active != v.args.Active, Data: v.data()}
	if v.Env.Check {
		return res, nil
	}
	option, verb := "-ay", "activate"
	if !v.args.Active {
		option, verb = "-an", "deactivate"
	}
	out, err := v.Run("lvchange", option, v.args.VG+"/"+v.this.name)
	if err == nil && out.Rc != 0 {
		err = disktools.Failed(out, "Failed to %s logical volume %s", verb, orPython(v.args.LV))
	}
	return res, err
}

// wanted is the size that a percentage stands for, a whole number of extents.
func (v *volume) wanted() float64 {
	of := v.vg.size
	if v.size.of == "FREE" {
		of = v.vg.free
	}
	size := float64(v.size.percent) * of / 100
	switch v.size.sign {
	case "+":
		size += v.this.size
	case "-":
		size = v.this.size - size
	}
	if v.vg.extent == 0 {
		return size
	}
	return size - math.Mod(size, v.vg.extent)
}
