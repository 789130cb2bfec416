package filters

import (
	"errors"
	"strconv"
	"strings"

	"hark/modules/py/pyre"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// ansibleRegex are Ansible's filters with regular expressions.
func ansibleRegex() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"regex_replace": regexReplace,
		"regex_search":  regexSearch,
		"regex_findall": regexFindAll,
		"regex_escape":  regexEscape,
	}
}

// compileRegex compiles an expression that is an argument, with the arguments ignorecase and multiline.
func compileRegex(pattern, ignoreCase, multiline value.Value, anchor pyre.Anchor) (*pyre.Regexp, error) {
	flags := pyre.Options{Anchor: anchor}
	var err error
	if flags.IgnoreCase, err = value.Truth(ignoreCase); err != nil {
		return nil, err
	}
	if flags.Multiline, err = value.Truth(multiline); err != nil {
		return nil, err
	}
	s, ok := value.Text(pattern)
	if !ok {
		if u, undefined := pattern.(*value.Undefined); undefined {
			return nil, u.Use()
		}
		if _, hashable := value.HashKey(pattern); !hashable {
			return nil, value.Hashable(pattern)
		}
		return nil, value.TypeErrorf("first argument must be string or compiled pattern")
	}
	return pyre.Compile(s, flags)
}

func regexReplace(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("regex_replace", value.Opt("pattern", value.Str("")), value.Opt("replacement", value.Str("")),
		value.Opt("ignorecase", value.Bool(false)), value.Opt("multiline", value.Bool(false)),
		value.Opt("count", value.Int(0)), value.Opt("mandatory_count", value.Int(0)))
	if err != nil {
		return nil, err
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	re, err := compileRegex(a[0], a[2], a[3], pyre.Anywhere)
	if err != nil {
		return nil, err
	}
	replacement, ok := value.Text(a[1])
	if !ok {
		return nil, value.TypeErrorf("decoding to str: need a bytes-like object, %s found", a[1].Type())
	}
	count, err := intArg(a[4])
	if err != nil {
		return nil, err
	}
	if err := mandatoryCount(re, a[5], s, a[0]); err != nil {
		return nil, err
	}
	out, _, err := re.Replace(s, replacement, pyre.Bounds{Count: count, Size: value.MaxText})
	if errors.Is(err, pyre.ErrTooLong) {
		return nil, value.TooLong()
	}
	if err != nil {
		return nil, err
	}
	return value.TextLike(in, out), nil
}

// mandatoryCount refuses text that does not match as often as is demanded; 0 demands nothing.
func mandatoryCount(re *pyre.Regexp, want value.Value, s string, pattern value.Value) error {
	n, err := intArg(want)
	if err != nil || n == 0 {
		return err
	}
	count := 0
	if err := re.All(s, func(*pyre.Match) { count++ }); err != nil || count == n {
		return err
	}
	text, _ := value.Text(pattern)
	return value.FilterErrorf("'%s' should match %d times, but matches %d times in '%s'", text, n, count, s)
}

func regexFindAll(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("regex_findall", value.Req("regex"), value.Opt("multiline", value.Bool(false)),
		value.Opt("ignorecase", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	re, err := compileRegex(a[0], a[2], a[1], pyre.Anywhere)
	if err != nil {
		return nil, err
	}
	out := []value.Value{}
	err = re.All(s, func(m *pyre.Match) { out = append(out, found(in, re.Groups(), m)) })
	return list(out), err
}

// found returns what findall yields of a match: the text, the one group, or a tuple of the groups.
func found(in value.Value, groups int, m *pyre.Match) value.Value {
	group := func(n int) value.Value {
		text, _ := m.Group(n)
		return value.TextLike(in, text)
	}
	if groups < 2 {
		return group(groups)
	}
	all := value.NewTuple()
	for n := 1; n <= groups; n++ {
		all.Items = append(all.Items, group(n))
	}
	return all
}

func regexSearch(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	pattern, wanted, ignoreCase, multiline := searchArgs(args)
	if pattern == nil {
		return nil, value.TypeErrorf("regex_search() missing 1 required positional argument: 'regex'")
	}
	refs, err := groupRefs(wanted)
	if err != nil {
		return nil, err
	}
	re, err := compileRegex(pattern, ignoreCase, multiline, pyre.Anywhere)
	if err != nil {
		return nil, err
	}
	m, err := re.Search(s)
	if err != nil || m == nil {
		return none, err
	}
	if len(refs) == 0 {
		text, _ := m.Group(0)
		return value.TextLike(in, text), nil
	}
	out := []value.Value{}
	for _, ref := range refs {
		n, known := re.Group(ref)
		if number, err := strconv.Atoi(ref); err == nil {
			n, known = number, number <= re.Groups()
		}
		if !known {
			return nil, value.Errorf("IndexError", "no such group")
		}
		if text, took := m.Group(n); took {
			out = append(out, value.TextLike(in, text))
		} else {
			out = append(out, none)
		}
	}
	return list(out), nil
}

// searchArgs returns the arguments of regex_search, which takes every keyword and minds three.
func searchArgs(args *jinja.Args) (pattern value.Value, groups []value.Value, ignoreCase, multiline value.Value) {
	ignoreCase, multiline = value.Bool(false), value.Bool(false)
	if len(args.Pos) > 0 {
		pattern, groups = args.Pos[0], args.Pos[1:]
	}
	for _, k := range args.Kw {
		switch k.Name {
		case "regex":
			pattern = k.V
		case "ignorecase":
			ignoreCase = k.V
		case "multiline":
			multiline = k.V
		}
	}
	return pattern, groups, ignoreCase, multiline
}

// groupRefs reads references to groups: \1 and \g<name>.
func groupRefs(wanted []value.Value) ([]string, error) {
	var refs []string
	for _, w := range wanted {
		ref, ok := value.Text(w)
		if !ok {
			return nil, value.Errorf("AttributeError", "'%s' object has no attribute 'startswith'", w.Type())
		}
		rest, isRef := strings.CutPrefix(ref, `\`)
		if !isRef {
			return nil, value.FilterErrorf("Unknown argument")
		}
		name := leadingDigits(rest)
		if strings.HasPrefix(rest, "g") {
			name = ""
			if end := strings.LastIndexByte(rest, '>'); end > 2 && rest[1] == '<' && !strings.ContainsAny(rest[2:end], " \t\n") {
				name = rest[2:end]
			}
		}
		if name == "" {
			return nil, value.Errorf("AttributeError", "'NoneType' object has no attribute 'group'")
		}
		refs = append(refs, name)
	}
	return refs, nil
}

func leadingDigits(s string) string {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	return s[:end]
}

const (
	pythonSpecial = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f"
	posixSpecial  = `.[]*^$\`
)

func regexEscape(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("regex_escape", value.Opt("re_type", value.Str("python")))
	if err != nil {
		return nil, err
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	kind, err := value.ToStr(a[0])
	if err != nil {
		return nil, err
	}
	special := pythonSpecial
	switch kind {
	case "python":
	case "posix_basic":
		special = posixSpecial
	case "posix_extended": // Ansible refuses it too, in these words
		return nil, value.FilterErrorf("Regex type (%s) not yet implemented", kind)
	default:
		return nil, value.FilterErrorf("Invalid regex type (%s)", kind)
	}
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(special, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return value.TextLike(in, b.String()), nil
}
