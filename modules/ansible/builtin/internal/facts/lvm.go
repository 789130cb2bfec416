package facts

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"hark/modules"
	"hark/modules/internal/fsx"
)

// volumes asks LVM, as root and where it is installed.
func volumes(p *probe) {
	p.set("lvm", "N/A")
	if os.Getuid() != 0 || p.env.LookPath("vgs") == "" {
		return
	}
	printed := map[string]*string{"vgs": new(string), "lvs": new(string), "pvs": new(string)}
	ask := func(tool string) func() {
		return func() {
			*printed[tool], _ = p.runBlock(tool, "--noheadings", "--nosuffix", "--units", "g", "--separator", ",")
		}
	}
	if fsx.Exists(udevNotes) || mayHoldVolumes(p, blockNodes("/dev")) {
		together(ask("vgs"), ask("lvs"), ask("pvs"))
	}
	rows := func(tool string, each func(f []string)) {
		for _, line := range strings.Split(*printed[tool], "\n") {
			if f := strings.Split(strings.TrimSpace(line), ","); len(f) >= 6 {
				each(f)
			}
		}
	}
	vgs, lvs, pvs := map[string]any{}, map[string]any{}, map[string]any{}
	rows("vgs", func(f []string) {
		vgs[f[0]] = map[string]any{"size_g": f[len(f)-2], "free_g": f[len(f)-1], "num_lvs": f[2], "num_pvs": f[1]}
	})
	rows("lvs", func(f []string) { lvs[f[0]] = map[string]any{"size_g": f[3], "vg": f[1]} })
	rows("pvs", func(f []string) {
		pvs[mapperName(p, f[0])] = map[string]any{"size_g": f[4], "free_g": f[5], "vg": f[1]}
	})
	p.set("lvm", map[string]any{"lvs": lvs, "vgs": vgs, "pvs": pvs})
}

func mapperName(p *probe, device string) string {
	if !strings.HasPrefix(device, "/dev/dm-") {
		return device
	}
	if name, ok := p.runBlock("dmsetup", "info", "-C", "--noheadings", "-o", "name", device); ok {
		return "/dev/mapper/" + strings.TrimRight(name, "\n")
	}
	return device
}

// volumeLabel marks a physical volume, in one of the first four sectors.
const volumeLabel = "LABELONE"

// mayHoldVolumes is false if none of the devices is a physical volume: then there is nothing that LVM could tell.
// What this cannot read LVM cannot either. A device may keep its reader waiting for ever, so a process reads that can
// be left behind.
func mayHoldVolumes(p *probe, devices []string) bool {
	if len(devices) == 0 {
		return false
	}
	out, err := p.env.Exec(p.ctx, modules.Command{Argv: append([]string{"head", "-c", "2048", "--"}, devices...),
		Timeout: min(p.limit, mountLimit)})
	return err != nil || out.TimedOut || bytes.Contains(out.Stdout, []byte(volumeLabel))
}

// blockNodes returns the device files below dir of block devices that have a size, each device once. Floppy disks
// (major 2) answer more slowly than anything waits, and LVM passes them over.
func blockNodes(dir string) []string {
	var nodes []string
	seen := map[uint64]bool{}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeDevice == 0 || e.Type()&fs.ModeCharDevice != 0 {
			return nil
		}
		var st unix.Stat_t
		if unix.Lstat(path, &st) != nil {
			return nil
		}
		number := uint64(st.Rdev)
		if seen[number] || unix.Major(number) == 2 {
			return nil
		}
		seen[number] = true
		if size := content(fmt.Sprintf("/sys/dev/block/%d:%d/size", unix.Major(number), unix.Minor(number))); size != "" &&
			size != "0" {
			nodes = append(nodes, path)
		}
		return nil
	})
	return nodes
}
