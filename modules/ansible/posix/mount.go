package posix

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type mountArgs struct {
	Boot   bool    `arg:"boot,default=yes" doc:"Whether it is mounted at boot; no adds noauto to the options."`
	Dump   *string `arg:"dump,default=0" doc:"Field for dump(8)."`
	Fstab  *string `arg:"fstab" doc:"The file, if it is not /etc/fstab."`
	FSType *string `arg:"fstype" doc:"Type of the file system; needed to mount or to note it."`
	Path   string  `arg:"path,required,type=path,alias=name" doc:"The mount point."`
	Opts   *string `arg:"opts,nolog=opts_no_log" doc:"Options of the mount."`
	Secret bool    `arg:"opts_no_log,extra,default=no" doc:"Hide the options in what is told."`
	PassNo *string `arg:"passno,default=0" doc:"Order of fsck."`
	Src    *string `arg:"src,type=path" doc:"What is mounted; needed to mount or to note it."`
	Backup bool    `arg:"backup,default=no" doc:"Whether to keep the file that was there."`
	State  string  `arg:"state,required,choices=absent|absent_from_fstab|mounted|present|unmounted|remounted|ephemeral" doc:"Noted and mounted, only noted (present), only mounted (ephemeral), and so on."`
}

// Mount is ansible.posix.mount.
var Mount = modules.Define("ansible.posix.mount", "Control active and configured mount points", runMount,
	modules.Operands("path", "src"),
	modules.Is(modules.ReadsInCheck),
	modules.EditsOr("/etc/fstab", "fstab"),
	modules.WithRules(modules.Rules{If: []modules.RequiredIf{
		{Param: "state", Value: "mounted", Names: []string{"src", "fstype"}},
		{Param: "state", Value: "present", Names: []string{"src", "fstype"}},
		{Param: "state", Value: "ephemeral", Names: []string{"src", "fstype"}},
	}}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.posix.mount: {path: /srv/data, src: /dev/vdb1, fstype: ext4, opts: noatime, state: mounted}
- ansible.posix.mount: {path: /srv/data, state: absent}
`
		m.Returns = []modules.Return{
			{Name: "name", Type: "str", When: "always", Doc: "The mount point."},
			{Name: "fstab", Type: "str", When: "always", Doc: "The file."},
			{Name: "backup_file", Type: "str", When: "always",
				Doc: "The copy of the file that was there, empty if there is none."},
		}
	}), modules.RunsPrograms)

// mountPoint is one call of the module.
type mountPoint struct {
	ctx   context.Context
	env   *modules.Env
	args  mountArgs
	fstab string
	row   fstabRow // as wanted
	now   map[string]mounted
	res   modules.Result
}

func runMount(ctx context.Context, env *modules.Env, a mountArgs) (modules.Result, error) {
	m := &mountPoint{ctx: ctx, env: env, args: a, fstab: "/etc/fstab", now: readMounts("/proc/self/mountinfo")}
	if a.Fstab != nil {
		m.fstab = *a.Fstab
	}
	m.res.Data = value.DictOf("name", a.Path, "opts", nil, "dump", nil, "passno", nil, "fstab", m.fstab, "boot", "yes",
		"backup_file", "")
	m.row = fstabRow{name: a.Path, src: modules.Text(a.Src), fstype: modules.Text(a.FSType), opts: "defaults",
		dump: modules.Text(a.Dump), passno: modules.Text(a.PassNo)}
	if a.Opts != nil {
		m.row.opts = *a.Opts
	}
	m.boot()
	if a.Src != nil {
		m.res.Data.Put("src", *a.Src)
	}
	if a.FSType != nil {
		m.res.Data.Put("fstype", *a.FSType)
	}
	m.res.Data.Put("opts", m.row.opts)
	m.res.Data.Put("dump", m.row.dump)
	m.res.Data.Put("passno", m.row.passno)
	if a.State != "ephemeral" {
		if err := m.makeFstab(); err != nil {
			return modules.Result{}, err
		}
	}
	err := m.bring()
	return m.res, err
}

// boot adds noauto to the options where the file system is not to be mounted at boot.
func (m *mountPoint) boot() {
	opts := strings.Split(m.row.opts, ",")
	switch {
	case slices.Contains(opts, "noauto"):
		m.env.Warn("Ignore the 'boot' due to 'opts' contains 'noauto'.")
	case m.args.Boot:
	case slices.Contains(opts, "defaults"):
		m.res.Data.Put("boot", "no")
		m.env.Warn("Ignore the 'boot' due to 'opts' contains 'defaults'.")
	default:
		m.res.Data.Put("boot", "no")
		m.row.opts += ",noauto"
	}
}

func (m *mountPoint) makeFstab() error {
	if m.env.Check || fsx.Exists(m.fstab) {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(m.fstab), 0o777)
	if err == nil {
		err = os.WriteFile(m.fstab, nil, 0o666)
	}
	switch {
	case os.IsPermission(err):
		return tool.Fail(nil, "Failed to open %s due to permission issue", m.fstab)
	case err != nil:
		return tool.Fail(nil, "Failed to open %s due to %s", m.fstab, oserr.Path(err, m.fstab))
	}
	return nil
}

func (m *mountPoint) bring() error {
	var err error
	switch m.args.State {
	case "absent_from_fstab":
		m.res.Changed, err = m.unset()
	case "absent":
		if m.res.Changed, err = m.unset(); err == nil && m.res.Changed && !m.env.Check {
			err = m.clear()
		}
	case "unmounted":
		if m.mounted() {
			m.res.Changed = true
			err = m.umount()
		}
	case "present":
		m.res.Changed, _, err = m.set()
	case "remounted":
		m.res.Changed = true
		if !m.env.Check {
			if msg, err := m.remount(); err != nil || msg != "" {
				return orFail(err, "Error remounting %s: %s", m.args.Path, msg)
			}
		}
	default:
		err = m.mountNow()
	}
	return err
}

func orFail(err error, format string, a ...any) error {
	if err != nil {
		return err
	}
	return tool.Fail(nil, format, a...)
}

// clear unmounts and removes the mount point.
func (m *mountPoint) clear() error {
	if m.mounted() {
		if err := m.umount(); err != nil {
			return err
		}
	}
	if !fsx.Exists(m.args.Path) {
		return nil
	}
	if err := os.Remove(m.args.Path); err != nil {
		return tool.Fail(nil, "Error rmdir %s: %s", m.args.Path, oserr.Path(err, m.args.Path))
	}
	return nil
}

// mounted reports whether something is mounted there.
func (m *mountPoint) mounted() bool {
	_, listed := m.now[m.args.Path]
	return listed || isMountPoint(m.args.Path)
}

// isMountPoint looks whether a directory is on another device than the one above it.
func isMountPoint(path string) bool {
	here, err := fsx.Stat(path, false)
	if err != nil || fsx.IsLink(path) {
		return false
	}
	above, err := fsx.Stat(filepath.Join(fsx.RealPath(path), ".."), false)
	return err == nil && (here.Dev != above.Dev || here.Ino == above.Ino)
}

// run runs mount or umount; msg is what it says where it does not succeed.
func (m *mountPoint) run(program string, args ...string) (msg string, err error) {
	out, err := tool.Host{Ctx: m.ctx, Env: m.env}.Run(program, args...)
	if err != nil || out.Rc == 0 {
		return "", err
	}
	if msg = out.Stdout + out.Stderr; msg == "" {
		msg = "\n"
	}
	return msg, nil
}

func (m *mountPoint) umount() error {
	if m.env.Check {
		return nil
	}
	msg, err := m.run("umount", m.args.Path)
	if err != nil || msg != "" {
		return orFail(err, "Error unmounting %s: %s", m.args.Path, msg)
	}
	return nil
}

// how returns the arguments that tell mount what to mount: all of it, or where to read it.
func (m *mountPoint) how() []string {
	if m.args.State != "ephemeral" {
		if m.fstab != "/etc/fstab" {
			return []string{"-T", m.fstab}
		}
		return nil
	}
	argv := []string{"-t", m.row.fstype}
	if m.row.opts != "defaults" {
		argv = append(argv, "-o", m.row.opts)
	}
	return append(argv, m.row.src)
}

func (m *mountPoint) mount() (string, error) {
	return m.run("mount", append(m.how(), m.args.Path)...)
}

// remount tries to remount, and unmounts and mounts what does not know that.
func (m *mountPoint) remount() (string, error) {
	options, own := "remount", m.args.State == "remounted" && m.row.opts != "defaults"
	if own {
		options += "," + m.row.opts
	}
	msg, err := m.run("mount", append(append([]string{"-o", options}, m.how()...), m.args.Path)...)
	if err != nil || msg == "" {
		return msg, err
	}
	if own {
		return "", tool.Fail(nil,
			"Options were specified with remounted, but the remount command failed. Failing in order to prevent an "+
				"unexpected mount result. Try replacing this command with a \"state: unmounted\" followed by a \"state: mounted\" "+
				"using the full desired mount options instead.")
	}
	if msg, err = m.run("umount", m.args.Path); err != nil || msg != "" {
		return msg, err
	}
	return m.mount()
}

// mountNow mounts, for states mounted and ephemeral. What goes wrong is taken back.
func (m *mountPoint) mountNow() error {
	made, err := m.makePath()
	if err != nil {
		return err
	}
	ephemeral := m.args.State == "ephemeral"
	old := ""
	if !ephemeral {
		if m.res.Changed, old, err = m.set(); err != nil {
			return err
		}
	}
	have, listed := m.now[m.args.Path]
	there := isMountPoint(m.args.Path) || listed && have.src == m.row.src
	msg := ""
	switch {
	case there && ephemeral && have.src != m.row.src && have.device != m.row.src:
		return tool.Fail(nil,
			"Ephemeral mount point is already mounted with a different source than the specified one. Failing in order to "+
				"prevent an "+
				"unwanted unmount or override operation. Try replacing this command with a \"state: unmounted\" followed by a "+
				"\"state: ephemeral\", or use "+
				"a different destination path.")
	case there && (m.res.Changed || ephemeral):
		m.res.Changed = true
		if !m.env.Check {
			msg, err = m.remount()
		}
	case !there:
		m.res.Changed = true
		if !m.env.Check {
			msg, err = m.mount()
		}
	}
	if err == nil && msg == "" {
		return nil
	}
	if !ephemeral && !m.env.Check {
		_ = fsx.WriteFile(m.fstab, []byte(old), false)
	}
	for _, dir := range slices.Backward(made) {
		_ = os.Remove(dir)
	}
	return orFail(err, "Error mounting %s: %s", m.args.Path, msg)
}

// makePath makes the mount point; made are the directories that were not there.
func (m *mountPoint) makePath() (made []string, err error) {
	if m.env.Check {
		return nil, nil
	}
	var missing []string
	for dir := m.args.Path; !fsx.Exists(dir); dir = filepath.Dir(dir) {
		missing = append(missing, dir)
	}
	for _, dir := range slices.Backward(missing) {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return made, tool.Fail(nil, "Error making dir %s: %s", m.args.Path, oserr.Path(err, dir))
		}
		made = append(made, dir)
	}
	return made, nil
}

// save writes fstab, after a backup if one is wanted.
func (m *mountPoint) save(content string) error {
	if m.args.Backup {
		backup, err := fsx.Backup(m.fstab, time.Now())
		if err != nil {
			return err
		}
		m.res.Data.Put("backup_file", backup)
	}
	return fsx.WriteFile(m.fstab, []byte(content), false)
}
