package general

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type pamLimitsArgs struct {
	Domain  string `arg:"domain,required" doc:"A user, a @group, a range of ids, or * for all."`
	Type    string `arg:"limit_type,required,choices=soft|hard|-" doc:"Kind of the limit; - is both."`
	Item    string `arg:"limit_item,required,choices=core|data|fsize|memlock|nofile|rss|stack|cpu|nproc|as|maxlogins|maxsyslogins|priority|locks|sigpending|msgqueue|nice|rtprio|chroot" doc:"What is limited."`
	Value   string `arg:"value,required" doc:"The limit; unlimited, infinity or -1 is none. For nice and priority a number from -20 to 19."`
	UseMax  bool   `arg:"use_max,default=no" doc:"Leave a limit that is larger."`
	UseMin  bool   `arg:"use_min,default=no" doc:"Leave a limit that is smaller."`
	Backup  bool   `arg:"backup,default=no" doc:"Whether to keep the file that was there."`
	Dest    string `arg:"dest,default=/etc/security/limits.conf" doc:"The file."`
	Comment string `arg:"comment,default=" doc:"A comment behind the limit."`
}

// PamLimits is community.general.pam_limits.
var PamLimits = modules.Define("community.general.pam_limits", "Manage limits of users", runPamLimits,
	modules.Edits("dest"),
	modules.Documented(`- community.general.pam_limits: {domain: "*", limit_type: soft, limit_item: nofile, value: "64000"}
- community.general.pam_limits: {domain: "@web", limit_type: "-", limit_item: memlock, value: unlimited, comment: for the cache}
`,
		modules.Return{Name: "msg", Type: "str", When: "always", Doc: "The line."},
		modules.Return{Name: "diff", Type: "dict", When: "always", Doc: "The content before and after."},
		modules.Return{Name: "backup_file", Type: "str", When: "backup", Doc: "The copy of what was there."},
	))

func runPamLimits(_ context.Context, env *modules.Env, a pamLimitsArgs) (modules.Result, error) {
	raw, fresh, err := a.read()
	if err != nil {
		return modules.Result{}, err
	}
	if a.UseMax && a.UseMin {
		return modules.Fail("Cannot use use_min and use_max at the same time.")
	}
	if err := checkLimit(a.Item, a.Value, ""); err != nil {
		return modules.Result{}, err
	}
	e := &limitsEdit{pamLimitsArgs: a}
	if err := e.edit(string(raw)); err != nil {
		return modules.Result{}, err
	}
	after := e.out.String()
	res := modules.Result{Changed: e.changed || fresh}
	res.Set("msg", e.line)
	res.Set("diff", modules.Here)
	res.Diff = []modules.Diff{{Raw: value.DictOf("before", string(raw), "after", after)}}
	if a.Backup && !fresh && !env.Check {
		backup, err := fsx.Backup(a.Dest, time.Now())
		if err != nil {
			return modules.Result{}, err
		}
		res.Set("backup_file", backup)
	}
	if !env.Check && after != string(raw) {
		err = fsx.WriteFile(a.Dest, []byte(after), false)
	}
	return res, err
}

// read reads the file; it is fresh if there is none yet.
func (a *pamLimitsArgs) read() (raw []byte, fresh bool, err error) {
	switch dir := filepath.Dir(a.Dest); {
	case fsx.IsFile(fsx.RealPath(a.Dest)):
		if !fsx.Writable(a.Dest) {
			return nil, false, tool.Fail(nil, "%s is not writable. Use sudo", a.Dest)
		}
	case !fsx.IsDir(dir) || !fsx.Writable(dir):
		return nil, false, tool.Fail(nil, "directory %s is not writable (check presence, access rights, use sudo)", dir)
	default:
		return nil, true, nil
	}
	if raw, err = os.ReadFile(a.Dest); err != nil {
		err = tool.Fail(nil, "%s", oserr.Path(err, a.Dest))
	}
	return raw, false, err
}

func unlimited(value string) bool {
	return slices.Contains([]string{"unlimited", "infinity", "-1"}, value)
}

// checkLimit fails if a value is none that an item can have.
func checkLimit(item, value, prefix string) error {
	const manual = "Refer to the limits.conf(5) manual pages for more details."
	n, err := strconv.Atoi(value)
	if item == "nice" || item == "priority" {
		if err == nil && n >= -20 && n <= 19 {
			return nil
		}
		return tool.Fail(nil, "%s Value of %s for item %s is invalid. Value must be a number in the range -20 to 19 inclusive. %s",
			prefix, modules.Repr(value), modules.Repr(item), manual)
	}
	if unlimited(value) || value != "" && strings.Trim(value, "0123456789") == "" {
		return nil
	}
	return tool.Fail(nil, "%s Value of %s for item %s is invalid. Value must either be 'unlimited', 'infinity' or -1, all of which indicate no limit, "+
		"or a limit of 0 or larger. %s", prefix, modules.Repr(value), modules.Repr(item), manual)
}

// limitsEdit walks the lines of the file.
type limitsEdit struct {
	pamLimitsArgs
	out     strings.Builder
	found   bool
	changed bool
	line    string // the line of the limit, as it is or becomes
}

func (e *limitsEdit) edit(content string) error {
	for line := range strings.Lines(content) {
		if err := e.next(line); err != nil {
			return err
		}
	}
	if !e.found {
		e.write(e.Value)
	}
	return nil
}

// next takes over a line, or writes another one for it. A limit without a comment gets the first one of the lines above it, as in Ansible.
func (e *limitsEdit) next(line string) error {
	setting, comment, _ := strings.Cut(line, "#")
	if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" && e.Comment == "" {
		e.Comment = comment
	}
	fields := strings.Fields(setting)
	if strings.HasPrefix(line, "#") || len(fields) != 4 {
		e.out.WriteString(line)
		return nil
	}
	if err := checkLimit(fields[2], fields[3], "Invalid configuration found in '"+e.Dest+"'."); err != nil {
		return err
	}
	if !slices.Equal(fields[:3], []string{e.Domain, e.Type, e.Item}) {
		e.out.WriteString(line)
		return nil
	}
	e.found = true
	if value := e.choose(fields[3]); value != fields[3] {
		e.write(value)
		return nil
	}
	e.line = line
	e.out.WriteString(line)
	return nil
}

func (e *limitsEdit) write(value string) {
	if e.Comment != "" {
		e.Comment = "\t#" + e.Comment
	}
	e.changed = true
	e.line = strings.Join([]string{e.Domain, e.Type, e.Item, value}, "\t") + e.Comment + "\n"
	e.out.WriteString(e.line)
}

// choose is the value that the limit shall have.
func (e *limitsEdit) choose(have string) string {
	smaller, larger := e.Value, have
	switch n, _ := strconv.Atoi(e.Value); {
	case unlimited(e.Value) && unlimited(have):
		smaller = have
	case unlimited(e.Value):
		smaller, larger = have, e.Value
	case !unlimited(have):
		if m, _ := strconv.Atoi(have); n > m {
			smaller, larger = have, e.Value
		}
	}
	switch {
	case e.UseMax:
		return larger
	case e.UseMin:
		return smaller
	}
	return e.Value
}
