package general

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/community/general/internal/disktools"
	"hark/modules/internal/host/tool"
)

type filesystemArgs struct {
	State    string  `arg:"state,default=present,choices=present|absent" doc:"Whether there shall be a file system; absent wipes its signatures."`
	FSType   *string `arg:"fstype,alias=type,choices=btrfs|ext2|ext3|ext4|ext4dev|f2fs|lvm|ocfs2|reiserfs|xfs|vfat|swap|ufs" doc:"What to make; lvm is a physical volume."`
	Dev      string  `arg:"dev,required,type=path,alias=device" doc:"The device, or a file with the image of one."`
	Opts     *string `arg:"opts" doc:"Options for mkfs."`
	Force    bool    `arg:"force,default=no" doc:"Make it though there is another one, or the same."`
	ResizeFS bool    `arg:"resizefs,default=no" doc:"Let the file system grow to the size of the device."`
}

// Filesystem is community.general.filesystem.
var Filesystem = modules.Define("community.general.filesystem", "Make file systems", runFilesystem,
	modules.WithRules(modules.Rules{If: []modules.RequiredIf{{Param: "state", Value: "present", Names: []string{"fstype"}}}}),
	modules.Documented(`- community.general.filesystem: {fstype: ext4, dev: /dev/vdb1, opts: -cc}
- community.general.filesystem: {fstype: xfs, dev: /dev/vg/lv, resizefs: true}
- community.general.filesystem: {dev: /dev/vdb1, state: absent}
`,
		modules.Return{Name: "msg", Type: "str", When: "resizefs", Doc: "What the program said, or why there was nothing to do."},
	))

// makeFS is one call of the module.
type makeFS struct {
	tool.Host
	args filesystemArgs
	kind fsKind
	// there is the file system that is on the device, as blkid names it.
	there string
	blkid tool.Output
}

// fsKind is how a file system is made and grown.
type fsKind struct {
	name  string // in messages, as Ansible's
	blkid string // as blkid names it
	mkfs  string
	force []string
	info  string   // tells the size
	grow  []string // program and options, nil if it cannot grow
	// mounted: it grows only while it is mounted, and is named by its mount point.
	mounted bool
	size    func(*makeFS) (int64, error)
}

// errUnread is the output of a program that could not be read.
type errUnread string

func (e errUnread) Error() string { return string(e) }

func kindOf(fstype string) fsKind {
	ext := fsKind{blkid: fstype, mkfs: "mkfs." + fstype, force: []string{"-F"}, info: "tune2fs", grow: []string{"resize2fs"}, size: extSize}
	switch fstype {
	case "ext2", "ext3", "ext4":
		ext.name = strings.ToUpper(fstype[:1]) + fstype[1:]
		return ext
	case "ext4dev":
		ext.name, ext.mkfs = "Ext4", "mkfs.ext4"
		return ext
	case "xfs":
		return fsKind{name: "XFS", blkid: "xfs", mkfs: "mkfs.xfs", force: []string{"-f"}, info: "xfs_info", grow: []string{"xfs_growfs"}, mounted: true, size: xfsSize}
	case "btrfs":
		return fsKind{name: "Btrfs", blkid: "btrfs", mkfs: "mkfs.btrfs", info: "btrfs", grow: []string{"btrfs", "filesystem", "resize", "max"}, mounted: true, size: btrfsSize}
	case "f2fs":
		return fsKind{name: "F2fs", blkid: "f2fs", mkfs: "mkfs.f2fs", info: "dump.f2fs", grow: []string{"resize.f2fs"}, size: f2fsSize}
	case "vfat":
		return fsKind{name: "VFAT", blkid: "vfat", mkfs: "mkfs.vfat", info: "fatresize", grow: []string{"fatresize", "-s", "max"}, size: vfatSize}
	case "lvm":
		return fsKind{name: "LVM", blkid: "LVM2_member", mkfs: "pvcreate", force: []string{"-f"}, info: "pvs", grow: []string{"pvresize"}, size: lvmSize}
	case "swap":
		return fsKind{name: "Swap", blkid: "swap", mkfs: "mkswap", force: []string{"-f"}}
	case "ocfs2":
		return fsKind{name: "Ocfs2", blkid: "ocfs2", mkfs: "mkfs.ocfs2", force: []string{"-Fx"}}
	case "reiserfs":
		return fsKind{name: "Reiserfs", blkid: "reiserfs", mkfs: "mkfs.reiserfs", force: []string{"-q"}}
	}
	return fsKind{name: "UFS", blkid: "ufs", mkfs: "newfs", info: "dumpfs", grow: []string{"growfs", "-y"}, size: ufsSize}
}

func runFilesystem(ctx context.Context, env *modules.Env, a filesystemArgs) (modules.Result, error) {
	m := &makeFS{Host: disktools.Host(ctx, env), args: a}
	if _, err := os.Stat(a.Dev); err != nil {
		if a.State == "present" {
			return modules.Fail("Device %s not found.", a.Dev)
		}
		return modules.Result{Msg: "Device " + a.Dev + " not found."}, nil
	}
	var err error
	if m.blkid, err = m.Run("blkid", "-c", "/dev/null", "-o", "value", "-s", "TYPE", a.Dev); err != nil {
		return modules.Result{}, err
	}
	m.there = strings.TrimSpace(m.blkid.Stdout)
	if a.State == "present" {
		return m.present()
	}
	if m.there == "" {
		return modules.Result{}, nil
	}
	if !env.Check {
		_, err = m.Must("wipefs", "--all", a.Dev)
	}
	return modules.Result{Changed: true}, err
}

func (m *makeFS) present() (modules.Result, error) {
	a := m.args
	m.kind = kindOf(*a.FSType)
	if err := m.forceFlags(); err != nil {
		return modules.Result{}, err
	}
	// ext4dev is made as ext4 is.
	same := m.there != "" && (m.there == m.kind.blkid || m.kind.name == "Ext4" && (m.there == "ext4" || m.there == "ext4dev"))
	switch {
	case same && !a.ResizeFS && !a.Force:
		return modules.Result{}, nil
	case same && a.ResizeFS:
		return m.grow()
	case m.there != "" && !a.Force:
		return modules.Result{}, disktools.Failed(m.blkid, "'%s' is already used as %s, use force=true to overwrite", a.Dev, m.there)
	}
	if m.Env.Check {
		return modules.Result{Changed: true}, nil
	}
	args := append(append([]string{}, m.kind.force...), strings.Fields(modules.Text(a.Opts))...)
	_, err := m.Must(m.kind.mkfs, append(args, a.Dev)...)
	return modules.Result{Changed: true}, err
}

var (
	btrfsVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` v([0-9.]+)`) })
	f2fsVersion  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`F2FS-tools: mkfs.f2fs Ver: ([0-9.]+) \(`) })
)

// forceFlags finds the options of programs whose older releases do not have them.
func (m *makeFS) forceFlags() error {
	switch m.kind.blkid {
	case "btrfs":
		out, err := m.Must(m.kind.mkfs, "--version")
		if err != nil {
			return err
		}
		match := btrfsVersion().FindStringSubmatch(out.Stdout + "\n" + out.Stderr)
		if match == nil {
			m.Env.Warn("Unable to identify mkfs.btrfs version (%s, %s)", modules.Repr(out.Stdout), modules.Repr(out.Stderr))
		}
		if match == nil || atLeast(match[1], 3, 12) {
			m.kind.force = []string{"-f"}
		}
	case "f2fs":
		out, err := m.Run(m.kind.mkfs, os.DevNull)
		if err != nil {
			return err
		}
		if match := f2fsVersion().FindStringSubmatch(out.Stdout); match != nil && atLeast(match[1], 1, 9) {
			m.kind.force = []string{"-f"}
		}
	}
	return nil
}

func atLeast(version string, major, minor int) bool {
	parts := append(strings.Split(version, "."), "0")
	have, _ := strconv.Atoi(parts[0])
	next, _ := strconv.Atoi(parts[1])
	return have > major || have == major && next >= minor
}

// grow lets the file system fill its device.
func (m *makeFS) grow() (modules.Result, error) {
	if m.kind.grow == nil {
		return modules.Fail("module does not support resizing %s filesystem yet.", m.kind.blkid)
	}
	device, err := m.deviceSize()
	if err != nil {
		return modules.Result{}, err
	}
	size, err := m.kind.size(m)
	if unread, ok := err.(errUnread); ok {
		m.Env.Warn("unable to process %s output '%s'", m.kind.info, string(unread))
		return modules.Fail("unable to process %s output for %s", m.kind.info, m.args.Dev)
	}
	switch {
	case err != nil:
		return modules.Result{}, err
	case size >= device:
		return modules.Result{Msg: m.kind.name + " filesystem is using the whole device " + m.args.Dev}, nil
	case m.Env.Check:
		return modules.Result{Changed: true, Msg: "resizing filesystem " + m.kind.name + " on device " + m.args.Dev}, nil
	}
	target := m.args.Dev
	if m.kind.mounted {
		if target, err = m.mountPoint(true); err != nil {
			return modules.Result{}, err
		}
	}
	out, err := m.Must(m.kind.grow[0], append(m.kind.grow[1:len(m.kind.grow):len(m.kind.grow)], target)...)
	res := modules.Result{Changed: true}
	res.Set("msg", out.Stdout)
	return res, err
}
