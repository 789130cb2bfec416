package filters

import (
	"strconv"
	"strings"
	"time"

	"github.com/dlclark/regexp2"

	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
)

// ansibleRegex are Ansible's filters with regular expressions.
func ansibleRegex() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"regex_replace": regexReplace,
		"regex_search":  regexSearch,
	}
}

// matchTimeout bounds one match.
const matchTimeout = 5 * time.Second

// compileRegex makes Python's expression one of regexp2.
func compileRegex(pattern string, ignoreCase, multiline bool) (*regexp2.Regexp, error) {
	options := regexp2.RegexOptions(0)
	if ignoreCase {
		options |= regexp2.IgnoreCase
	}
	if multiline {
		options |= regexp2.Multiline
	}
	pattern = strings.NewReplacer("(?P<", "(?<", "(?P=", `\k<`, `\Z`, `\z`).Replace(pattern)
	re, err := regexp2.Compile(pattern, options)
	if err != nil {
		return nil, value.Errorf("error", "%s", err)
	}
	re.MatchTimeout = matchTimeout
	return re, nil
}

// flags reads ignorecase and multiline, which come behind n positional arguments.
func regexFlags(a []value.Value) (ignoreCase, multiline bool, err error) {
	if ignoreCase, err = value.Truth(a[0]); err != nil {
		return false, false, err
	}
	multiline, err = value.Truth(a[1])
	return ignoreCase, multiline, err
}

func regexReplace(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("regex_replace", value.Opt("pattern", value.Str("")), value.Opt("replacement", value.Str("")),
		value.Opt("ignorecase", value.Bool(false)), value.Opt("multiline", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	var t [3]string
	for i, v := range []value.Value{in, a[0], a[1]} {
		if t[i], err = value.ToStr(v); err != nil {
			return nil, err
		}
	}
	ignoreCase, multiline, err := regexFlags(a[2:])
	if err != nil {
		return nil, err
	}
	re, err := compileRegex(t[1], ignoreCase, multiline)
	if err != nil {
		return nil, err
	}
	out, err := re.ReplaceFunc(t[0], func(m regexp2.Match) string { return expand(&m, t[2]) }, -1, -1)
	if err != nil {
		return nil, value.Errorf("error", "%s", err)
	}
	return value.TextLike(in, out), nil
}

// expand puts the groups of a match into a replacement.
func expand(m *regexp2.Match, replacement string) string {
	var b strings.Builder
	for i := 0; i < len(replacement); i++ {
		c := replacement[i]
		if c != '\\' || i+1 == len(replacement) {
			b.WriteByte(c)
			continue
		}
		i++
		switch c = replacement[i]; {
		case c >= '1' && c <= '9':
			n := int(c - '0')
			if i+1 < len(replacement) && replacement[i+1] >= '0' && replacement[i+1] <= '9' {
				i++
				n = n*10 + int(replacement[i]-'0')
			}
			b.WriteString(groupText(m.GroupByNumber(n)))
		case c == 'g' && strings.HasPrefix(replacement[i+1:], "<"):
			end := strings.IndexByte(replacement[i:], '>')
			if end < 0 {
				continue
			}
			name := replacement[i+2 : i+end]
			i += end
			if n, err := strconv.Atoi(name); err == nil {
				b.WriteString(groupText(m.GroupByNumber(n)))
			} else {
				b.WriteString(groupText(m.GroupByName(name)))
			}
		case c == 'n':
			b.WriteByte('\n')
		case c == 't':
			b.WriteByte('\t')
		case c == 'r':
			b.WriteByte('\r')
		case c == '\\':
			b.WriteByte('\\')
		default:
			b.WriteString(replacement[i-1 : i+1])
		}
	}
	return b.String()
}

func groupText(g *regexp2.Group) string {
	if g == nil || len(g.Captures) == 0 {
		return ""
	}
	return g.String()
}

func regexSearch(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	if len(args.Pos) == 0 {
		return nil, value.TypeErrorf("regex_search() missing 1 required positional argument: 'regex'")
	}
	pattern, err := value.ToStr(args.Pos[0])
	if err != nil {
		return nil, err
	}
	flags := []value.Value{value.Bool(false), value.Bool(false)}
	for _, k := range args.Kw {
		switch k.Name {
		case "ignorecase":
			flags[0] = k.V
		case "multiline":
			flags[1] = k.V
		}
	}
	ignoreCase, multiline, err := regexFlags(flags)
	if err != nil {
		return nil, err
	}
	re, err := compileRegex(pattern, ignoreCase, multiline)
	if err != nil {
		return nil, err
	}
	m, err := re.FindStringMatch(s)
	if err != nil {
		return nil, value.Errorf("error", "%s", err)
	}
	if m == nil {
		return value.None{}, nil
	}
	if len(args.Pos) == 1 {
		return value.TextLike(in, m.String()), nil
	}
	return wantedGroups(in, m, args.Pos[1:])
}

func wantedGroups(in value.Value, m *regexp2.Match, wanted []value.Value) (value.Value, error) {
	var out []value.Value
	for _, w := range wanted {
		ref, err := value.ToStr(w)
		if err != nil {
			return nil, err
		}
		var g *regexp2.Group
		switch {
		case strings.HasPrefix(ref, `\g<`):
			g = m.GroupByName(strings.TrimSuffix(ref[3:], ">"))
		case strings.HasPrefix(ref, `\`):
			n, err := strconv.Atoi(ref[1:])
			if err != nil {
				return nil, value.FilterErrorf("Unknown argument")
			}
			g = m.GroupByNumber(n)
		default:
			return nil, value.FilterErrorf("Unknown argument")
		}
		if g == nil {
			return nil, value.Errorf("IndexError", "no such group")
		}
		if len(g.Captures) == 0 {
			out = append(out, value.None{})
			continue
		}
		out = append(out, value.TextLike(in, g.String()))
	}
	return list(out), nil
}
