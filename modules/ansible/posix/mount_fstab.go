package posix

import (
	"os"
	"strings"

	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
)

// fstabRow are the fields of a line of fstab(5), not escaped.
type fstabRow struct{ src, name, fstype, opts, dump, passno string }

func (r fstabRow) String() string {
	fields := []string{r.src, r.name, r.fstype, r.opts, r.dump, r.passno}
	for i, f := range fields {
		fields[i] = escapeFstab(f)
	}
	return strings.Join(fields, " ") + "\n"
}

func escapeFstab(v string) string {
	return strings.NewReplacer(`\`, `\134`, " ", `\040`, "&", `\046`).Replace(v)
}

func (m *mountPoint) readFstab() (lines []string, err error) {
	raw, err := os.ReadFile(m.fstab)
	if os.IsNotExist(err) && m.env.Check {
		return nil, nil // it would be made
	}
	if err != nil {
		return nil, tool.Fail(nil, "cannot read %s: %s", m.fstab, oserr.Path(err, m.fstab))
	}
	for _, line := range strings.SplitAfter(string(raw), "\n") {
		if line == "" {
			continue
		}
		if !strings.HasSuffix(line, "\n") {
			line += "\n"
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// ours reports whether the fields are those of the mount point. Swap has none, it is known by its source.
func (m *mountPoint) ours(f []string) bool {
	swap := f[1] == "none" && f[2] == "swap" && m.args.Src != nil && f[0] != m.row.src
	return f[1] == escapeFstab(m.row.name) && !swap
}

// set notes the mount; old is what the file held.
func (m *mountPoint) set() (changed bool, old string, err error) {
	lines, err := m.readFstab()
	if err != nil {
		return false, "", err
	}
	out, exists := "", false
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) < 4 || len(f) > 6 || strings.HasPrefix(f[0], "#") || !m.ours(f) {
			out += line
			continue
		}
		exists = true
		// A line that lacks the last fields is not the same as one that has them.
		if strings.Join(f, " ")+"\n" == m.row.String() && !changed {
			out += line
			continue
		}
		changed = true
		out += m.row.String()
	}
	if !exists {
		changed = true
		out += m.row.String()
	}
	if changed && !m.env.Check {
		err = m.save(out)
	}
	return changed, strings.Join(lines, ""), err
}

// unset removes the note. A line that lacks fields stays, as in Ansible.
func (m *mountPoint) unset() (changed bool, err error) {
	lines, err := m.readFstab()
	if err != nil {
		return false, err
	}
	out := ""
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) != 6 || strings.HasPrefix(f[0], "#") || !m.ours(f) {
			out += line
			continue
		}
		changed = true
	}
	if changed && !m.env.Check {
		err = m.save(out)
	}
	return changed, err
}

// mounted is what is mounted somewhere: its device or the like, and for a bind mount the directory that it shows.
type mounted struct{ device, src string }

// readMounts returns all mounts by their mount points.
func readMounts(path string) map[string]mounted {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	type mountInfo struct{ parent, root, dest, src string }
	all := map[string]mountInfo{}
	var ids []string
	for _, line := range strings.Split(string(raw), "\n") {
		f := strings.Fields(line)
		if n := len(f); n >= 9 {
			all[f[0]] = mountInfo{f[1], f[3], f[4], f[n-2]}
			ids = append(ids, f[0])
		}
	}
	out := map[string]mounted{}
	for _, id := range ids {
		m := all[id]
		above, known := all[m.parent]
		if m.parent == "1" || !known {
			out[m.dest] = mounted{m.src, m.src}
			continue
		}
		if len(above.root) > 1 && strings.HasPrefix(m.root, above.root+"/") {
			m.root = m.root[len(above.root):]
		}
		if above.dest != "/" {
			m.root = above.dest + m.root
		}
		out[m.dest] = mounted{m.src, m.root}
	}
	return out
}
