package general

import (
	"os"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
)

// deviceSize is the size of the device in bytes.
func (m *makeFS) deviceSize() (int64, error) {
	info, err := os.Stat(m.args.Dev)
	switch {
	case err != nil:
		return 0, err
	case info.Mode().IsRegular():
		return info.Size(), nil
	case info.Mode()&os.ModeDevice == 0 || info.Mode()&os.ModeCharDevice != 0:
		return 0, tool.Fail(nil, "Target device not supported: %s", m.args.Dev)
	}
	out, err := m.Must("blockdev", "--getsize64", m.args.Dev)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(out.Stdout), 10, 64)
}

// mountPoint is where the device is mounted first, "" if nowhere; needed makes that a failure.
func (m *makeFS) mountPoint(needed bool) (string, error) {
	out, err := m.Run("findmnt", "--mtab", "--noheadings", "--output", "TARGET", "--source", m.args.Dev)
	if err != nil {
		return "", err
	}
	point := ""
	if out.Rc == 0 {
		point, _, _ = strings.Cut(out.Stdout, "\n")
	}
	if point == "" && needed {
		return "", tool.Fail(nil, "%s needs to be mounted for %s operations", m.args.Dev, m.kind.name)
	}
	return point, nil
}

// product multiplies the numbers of two labels in an output, which stand in lines as "LABEL: N" or "LABEL = N more".
func product(out string, first, second string) (int64, error) {
	numbers := map[string]int64{}
	for line := range strings.Lines(out) {
		for _, label := range []string{first, second} {
			_, rest, ok := strings.Cut(line, label)
			fields := strings.Fields(rest)
			if !ok || len(fields) == 0 {
				continue
			}
			n, err := strconv.ParseInt(fields[0], 10, 64)
			if _, known := numbers[label]; err == nil && !known {
				numbers[label] = n
			}
		}
	}
	if len(numbers) < 2 {
		return 0, errUnread(modules.Repr(out))
	}
	return numbers[first] * numbers[second], nil
}

func extSize(m *makeFS) (int64, error) {
	out, err := m.Must("tune2fs", "-l", m.args.Dev)
	if err != nil {
		return 0, err
	}
	return product(out.Stdout, "Block count:", "Block size:")
}

// xfsSize asks by the mount point where there is one: not all releases can read a device.
func xfsSize(m *makeFS) (int64, error) {
	target, err := m.mountPoint(false)
	if err != nil {
		return 0, err
	}
	if target == "" {
		target = m.args.Dev
	}
	out, err := m.Must("xfs_info", target)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(out.Stdout) {
		if rest, ok := strings.CutPrefix(line, "data "); ok {
			return product(strings.NewReplacer("=", "= ", ",", " ").Replace(rest), "bsize= ", "blocks= ")
		}
	}
	return 0, errUnread(modules.Repr(out.Stdout))
}

func btrfsSize(m *makeFS) (int64, error) {
	target, err := m.mountPoint(true)
	if err != nil {
		return 0, err
	}
	out, err := m.Must("btrfs", "filesystem", "usage", "-b", target)
	if err != nil {
		return 0, err
	}
	return lastNumber(out.Stdout, "Device size")
}

func f2fsSize(m *makeFS) (int64, error) {
	out, err := m.Must("dump.f2fs", m.args.Dev)
	if err != nil {
		return 0, err
	}
	return product(out.Stdout, "Info: sector size = ", "Info: total FS sectors = ")
}

func vfatSize(m *makeFS) (int64, error) {
	out, err := m.Must("fatresize", "--info", m.args.Dev)
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(out.Stdout, "\n") // the first line names the program
	for line := range strings.Lines(rest) {
		name, value, _ := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); name == "Size" || name == "Cur size" {
			return strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	return 0, errUnread(modules.Repr(out.Stdout))
}

func lvmSize(m *makeFS) (int64, error) {
	out, err := m.Must("pvs", "--noheadings", "-o", "pv_size", "--units", "b", "--nosuffix", m.args.Dev)
	if err != nil {
		return 0, err
	}
	size, err := strconv.ParseInt(strings.TrimSpace(out.Stdout), 10, 64)
	if err != nil {
		return 0, errUnread("invalid literal for int() with base 10: " + modules.Repr(out.Stdout))
	}
	return size, nil
}

func ufsSize(m *makeFS) (int64, error) {
	out, err := m.Must("dumpfs", m.args.Dev)
	if err != nil {
		return 0, err
	}
	fragment, size := int64(0), int64(0)
	for line := range strings.Lines(out.Stdout) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "fsize") && len(fields) > 1:
			fragment, _ = strconv.ParseInt(fields[1], 10, 64)
		case strings.Contains(line, "providersize"):
			size, _ = strconv.ParseInt(fields[len(fields)-1], 10, 64)
		}
	}
	if fragment == 0 || size == 0 {
		return 0, errUnread(modules.Repr(out.Stdout))
	}
	return fragment * size, nil
}

// lastNumber is the number at the end of the line that holds a label.
func lastNumber(out, label string) (int64, error) {
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); strings.Contains(line, label) {
			return strconv.ParseInt(fields[len(fields)-1], 10, 64)
		}
	}
	return 0, errUnread(modules.Repr(out))
}
