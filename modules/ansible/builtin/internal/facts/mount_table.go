package facts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/fnmatch"
	"hark/modules/py/value"
)

// MountArgs are the arguments of mount_facts.
type MountArgs struct {
	Sources   []string    `arg:"sources" doc:"Files to read, or all, static, dynamic or mount (the program); all by itself."`
	Binary    value.Value `arg:"mount_binary,default=mount" doc:"The program to ask where no table of mounts is to be read."`
	Devices   []string    `arg:"devices" doc:"Shell patterns of devices to keep."`
	FSTypes   []string    `arg:"fstypes" doc:"Shell patterns of types to keep."`
	Timeout   *float64    `arg:"timeout" doc:"Seconds that one mount may take to answer; 10 by itself."`
	OnTimeout string      `arg:"on_timeout,default=error,choices=error|warn|ignore" doc:"What to do about a mount that does not answer."`
	Aggregate *bool       `arg:"include_aggregate_mounts" doc:"Whether to list mount points that come more than once; without it they are warned of."`
}

// mountEntry is a mount as a source describes it.
type mountEntry struct {
	source, line string
	fields       map[string]any
}

func (e mountEntry) text(key string) string { s, _ := e.fields[key].(string); return s }

// Mounts runs mount_facts.
func Mounts(ctx context.Context, env *modules.Env, a MountArgs) (modules.Result, error) {
	limit := 10 * time.Second
	if a.Timeout != nil {
		if *a.Timeout <= 0 {
			return modules.Fail("argument 'timeout' must be a positive number or null, not %s", modules.Repr(*a.Timeout))
		}
		limit = time.Duration(*a.Timeout * float64(time.Second))
	}
	if a.Binary != nil && !value.IsText(a.Binary) {
		return modules.Fail("argument 'mount_binary' must be a string or null, not %s", modules.Str(a.Binary))
	}
	m := &mountReader{probe: probe{ctx: ctx, env: env, limit: limit, facts: map[string]any{}}, args: a}
	all, err := m.entries()
	if err != nil {
		return modules.Result{}, err
	}
	var list []any
	for _, e := range all {
		if !keepsMount(a.Devices, e.text("device")) || !keepsMount(a.FSTypes, e.text("fstype")) {
			continue
		}
		if err := m.complete(e); err != nil {
			return modules.Result{}, err
		}
		list = append(list, e.fields)
	}
	points, every := m.unique(list)
	return modules.Result{Facts: value.DictOf("mount_points", points, "aggregate_mounts", every), Warnings: m.warnings},
		nil
}

func keepsMount(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return fnmatch.Match(p, name) })
}

// mountReader reads the sources of one call.
type mountReader struct {
	probe
	args  MountArgs
	uuids map[string]string
}

func dynamicSources() []string { return []string{"/etc/mtab", "/proc/mounts", "/etc/mnttab"} }

func staticSources() []string { return []string{"/etc/fstab", "/etc/vfstab", "/etc/filesystems"} }

func (m *mountReader) sources() ([]string, error) {
	given := m.args.Sources
	if len(given) == 0 {
		given = []string{"all"}
	}
	var list []string
	for _, s := range given {
		switch s {
		case "":
			return nil, fmt.Errorf("sources contains an empty string")
		case "all":
			list = append(append(list, dynamicSources()...), staticSources()...)
		case "dynamic":
			list = append(list, dynamicSources()...)
		case "static":
			list = append(list, staticSources()...)
		default:
			list = append(list, s)
		}
	}
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) < len(list) {
		m.warn("mount_facts option 'sources' contains duplicate entries, repeat sources will be ignored: " +
			modules.Repr(list))
	}
	return list, nil
}

// entries returns the mounts of all sources, each source read once whatever it is called. The program is asked where
// no table of what is mounted now was to be had.
func (m *mountReader) entries() ([]mountEntry, error) {
	sources, err := m.sources()
	if err != nil {
		return nil, err
	}
	binary, _ := value.Text(m.args.Binary)
	fallback := binary != "" && slices.ContainsFunc(sources,
		func(s string) bool { return slices.Contains(dynamicSources(), s) })
	seen := map[string]bool{}
	var all []mountEntry
	for _, source := range sources {
		real := source
		if source != "mount" {
			real = fsx.RealPath(source)
		}
		if seen[source] || seen[real] {
			continue
		}
		seen[real] = true
		var found []mountEntry
		if source == "mount" {
			if found, err = m.mounted(binary); err != nil {
				return nil, err
			}
		} else {
			found = readMountTable(source)
		}
		if len(found) > 0 && (source == "mount" || slices.Contains(dynamicSources(), source)) {
			fallback = false
		}
		all = append(all, found...)
	}
	if fallback {
		found, err := m.mounted(binary)
		return append(all, found...), err
	}
	return all, nil
}

var mountedLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\S+) on (\S+) type (\S+) ` +
		`\((.+)\)$`)
})

// mounted asks the program.
func (m *mountReader) mounted(binary string) ([]mountEntry, error) {
	path, err := tool.Find(m.env, binary)
	if err != nil {
		return nil, err
	}
	out, err := m.env.Exec(m.ctx, modules.Command{Argv: []string{path}, Env: []string{"LC_ALL=C"}, Timeout: m.limit})
	switch {
	case err != nil:
		return nil, err
	case out.TimedOut:
		return nil, m.late(fmt.Sprintf("Command '%s' timed out after %s seconds", path, modules.Repr(m.limit.Seconds())))
	case out.Rc != 0:
		return nil, tool.Fail(nil, "Failed to execute %s: Command '%s' returned non-zero exit status %d.", path, path, out.Rc)
	}
	var list []mountEntry
	for _, line := range modules.Lines(string(out.Stdout)) {
		f := mountedLine().FindStringSubmatch(line.(string))
		if f == nil {
			return nil, nil // not what mount prints on Linux
		}
		list = append(list,
			mountEntry{"mount", f[0], map[string]any{"device": f[1], "mount": f[2], "fstype": f[3], "options": f[4]}})
	}
	return list, nil
}

// late deals with a time-out as on_timeout says; an error fails the module.
func (m *mountReader) late(msg string) error {
	switch m.args.OnTimeout {
	case "error":
		return fmt.Errorf("%s", msg)
	case "warn":
		m.warn(msg)
	}
	return nil
}

// complete adds what the file system itself reports.
func (m *mountReader) complete(e mountEntry) error {
	mount, kind := e.text("mount"), e.text("fstype")
	device, id := e.text("device"), any(nil)
	if uuid, ok := strings.CutPrefix(device, "UUID="); ok {
		id = uuid
	}
	if err := space(&m.probe, mount, kind, e.fields); err != nil {
		if err := m.late(fmt.Sprintf("Timed out getting mount size for mount %s (type %s)", mount, kind)); err != nil {
			return err
		}
	}
	if id == nil {
		if uuid := m.uuid(device); uuid != "" {
			id = uuid
		}
	}
	e.fields["ansible_context"] = map[string]any{"source": e.source, "source_data": e.line}
	e.fields["uuid"] = id
	return nil
}

func (m *mountReader) uuid(device string) string {
	if !strings.HasPrefix(device, "/") {
		return ""
	}
	if m.uuids == nil {
		m.uuids = mountUUIDs(&m.probe)
		for _, name := range entries("/dev/disk/by-uuid") {
			m.uuids[fsx.RealPath(filepath.Join("/dev/disk/by-uuid", name))] = name
		}
	}
	return m.uuids[device]
}

// unique returns the first entry of each mount point, and all of them if those are wanted.
func (m *mountReader) unique(list []any) (points map[string]any, every []any) {
	points, every = map[string]any{}, []any{}
	bySource, repeated := map[string][]any{}, map[string]bool{}
	var sources []string
	for _, x := range list {
		fields := x.(map[string]any)
		mount, _ := fields["mount"].(string)
		source, _ := fields["ansible_context"].(map[string]any)["source"].(string)
		if points[mount] == nil {
			points[mount] = fields
		}
		if bySource[source] == nil {
			sources = append(sources, source)
		}
		repeated[source] = repeated[source] || slices.Contains(bySource[source], any(mount))
		bySource[source] = append(bySource[source], mount)
	}
	if m.args.Aggregate != nil && *m.args.Aggregate {
		return points, append(every, list...)
	}
	var told []string
	for _, source := range sources {
		if repeated[source] {
			told = append(told, fmt.Sprintf("%s (%s)", source, modules.Repr(bySource[source])))
		}
	}
	if len(told) > 0 && m.args.Aggregate == nil {
		m.warn("mount_facts: ignoring repeat mounts in the following sources: " + strings.Join(told, ", ") +
			". You can disable this warning by configuring the 'include_aggregate_mounts' option as True or False.")
	}
	return points, every
}

// readMountTable reads a file in the first form that fits all its lines: vfstab, mnttab or fstab.
func readMountTable(path string) []mountEntry {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return nil
	}
	for _, form := range []func([]string) map[string]any{vfstabFields, mnttabFields, fstabFields} {
		var list []mountEntry
		fits := true
		for _, line := range strings.Split(text, "\n") {
			trimmed := strings.TrimSpace(line)
			if trimmed == "" || strings.HasPrefix(trimmed, "#") {
				continue
			}
			fields := form(strings.Fields(trimmed))
			if fits = fields != nil; !fits {
				break
			}
			list = append(list, mountEntry{path, trimmed, fields})
		}
		if fits {
			return list
		}
	}
	return nil
}

func vfstabFields(f []string) map[string]any {
	if len(f) < 7 {
		return nil
	}
	return map[string]any{
		"device": f[0], "device_to_fsck": f[1], "mount": f[2], "fstype": f[3], "passno": numberOr(f[4]),
		"mount_at_boot": f[5], "options": f[6],
	}
}

// mnttabFields have the time of the mount, ten digits.
func mnttabFields(f []string) map[string]any {
	if len(f) < 5 || len(f[4]) != 10 {
		return nil
	}
	when, err := strconv.ParseInt(f[4], 10, 64)
	if err != nil {
		return nil
	}
	return map[string]any{"device": f[0], "mount": f[1], "fstype": f[2], "options": f[3], "time": when}
}

func fstabFields(f []string) map[string]any {
	if len(f) < 4 {
		return nil
	}
	for i := range f {
		f[i] = unescapeOctal(f[i])
	}
	fields := map[string]any{"device": f[0], "mount": f[1], "fstype": f[2], "options": f[3]}
	for i, name := range []string{"dump", "passno"} {
		if len(f) > 4+i {
			fields[name] = numberOr(f[4+i])
		}
	}
	return fields
}

func numberOr(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return text
}
