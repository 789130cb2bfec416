package filters

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"hark/playbook/jinja"
	"hark/playbook/jinja/methods"
	"hark/playbook/jinja/pyyaml"
	"hark/playbook/jinja/value"
)

// words are Jinja's filters that lay text out.
func words() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"format":      format,
		"center":      center,
		"indent":      indent,
		"truncate":    truncate,
		"wordwrap":    wordWrap,
		"wordcount":   wordCount,
		"urlencode":   urlEncode,
		"urlize":      urlize,
		"pprint":      pprint,
		"striptags":   stripTags,
		"xmlattr":     xmlAttr,
		"tojson":      htmlJSON,
		"forceescape": forceEscape,
	}
}

func format(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	if len(args.Pos) > 0 && len(args.Kw) > 0 {
		return nil, filterArgError("can't handle positional and keyword arguments at the same time")
	}
	var operand value.Value = value.NewTuple(args.Pos...)
	if len(args.Kw) > 0 {
		d := value.NewDict()
		for _, k := range args.Kw {
			d.Set(k.Name, k.V)
		}
		operand = d
	}
	return value.Binary("%", value.TextLike(in, s), operand)
}

func center(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_center", value.Opt("width", value.Int(80)))
	if err != nil {
		return nil, err
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	return methods.Of(value.Str(""), "center")(value.TextLike(in, s), &value.Args{Pos: a})
}

func indent(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_indent", value.Opt("width", value.Int(4)), value.Opt("first", value.Bool(false)), value.Opt("blank", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	var flags [2]bool
	for i := range flags {
		if flags[i], err = truthArg(a[i+1]); err != nil {
			return nil, err
		}
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	prefix, ok := value.Text(a[0])
	if !ok {
		n, err := intArg(a[0])
		if err != nil {
			return nil, err
		}
		prefix = strings.Repeat(" ", max(0, min(n, 1<<16)))
	}
	lines := methods.Lines(s+"\n", false)
	for i, line := range lines {
		if i == 0 && !flags[0] || line == "" && !flags[1] && i > 0 {
			continue
		}
		lines[i] = prefix + line
	}
	return value.TextLike(in, strings.Join(lines, "\n")), nil
}

func truncate(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_truncate", value.Opt("length", value.Int(255)), value.Opt("killwords", value.Bool(false)),
		value.Opt("end", value.Str("...")), value.Opt("leeway", none))
	if err != nil {
		return nil, err
	}
	length, err := intArg(a[0])
	if err != nil {
		return nil, err
	}
	kill, err := truthArg(a[1])
	if err != nil {
		return nil, err
	}
	end, err := value.ToStr(a[2])
	if err != nil {
		return nil, err
	}
	leeway := 5
	if !value.IsNone(a[3]) {
		if leeway, err = intArg(a[3]); err != nil {
			return nil, err
		}
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	runes, tail := []rune(s), utf8.RuneCountInString(end)
	if length < tail {
		return nil, value.Errorf("AssertionError", "expected length >= %d, got %d", tail, length)
	}
	if len(runes) <= length+leeway {
		return in, nil
	}
	head := string(runes[:length-tail])
	if !kill {
		if i := strings.LastIndexByte(head, ' '); i >= 0 {
			head = head[:i]
		}
	}
	return value.TextLike(in, head+end), nil
}

func wordWrap(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_wordwrap", value.Opt("width", value.Int(79)), value.Opt("break_long_words", value.Bool(true)),
		value.Opt("wrapstring", none), value.Opt("break_on_hyphens", value.Bool(true)))
	if err != nil {
		return nil, err
	}
	width, err := intArg(a[0])
	if err != nil {
		return nil, err
	}
	if width <= 0 {
		return nil, value.ValueErrorf("invalid width %d (must be > 0)", width)
	}
	breakLong, err := truthArg(a[1])
	if err != nil {
		return nil, err
	}
	hyphens, err := truthArg(a[3])
	if err != nil {
		return nil, err
	}
	newline := "\n"
	if !value.IsNone(a[2]) {
		if newline, err = value.ToStr(a[2]); err != nil {
			return nil, err
		}
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, line := range methods.Lines(s, false) {
		out = append(out, strings.Join(wrapLine(line, width, breakLong, hyphens), newline))
	}
	return value.TextLike(in, strings.Join(out, newline)), nil
}

var (
	chunksAtBlanks = regexp.MustCompile(`\s+|\S+`)
)

// wrapLine breaks one line as Python's textwrap does with white space kept within and dropped at the breaks.
func wrapLine(line string, width int, breakLong, hyphens bool) []string {
	chunks := chunksAtBlanks.FindAllString(line, -1)
	if hyphens {
		chunks = atHyphens(chunks)
	}
	var out []string
	for len(chunks) > 0 {
		if len(out) > 0 && strings.TrimSpace(chunks[0]) == "" {
			chunks = chunks[1:]
			continue
		}
		var row []string
		room := width
		for len(chunks) > 0 && utf8.RuneCountInString(chunks[0]) <= room {
			room -= utf8.RuneCountInString(chunks[0])
			row, chunks = append(row, chunks[0]), chunks[1:]
		}
		if len(chunks) > 0 && utf8.RuneCountInString(chunks[0]) > width {
			switch runes := []rune(chunks[0]); {
			case breakLong && room > 0:
				row, chunks[0] = append(row, string(runes[:room])), string(runes[room:])
			case !breakLong && len(row) == 0:
				row, chunks = append(row, chunks[0]), chunks[1:]
			}
		}
		if n := len(row); n > 0 && strings.TrimSpace(row[n-1]) == "" {
			row = row[:n-1]
		}
		if len(row) > 0 {
			out = append(out, strings.Join(row, ""))
		}
	}
	return out
}

// atHyphens parts words after the hyphens between their letters.
func atHyphens(chunks []string) []string {
	var out []string
	for _, c := range chunks {
		start := 0
		for i := 1; i+1 < len(c); i++ {
			if c[i] == '-' && isLetter(c[i-1]) && isLetter(c[i+1]) {
				out, start = append(out, c[start:i+1]), i+1
			}
		}
		out = append(out, c[start:])
	}
	return out
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80 }

var wordPattern = regexp.MustCompile(`[\p{L}\p{N}_]+`)

func wordCount(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	return value.Int(len(wordPattern.FindAllString(s, -1))), err
}

// quoteURL is urllib's quote: letters, digits and _.-~ stay, and what safe holds.
func quoteURL(s, safe string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c < 0x80 && isLetter(c) || strings.IndexByte("_.-~"+safe, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func urlEncode(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	if value.IsText(in) || !value.IsMapping(in) && !value.IsSequence(in) {
		s, err := value.ToStr(in)
		return value.Str(quoteURL(s, "/")), err
	}
	var pairs []value.Value
	if value.IsMapping(in) {
		v, err := itemsFilter(nil, in, nil)
		if err != nil {
			return nil, err
		}
		pairs = v.(*value.List).Items
	} else {
		var err error
		if pairs, err = value.Elements(in); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, p := range pairs {
		kv, err := value.Elements(p)
		if err != nil {
			return nil, err
		}
		if len(kv) != 2 {
			return nil, value.ValueErrorf("not enough values to unpack (expected 2, got %d)", len(kv))
		}
		var t [2]string
		for i, v := range kv {
			s, err := value.ToStr(v)
			if err != nil {
				return nil, err
			}
			t[i] = strings.ReplaceAll(quoteURL(s, " "), " ", "+")
		}
		out = append(out, t[0]+"="+t[1])
	}
	return value.Str(strings.Join(out, "&")), nil
}

func pprint(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := prettyRepr(in, 0, 80)
	return value.Str(s), err
}

// prettyRepr prints as Python's pprint: on one line if it fits, else an element a line.
func prettyRepr(v value.Value, at, width int) (string, error) {
	s, err := prettyFlat(v)
	if err != nil || utf8.RuneCountInString(s) <= width-at {
		return s, err
	}
	switch v := v.(type) {
	case *value.Dict:
		keys := v.Keys()
		if err := methods.Sort(keys, false, v.Keys()); err != nil {
			keys = v.Keys()
		}
		var rows []string
		for _, k := range keys {
			name, err := value.Repr(k)
			if err != nil {
				return "", err
			}
			item, _ := v.GetKey(k)
			text, err := prettyRepr(item, at+1+utf8.RuneCountInString(name)+2, width-1)
			if err != nil {
				return "", err
			}
			rows = append(rows, name+": "+text)
		}
		return "{" + strings.Join(rows, ",\n"+strings.Repeat(" ", at+1)) + "}", nil
	case *value.List:
		rows, err := prettyItems(v.Items, at, width)
		return "[" + rows + "]", err
	case *value.Tuple:
		rows, err := prettyItems(v.Items, at, width)
		return "(" + rows + ")", err
	}
	return s, nil
}

func prettyItems(items []value.Value, at, width int) (string, error) {
	var rows []string
	for _, item := range items {
		text, err := prettyRepr(item, at+1, width-1)
		if err != nil {
			return "", err
		}
		rows = append(rows, text)
	}
	return strings.Join(rows, ",\n"+strings.Repeat(" ", at+1)), nil
}

// prettyFlat is the repr with the keys of dicts sorted.
func prettyFlat(v value.Value) (string, error) {
	d, ok := v.(*value.Dict)
	if !ok {
		return value.Repr(v)
	}
	keys := d.Keys()
	if err := methods.Sort(keys, false, d.Keys()); err != nil {
		return value.Repr(v)
	}
	var rows []string
	for _, k := range keys {
		name, err := value.Repr(k)
		if err != nil {
			return "", err
		}
		item, _ := d.GetKey(k)
		text, err := prettyFlat(item)
		if err != nil {
			return "", err
		}
		rows = append(rows, name+": "+text)
	}
	return "{" + strings.Join(rows, ", ") + "}", nil
}

var (
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	htmlTag     = regexp.MustCompile(`(?s)<.*?>`)
)

func stripTags(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	s = htmlTag.ReplaceAllString(htmlComment.ReplaceAllString(s, ""), "")
	return value.Str(html.UnescapeString(strings.Join(strings.Fields(s), " "))), err
}

func xmlAttr(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_xmlattr", value.Opt("autospace", value.Bool(true)))
	if err != nil {
		return nil, err
	}
	space, err := truthArg(a[0])
	if err != nil {
		return nil, err
	}
	d, err := value.ToDict(in)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range d.Len() {
		k, v := d.At(i)
		if _, undefined := v.(*value.Undefined); undefined || value.IsNone(v) {
			continue
		}
		name, err := value.ToStr(k)
		if err != nil {
			return nil, err
		}
		text, err := value.ToStr(v)
		if err != nil {
			return nil, err
		}
		out = append(out, value.EscapeHTML(name)+`="`+value.EscapeHTML(text)+`"`)
	}
	s := strings.Join(out, " ")
	if space && s != "" {
		s = " " + s
	}
	return value.Str(s), nil
}

// htmlJSON is JSON that may stand in HTML.
func htmlJSON(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_tojson", value.Opt("indent", none))
	if err != nil {
		return nil, err
	}
	out, err := dumpJSON(in, pyyaml.JSONOptions{Sorted: true}, []jinja.Kwarg{{Name: "indent", V: a[0]}})
	if err != nil {
		return nil, err
	}
	s, _ := value.Text(out)
	return value.Markup(strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`).Replace(s)), nil
}

func forceEscape(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	return value.Markup(value.EscapeHTML(s)), err
}

func splitDots(s string) []string { return strings.Split(s, ".") }

// unquoteURL is urllib's unquote_plus.
func unquoteURL(s string) string {
	if out, err := url.QueryUnescape(s); err == nil {
		return out
	}
	return strings.ReplaceAll(s, "+", " ")
}
