package filters

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"

	"hark/modules/nss"
	"hark/modules/py/cwd"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// ansibleNames are Ansible's other filters of file names. Those that look at files look at this machine.
func ansibleNames() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"expanduser":     expanding(expandUser),
		"expandvars":     expanding(expandVars),
		"realpath":       pathFilter(realPath),
		"normpath":       pathFilter(normalPath),
		"relpath":        relPath,
		"splitext":       splitExt,
		"fileglob":       fileGlob,
		"path_join":      pathJoin,
		"commonpath":     commonPath,
		"win_basename":   pathFilter(func(s string) string { _, tail := winSplit(s); return tail }),
		"win_dirname":    pathFilter(func(s string) string { head, _ := winSplit(s); return head }),
		"win_splitdrive": winSplitDrive,
	}
}

func expandUser(s string) string {
	if !strings.HasPrefix(s, "~") {
		return s
	}
	name, rest, _ := strings.Cut(s[1:], "/")
	home := os.Getenv("HOME")
	if name != "" || home == "" {
		if home = nss.Home(name); home == "" {
			return s
		}
	}
	if !strings.Contains(s, "/") {
		return home
	}
	return strings.TrimRight(home, "/") + "/" + rest
}

var pathVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(\w+|\{[^}]*\})`) })

// expandVars puts environment variables for $NAME and ${NAME}; those that are not set stay.
func expandVars(s string) string {
	return pathVariable().ReplaceAllStringFunc(s, func(ref string) string {
		if v, ok := os.LookupEnv(strings.Trim(ref, "${}")); ok {
			return v
		}
		return ref
	})
}

func realPath(s string) string {
	abs, err := cwd.Abs(s)
	if err != nil {
		return s
	}
	// A path whose end is not there is resolved as far as it goes.
	for head, tail := abs, ""; ; {
		if real, err := filepath.EvalSymlinks(head); err == nil {
			return filepath.Join(real, tail)
		}
		if head == "/" {
			return abs
		}
		tail = filepath.Join(filepath.Base(head), tail)
		head = filepath.Dir(head)
	}
}

func normalPath(s string) string {
	out := path.Clean(s)
	if strings.HasPrefix(s, "//") && !strings.HasPrefix(s, "///") {
		return "/" + out
	}
	return out
}

func relPath(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("relpath", value.Opt("start", value.Str(".")))
	if err != nil {
		return nil, err
	}
	if any, err := value.Truth(in); err != nil || !any {
		return nil, cmp.Or(err, value.ValueErrorf("no path specified"))
	}
	s, err := pathText(in)
	if err != nil {
		return nil, err
	}
	start, err := pathText(a[0])
	if err != nil {
		return nil, err
	}
	from, err := cwd.Abs(start)
	if err != nil {
		return nil, value.Errorf("OSError", "%v", err)
	}
	to, err := cwd.Abs(s)
	if err != nil {
		return nil, value.Errorf("OSError", "%v", err)
	}
	out, err := filepath.Rel(from, to)
	if err != nil {
		return nil, value.ValueErrorf("%v", err)
	}
	return value.TextLike(in, out), nil
}

func splitExt(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := pathText(in)
	if err != nil {
		return nil, err
	}
	base := s[strings.LastIndexByte(s, '/')+1:]
	trimmed := strings.TrimLeft(base, ".")
	dot := strings.LastIndexByte(trimmed, '.')
	if dot < 0 {
		return value.NewTuple(value.TextLike(in, s), value.TextLike(in, "")), nil
	}
	at := len(s) - len(trimmed) + dot
	return value.NewTuple(value.TextLike(in, s[:at]), value.TextLike(in, s[at:])), nil
}

func fileGlob(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	matches, _ := filepath.Glob(s)
	sort.Strings(matches)
	out := []value.Value{}
	for _, m := range matches {
		if info, err := os.Stat(m); err == nil && info.Mode().IsRegular() {
			out = append(out, value.Str(m))
		}
	}
	return list(out), nil
}

func pathJoin(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	items := []value.Value{in}
	if u, undefined := in.(*value.Undefined); undefined {
		return nil, u.Use()
	}
	if !value.IsText(in) {
		if !value.IsSequence(in) {
			return nil, value.Errorf("AnsibleFilterTypeError", "|path_join expects string or sequence, got %s instead.",
				value.ClassOf(in).Str())
		}
		var err error
		if items, err = value.Elements(in); err != nil {
			return nil, err
		}
	}
	if len(items) == 0 {
		return nil, value.TypeErrorf("join() missing 1 required positional argument: 'a'")
	}
	out, err := pathText(items[0])
	for _, item := range items[1:] {
		s, ok := value.Text(item)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, value.TypeErrorf("join() argument must be str, bytes, or os.PathLike object, not '%s'", item.Type())
		case strings.HasPrefix(s, "/") || out == "":
			out = s
		case strings.HasSuffix(out, "/"):
			out += s
		default:
			out += "/" + s
		}
	}
	return value.SameText(items[0], out), err
}

func commonPath(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	items, err := value.Elements(in)
	if err != nil || value.IsText(in) {
		return nil, value.Errorf("AnsibleFilterTypeError", "|commonpath expects sequence, got %s instead.",
			value.ClassOf(in).Str())
	}
	var common []string
	for i, item := range items {
		s, err := value.ToStr(item)
		if err != nil {
			return nil, err
		}
		parts := strings.Split(strings.TrimRight(s, "/"), "/")
		if i == 0 {
			common = parts
			continue
		}
		n := 0
		for n < len(common) && n < len(parts) && common[n] == parts[n] {
			n++
		}
		common = common[:n]
	}
	if len(common) == 1 && common[0] == "" {
		return value.Str("/"), nil
	}
	return value.Str(strings.Join(common, "/")), nil
}

// winSplit parts a Windows path at its last separator.
func winSplit(s string) (head, tail string) {
	drive, s := winDrive(s)
	at := strings.LastIndexAny(s, `\/`) + 1
	head, tail = s[:at], s[at:]
	if strings.Trim(head, `\/`) != "" {
		head = strings.TrimRight(head, `\/`)
	}
	return drive + head, tail
}

// winDrive parts a Windows path into its drive, which may be \\host\share, and the rest.
func winDrive(s string) (drive, rest string) {
	plain := strings.ReplaceAll(s, "/", `\`)
	if strings.HasPrefix(plain, `\\`) {
		host := strings.IndexByte(plain[2:], '\\')
		if host < 0 {
			return s, ""
		}
		share := strings.IndexByte(plain[host+3:], '\\')
		if share < 0 {
			return s, ""
		}
		end := host + 3 + share
		return s[:end], s[end:]
	}
	if len(s) > 1 && s[1] == ':' {
		return s[:2], s[2:]
	}
	return "", s
}

func winSplitDrive(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := pathText(in)
	drive, s := winDrive(s)
	return value.NewTuple(value.TextLike(in, drive), value.TextLike(in, s)), err
}
