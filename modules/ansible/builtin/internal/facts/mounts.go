package facts

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"hark/modules"
)

// mountLimit is how long one mount may take to answer.
const mountLimit = 2 * time.Second

var octalEscape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\[0-9]{3}`) })

func mounts(p *probe) {
	bound, uuids := bindMounts(p), mountUUIDs(p)
	list, at := []any{}, map[string]int{}
	table := lines("/etc/mtab")
	if table == nil {
		table = lines("/proc/mounts")
	}
	var measures []func()
	for _, line := range table {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		for i := range f {
			f[i] = unescapeOctal(f[i])
		}
		device, mount, kind, options := f[0], f[1], f[2], f[3]
		local := strings.HasPrefix(device, "/") || strings.HasPrefix(device, `\`)
		if !local && !strings.Contains(device, ":/") || kind == "none" {
			continue
		}
		if bound[mount] {
			options += ",bind"
		}
		m := map[string]any{"mount": mount, "device": device, "fstype": kind, "options": options, "uuid": "N/A"}
		if id := uuids[device]; id != "" {
			m["uuid"] = id
		}
		// Of several mounts on one another the last is seen, in the place of the first.
		i, covers := at[mount]
		if !covers {
			i = len(list)
			at[mount], list, measures = i, append(list, nil), append(measures, nil)
		}
		list[i], measures[i] = m, func() { measure(p, m) }
	}
	together(measures...) // several that do not answer take no longer than one
	for _, m := range list {
		if m := m.(map[string]any); m["note"] != nil {
			p.warn(fmt.Sprintf("Timeout exceeded when getting mount info for %s", m["mount"]))
		}
	}
	p.set("mounts", list)
}

// measure completes the facts of a mount with its sizes.
func measure(p *probe, m map[string]any) {
	if err := space(p, m["mount"].(string), m["fstype"].(string), m); err != nil {
		m["note"] = "Could not get extra information due to timeout"
		delete(m, "uuid")
	}
}

// unescapeOctal resolves \040 and the like.
func unescapeOctal(text string) string {
	return octalEscape().ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseUint(s[1:], 8, 8)
		return string([]byte{byte(n)})
	})
}

// bindMounts returns the mounts that findmnt would show as a part of a file system: those whose root
// is not its root. Without findmnt Ansible knows of none.
func bindMounts(p *probe) map[string]bool {
	out := map[string]bool{}
	if p.env.LookPath("findmnt") == "" {
		return out
	}
	for _, line := range lines("/proc/self/mountinfo") {
		if f := strings.Fields(line); len(f) > 4 && f[3] != "/" {
			out[unescapeOctal(f[4])] = true
		}
	}
	return out
}

// mountUUIDs leaves floppy disks (major 2) out: they answer more slowly than anything waits.
func mountUUIDs(p *probe) map[string]string {
	out := map[string]string{}
	text, _ := p.runBlock("lsblk", "--list", "--noheadings", "--paths", "--output", "NAME,UUID", "--exclude", "2")
	for _, line := range strings.Split(text, "\n") {
		if f := strings.Fields(line); len(f) == 2 && out[f[0]] == "" {
			out[f[0]] = f[1]
		}
	}
	return out
}

// answersAtOnce are the file systems of local disks and memory: statfs on them never waits for another machine.
var answersAtOnce = map[string]bool{
	"ext2": true, "ext3": true, "ext4": true, "xfs": true, "btrfs": true, "vfat": true, "tmpfs": true, "overlay": true,
	"squashfs": true,
	"iso9660":  true, "zfs": true, "f2fs": true, "jfs": true, "reiserfs": true, "ntfs3": true, "exfat": true,
	"bcachefs": true,
}

// space sets the size facts of a mount. What may be a dead server is asked by a process that can be left behind.
func space(p *probe, mount, kind string, m map[string]any) error {
	if answersAtOnce[kind] {
		if s, err := sizesOf(mount); err == nil {
			s.tell(m)
		}
		return nil
	}
	out, err := p.env.Exec(p.ctx, modules.Command{
		Argv: []string{"stat", "-f", "-c", "%S %s %b %a %c %d", "--", mount}, Timeout: min(p.limit, mountLimit),
	})
	if err == nil && out.TimedOut {
		return fmt.Errorf("cannot look at %s in time", mount)
	}
	var s sizes
	_, scanErr := fmt.Sscan(string(out.Stdout), &s.fragment, &s.block, &s.blocks, &s.available, &s.inodes, &s.freeInodes)
	if err == nil && scanErr == nil {
		s.tell(m)
	}
	return nil
}

// sizes are those of a file system: fragment and block in bytes, blocks and available in fragments.
type sizes struct{ fragment, block, blocks, available, inodes, freeInodes int64 }

// tell sets the facts of a mount.
func (s sizes) tell(m map[string]any) {
	m["size_total"], m["size_available"] = s.fragment*s.blocks, s.fragment*s.available
	m["block_size"], m["block_total"], m["block_available"], m["block_used"] = s.block, s.blocks, s.available,
		s.blocks-s.available
	m["inode_total"], m["inode_available"], m["inode_used"] = s.inodes, s.freeInodes, s.inodes-s.freeInodes
}
