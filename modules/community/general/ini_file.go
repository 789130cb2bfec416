package general

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type iniFileArgs struct {
	Path          string   `arg:"path,required,type=path,alias=dest" doc:"The file."`
	Section       *string  `arg:"section" doc:"The section; without it, what stands before the first one."`
	Option        *string  `arg:"option" doc:"The option; without it the section itself."`
	Value         *string  `arg:"value" doc:"Its value."`
	Values        []string `arg:"values" doc:"Its values, where an option may come more than once."`
	Backup        bool     `arg:"backup,default=no" doc:"Whether to keep the file that was there."`
	State         string   `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be there."`
	Exclusive     bool     `arg:"exclusive,default=yes" doc:"Whether other values of the option go."`
	NoExtraSpaces bool     `arg:"no_extra_spaces,default=no" doc:"Put no spaces around the equals sign."`
	IgnoreSpaces  bool     `arg:"ignore_spaces,extra,default=no" doc:"A line that differs only by spaces is the same."`
	AllowNoValue  bool     `arg:"allow_no_value,default=no" doc:"Allow options without a value and equals sign."`
	Create        bool     `arg:"create,default=yes" doc:"Whether to make a file that is not there."`
	Follow        bool     `arg:"follow,extra,default=no" doc:"Write to what a link points to instead of replacing the link."`
	Inactive      bool     `arg:"modify_inactive_option,extra,default=yes" doc:"Take a line of the option that is a comment for one to change."`
	Conditions    []iniHas `arg:"section_has_values,extra" doc:"Of several sections of the name, the one that has all of these."`
	fsx.FileArgs
}

// iniHas is what a section must have.
type iniHas struct {
	Option string   `arg:"option,required" doc:"An option."`
	Value  *string  `arg:"value" doc:"Its value; without one, any will do."`
	Values []string `arg:"values" doc:"It has one of these values."`
}

func (h iniHas) values() []string {
	if h.Value != nil {
		return []string{*h.Value}
	}
	return h.Values
}

// IniFile is community.general.ini_file.
var IniFile = modules.Define("community.general.ini_file", "Tweak settings in INI files", runIniFile,
	modules.Is(modules.ReadsInCheck|modules.OpensByPath),
	modules.Edits("path"),
	modules.WithRules(modules.Rules{Exclusive: [][]string{{"value", "values"}}}),
	modules.WithSubRules("section_has_values", modules.Rules{Exclusive: [][]string{{"value", "values"}}}),
	modules.Documented(`- community.general.ini_file: {path: /etc/app.ini, section: server, option: port, value: "8080", mode: "0644"}
- community.general.ini_file: {path: /etc/app.ini, section: old, state: absent}
`,
		modules.Return{Name: "msg", Type: "str", When: "always", Doc: "What was done."},
		modules.Return{Name: "path", Type: "str", When: "always", Doc: "The file."},
		modules.Return{Name: "diff", Type: "dict", When: "always",
			Doc: "The content before and after, empty unless asked for."},
		modules.Return{Name: "backup_file", Type: "str", When: "backup and a change", Doc: "The copy of what was there."},
	))

func runIniFile(_ context.Context, env *modules.Env, a iniFileArgs) (modules.Result, error) {
	if a.State == "present" && !a.AllowNoValue && a.Value == nil && len(a.Values) == 0 {
		return modules.Fail("Parameter 'value(s)' must be defined if state=present and allow_no_value=False.")
	}
	if len(a.Conditions) > 0 && modules.Text(a.Section) == "" {
		return modules.Fail("section_has_values needs a section")
	}
	if a.Value != nil {
		a.Values = []string{*a.Value}
	}
	dest := a.Path
	if a.Follow {
		dest = fsx.RealPath(dest)
	}
	raw, err := hostfs.ReadFile(dest)
	switch {
	case os.IsNotExist(err) && !a.Create:
		return modules.Result{}, tool.Fail(value.DictOf("rc", int64(257)), "Destination %s does not exist!", a.Path)
	case err != nil && !os.IsNotExist(err):
		return modules.Result{}, tool.Fail(nil, "cannot read %s: %s", a.Path, oserr.Path(err, a.Path))
	}
	before := strings.TrimPrefix(string(raw), "\uFEFF")
	e := newIniEdit(&a, before)
	after := e.edit()
	res := modules.Result{Changed: e.changed, Msg: e.msg, Data: value.DictOf("diff", modules.Here, "msg", modules.Here,
		"path", a.Path)}
	diff := value.DictOf("before", "", "after", "", "before_header", a.Path+" (content)", "after_header", a.Path+
		" (content)")
	if env.Diff {
		diff.Put("before", before)
		diff.Put("after", after)
	}
	res.Diff = []modules.Diff{{Raw: diff}}
	if env.Check {
		return res, nil
	}
	if e.changed {
		if a.Backup {
			backup, err := fsx.Backup(dest, time.Now())
			if err != nil {
				return modules.Result{}, err
			}
			if backup != "" {
				res.Data.Put("backup_file", backup)
			}
		}
		if err := hostfs.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
			return modules.Result{}, tool.Fail(nil, "cannot make the directory of %s: %s", a.Path, oserr.Path(err, a.Path))
		}
		if err := a.WriteFile(dest, []byte(after)); err != nil {
			return modules.Result{}, err
		}
	}
	if fsx.Exists(dest) {
		did, err := a.For(a.Path, a.Follow).Apply(false, nil)
		if err != nil {
			return modules.Result{}, err
		}
		res.Changed = res.Changed || did
	}
	return res, nil
}
