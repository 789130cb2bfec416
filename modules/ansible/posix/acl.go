package posix

import (
	"context"
	"os"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type aclArgs struct {
	Path        string  `arg:"path,required,type=path,alias=name" doc:"The file or directory."`
	Entry       *string `arg:"entry" doc:"The entry as setfacl takes it; entity, etype and permissions say it better."`
	Entity      string  `arg:"entity,default=" doc:"The user or group."`
	EType       *string `arg:"etype,choices=group|mask|other|user" doc:"What entity is."`
	Permissions *string `arg:"permissions" doc:"Any of r, w, x and X."`
	State       string  `arg:"state,default=query,choices=absent|present|query" doc:"Whether the entry shall be there, or what is there."`
	Follow      bool    `arg:"follow,default=yes" doc:"Whether links are followed."`
	Default     bool    `arg:"default,default=no" doc:"The entry is for what is made in the directory."`
	Recursive   bool    `arg:"recursive,alias=recurse,default=no" doc:"Go down into directories."`
	Mask        string  `arg:"recalculate_mask,default=default,choices=default|mask|no_mask" doc:"Whether the mask is made anew."`
	NFSv4       bool    `arg:"use_nfsv4_acls,default=no" doc:"Entries are those of NFSv4."`
}

// ACL is ansible.posix.acl.
var ACL = modules.Define("ansible.posix.acl", "Set and retrieve file ACL information.", runACL,
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.posix.acl: {path: /srv/app, entity: joe, etype: user, permissions: rX, state: present, recursive: true}
- ansible.posix.acl: {path: /srv/app}
  register: now
`
		m.Returns = []modules.Return{{Name: "acl", Type: "list", When: "success", Doc: "The entries, as getfacl prints them."}}
	}))

// accessList is one call of the module.
type accessList struct {
	ctx  context.Context
	env  *modules.Env
	args aclArgs
}

func runACL(ctx context.Context, env *modules.Env, a aclArgs) (modules.Result, error) {
	if _, err := os.Stat(a.Path); err != nil {
		return modules.Fail("Path not found or not accessible.")
	}
	if msg := a.wrong(); msg != "" {
		return modules.Fail("%s", msg)
	}
	if modules.Text(a.Entry) != "" {
		a.split()
	}
	l := &accessList{ctx: ctx, env: env, args: a}
	msg, changed := "current acl", false
	if a.State != "query" {
		entry, argv, err := l.command()
		if err == nil {
			changed, err = l.changes(argv)
		}
		if err == nil && changed && !env.Check {
			_, err = l.run(argv, a.State == "present")
		}
		if err != nil {
			return modules.Result{}, err
		}
		msg = entry + " is " + a.State
	}
	getfacl, err := tool.Find(env, "getfacl")
	if err != nil {
		return modules.Result{}, err
	}
	lines, err := l.run(l.options([]string{getfacl, "--omit-header", "--absolute-names"}, false), true)
	return modules.Result{Changed: changed, Msg: msg, Data: value.DictOf("msg", modules.Here, "acl", lines)}, err
}

// wrong is what is wrong with the arguments, "" if nothing.
func (a *aclArgs) wrong() string {
	colons := strings.Count(modules.Text(a.Entry), ":")
	entry, permissions, etype := modules.Text(a.Entry) != "", modules.Text(a.Permissions) != "", modules.Text(a.EType) != ""
	switch {
	case a.State == "query" && a.Recursive:
		return "'recursive' MUST NOT be set when 'state=query'."
	case a.State == "query" && a.Mask != "default":
		return "'recalculate_mask' MUST NOT be set to 'mask' or 'no_mask' when 'state=query'."
	case !entry && a.State == "absent" && permissions:
		return "'permissions' MUST NOT be set when 'state=absent'."
	case !entry && a.State == "absent" && a.Entity == "":
		return "'entity' MUST be set when 'state=absent'."
	case !entry && a.State != "query" && !etype:
		return "'etype' MUST be set when 'state=" + a.State + "'."
	case entry && (etype || a.Entity != "" || permissions):
		return "'entry' MUST NOT be set when 'entity', 'etype' or 'permissions' are set."
	case entry && a.State == "present" && colons != 2 && colons != 3:
		return "'entry' MUST have 3 or 4 sections divided by ':' when 'state=present'."
	case entry && a.State == "absent" && colons != 1 && colons != 2:
		return "'entry' MUST have 2 or 3 sections divided by ':' when 'state=absent'."
	case entry && a.State == "query":
		return "'entry' MUST NOT be set when 'state=query'."
	}
	return ""
}

// split takes the parts of entry as if they had been given one by one.
func (a *aclArgs) split() {
	parts := strings.Split(*a.Entry, ":")
	if strings.HasPrefix(strings.ToLower(*a.Entry), "d") {
		a.Default, parts = true, parts[1:]
	}
	for len(parts) < 3 {
		parts = append(parts, "")
	}
	kind := ""
	for _, word := range []string{"user", "group", "mask", "other"} {
		if strings.HasPrefix(strings.ToLower(parts[0]), word[:1]) {
			kind = word
		}
	}
	a.EType, a.Entity, a.Permissions = &kind, parts[1], &parts[2]
}

// command is the entry, and setfacl with it.
func (l *accessList) command() (entry string, argv []string, err error) {
	setfacl, err := tool.Find(l.env, "setfacl")
	if err != nil {
		return "", nil, err
	}
	entry = modules.Text(l.args.EType) + ":" + l.args.Entity
	option := "-x"
	if l.args.State == "present" {
		option = "-m"
		switch {
		case l.args.NFSv4:
			entry += ":" + modules.Text(l.args.Permissions) + ":allow"
		case modules.Text(l.args.Permissions) != "":
			entry += ":" + modules.Text(l.args.Permissions)
		}
	}
	return entry, l.options([]string{setfacl, option, entry}, true), nil
}

func (l *accessList) options(argv []string, sets bool) []string {
	a := l.args
	if a.Recursive {
		argv = append(argv, "--recursive")
	}
	if sets && a.Mask == "mask" {
		argv = append(argv, "--mask")
	} else if sets && a.Mask == "no_mask" {
		argv = append(argv, "--no-mask")
	}
	if !a.Follow {
		argv = append(argv, "--physical")
	}
	if a.Default {
		argv = slices.Insert(argv, 1, "-d")
	}
	return append(argv, a.Path)
}

// changes asks setfacl what would become of the files; *,* is nothing.
func (l *accessList) changes(argv []string) (bool, error) {
	lines, err := l.run(slices.Insert(slices.Clone(argv), 1, "--test"), true)
	return slices.ContainsFunc(lines, func(line any) bool { return !strings.HasSuffix(line.(string), "*,*") }), err
}

// run gives the lines that are no comments.
func (l *accessList) run(argv []string, must bool) ([]any, error) {
	out, err := tool.Run(l.ctx, l.env, modules.Command{Argv: argv})
	if err == nil && must {
		err = out.Check()
	}
	lines := []any{}
	for _, line := range modules.Lines(out.Stdout) {
		if s := line.(string); !strings.HasPrefix(s, "#") {
			lines = append(lines, strings.TrimSpace(s))
		}
	}
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines, err
}
