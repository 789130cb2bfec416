package general

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

var (
	partedVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^parted.+\s(\d+)\.(\d+)(?:\.(\d+))?`) })
	sizePattern   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-?[\d.]+) *([\w%]+)?$`) })
	chsPattern    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d+),(\d+),(\d+)$`) })
)

// disk is what parted tells of a disk.
type disk struct {
	generic *value.Dict
	size    float64
	parts   []partition
}

// partition is one of a disk.
type partition struct {
	num             int
	begin, end, all sizeText
	sized           bool // parted does not tell the size in chs
	fstype, name    string
	flags           []string
	unit            string
}

// sizeText is a size as parted writes it: a number with a unit, or a cylinder, head and sector.
type sizeText struct {
	number float64
	chs    []int64
	unit   string
}

// value is the size as results have it.
func (s sizeText) value() any {
	if s.chs != nil {
		return value.DictOf("cylinder", s.chs[0], "head", s.chs[1], "sector", s.chs[2])
	}
	return s.number
}

func partedUnits() []string {
	return append(append(unitsSI(), unitsIEC()...), "s", "%", "cyl", "chs", "compact")
}

func unitsSI() []string  { return []string{"B", "KB", "MB", "GB", "TB"} }
func unitsIEC() []string { return []string{"KiB", "MiB", "GiB", "TiB"} }

// parseSizeText reads a size; unit is what a number without one has.
func parseSizeText(text, unit string) (sizeText, error) {
	if m := sizePattern().FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseFloat(m[1], 64)
		if m[2] != "" {
			unit = m[2]
		}
		if err == nil {
			return sizeText{number: n, unit: unit}, nil
		}
	}
	m := chsPattern().FindStringSubmatch(text)
	if m == nil {
		return sizeText{}, tool.Fail(nil, "Error interpreting parted size output: '%s'", text)
	}
	s := sizeText{unit: "chs"}
	for _, part := range m[1:] {
		n, _ := strconv.ParseInt(part, 10, 64)
		s.chs = append(s.chs, n)
	}
	return s, nil
}

// inBytes is a size in bytes; units without a measure count as megabytes, as in Ansible.
func inBytes(n float64, unit string) int64 {
	if at := slices.Index(unitsSI(), unit); at >= 0 {
		return int64(n * math.Pow(1000, float64(at)))
	}
	if at := slices.Index(unitsIEC(), unit); at >= 0 {
		return int64(n * math.Pow(1024, float64(at+1)))
	}
	if slices.Contains([]string{"", "compact", "cyl", "chs"}, unit) {
		return int64(n * 1e6)
	}
	return int64(n)
}

func (d *disk) table() string {
	return d.generic.Text("table")
}

// part is the partition of a number, nil if there is none.
func (d *disk) part(n int) *partition {
	for i := range d.parts {
		if d.parts[i].num == n {
			return &d.parts[i]
		}
	}
	return nil
}

// list are the partitions as results have them.
func (d *disk) list() []any {
	out := []any{}
	for _, p := range d.parts {
		flags := []any{}
		for _, f := range p.flags {
			flags = append(flags, f)
		}
		var size any = ""
		if p.sized {
			size = p.all.value()
		}
		out = append(out, value.DictOf(
			"num", int64(p.num), "begin", p.begin.value(), "end", p.end.value(), "size", size, "fstype", p.fstype, "name", p.name,
			"flags", flags, "unit", p.unit,
		))
	}
	return out
}

// parseDisk reads what parted -m prints: the unit, the disk, in cyl and chs the geometry, then a line for each partition.
func parseDisk(out, unit string) (*disk, error) {
	var lines [][]string
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, strings.Split(strings.TrimRight(line, ";"), ":"))
		}
	}
	unreadable := tool.Fail(nil, "cannot read what parted says of the disk: %q", out)
	if len(lines) < 2 || len(lines[1]) < 7 {
		return nil, unreadable
	}
	head := lines[1]
	size, err := parseSizeText(head[1], unit)
	if err != nil {
		return nil, err
	}
	logical, _ := strconv.ParseInt(head[3], 10, 64)
	physical, _ := strconv.ParseInt(head[4], 10, 64)
	unit = size.unit
	d := &disk{size: size.number, generic: value.DictOf(
		"dev", head[0], "size", size.value(), "unit", strings.ToLower(unit), "table", head[5], "model", head[6],
		"logical_block", logical, "physical_block", physical,
	)}
	rest := lines[2:]
	if unit == "cyl" || unit == "chs" {
		if len(rest) == 0 || len(rest[0]) < 4 {
			return nil, unreadable
		}
		info, err := geometry(rest[0])
		if err != nil {
			return nil, err
		}
		d.generic.Put("chs_info", info)
		rest = rest[1:]
	}
	for _, fields := range rest {
		p, err := parsePartition(fields, unit)
		if err != nil {
			return nil, err
		}
		d.parts = append(d.parts, p)
	}
	return d, nil
}

func geometry(fields []string) (*value.Dict, error) {
	size, err := parseSizeText(fields[3], "")
	info := value.NewDict()
	for i, name := range []string{"cylinders", "heads", "sectors"} {
		n, _ := strconv.ParseInt(fields[i], 10, 64)
		info.Put(name, n)
	}
	info.Put("cyl_size", size.value())
	info.Put("cyl_size_unit", strings.ToLower(size.unit))
	return info, err
}

func parsePartition(fields []string, unit string) (p partition, err error) {
	p = partition{unit: strings.ToLower(unit), sized: unit != "chs", flags: []string{}}
	if p.sized && len(fields) < 7 || len(fields) < 6 {
		return p, tool.Fail(nil, "cannot read what parted says of a partition: %q", strings.Join(fields, ":"))
	}
	p.num, _ = strconv.Atoi(fields[0])
	for i, size := range []*sizeText{&p.begin, &p.end, &p.all} {
		if i == 2 && !p.sized {
			break
		}
		if *size, err = parseSizeText(fields[i+1], ""); err != nil {
			return p, err
		}
	}
	words := fields[3:]
	if p.sized {
		words = fields[4:]
	}
	p.fstype, p.name = words[0], words[1]
	for _, f := range strings.Split(words[2], ", ") {
		if f != "" {
			p.flags = append(p.flags, strings.TrimSpace(f))
		}
	}
	return p, nil
}

// unlabeled is what the kernel tells of a disk without a table, for those releases of parted that tell nothing.
func unlabeled(device, unit string) *disk {
	base := "/sys/block/" + filepath.Base(device)
	read := func(name, otherwise string) string {
		raw, err := os.ReadFile(filepath.Join(base, name))
		if err != nil {
			return otherwise
		}
		first, _, _ := strings.Cut(string(raw), "\n")
		return strings.TrimSpace(first)
	}
	count := func(name string) int64 {
		n, _ := strconv.ParseInt(read(name, "0"), 10, 64)
		return n
	}
	logical := count("queue/logical_block_size")
	size, unit := roundSize(float64(count("size")*logical), strings.ToLower(unit))
	return &disk{size: size, generic: value.DictOf(
		"dev", device, "table", "unknown", "size", size, "unit", unit, "logical_block", logical,
		"physical_block", count("queue/physical_block_size"), "model", read("device/vendor", "Unknown")+" "+read("device/model", "model"),
	)}
}

// roundSize is a number of bytes in a unit as parted rounds it. Ansible compares units in lower case with those in capitals here, so that all
// but compact come out in bytes.
func roundSize(bytes float64, unit string) (float64, string) {
	if bytes == 0 {
		return 0, "b"
	}
	multiplier := 1.0
	if slices.Contains([]string{"", "compact", "cyl", "chs"}, unit) {
		at := max(0, int((math.Log10(bytes)-1)/3))
		unit = "b"
		if at < len(unitsSI()) {
			unit, multiplier = unitsSI()[at], math.Pow(1000, float64(at))
		}
	}
	n := math.Floor(bytes / multiplier)
	digits := 0
	if n < 9.995 {
		digits = 2
	} else if n < 99.95 {
		digits = 1
	}
	scale := math.Pow(10, float64(digits))
	return math.RoundToEven(n*scale) / scale, unit
}
