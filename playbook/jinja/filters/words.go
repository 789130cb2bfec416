package filters

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/methods"
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
	a, err := args.Bind("do_indent", value.Opt("width", value.Int(4)), value.Opt("first", value.Bool(false)),
		value.Opt("blank", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	var flags [2]bool
	for i := range flags {
		if flags[i], err = value.Truth(a[i+1]); err != nil {
			return nil, err
		}
	}
	prefix, isText := value.Text(a[0])
	if !isText {
		if _, err := value.Binary("*", value.Str(""), a[0]); err != nil {
			return nil, err
		}
		n, err := intArg(a[0])
		if err != nil {
			return nil, err
		}
		if n > value.MaxText {
			return nil, value.TooLong()
		}
		prefix = strings.Repeat(" ", max(0, n))
	}
	s, ok := value.Text(in)
	if !ok {
		if err := defined(in); err != nil {
			return nil, err
		}
		if _, isList := in.(*value.List); isList { // to which Python adds text letter by letter
			return nil, noAttribute(in, "splitlines")
		}
		return nil, value.TypeErrorf("unsupported operand type(s) for +=: '%s' and 'str'", value.NativeType(in))
	}
	lines := methods.Lines(s+"\n", false)
	if len(s)+len(lines)*len(prefix) > value.MaxText {
		return nil, value.TooLong()
	}
	for i, line := range lines {
		if i == 0 && !flags[0] || line == "" && !flags[1] && i > 0 {
			continue
		}
		lines[i] = prefix + line
	}
	return value.TextLike(in, strings.Join(lines, "\n")), nil
}

// comparedInt returns a number that lengths of texts are compared with: one that is too large is as good as the
// largest.
func comparedInt(v value.Value) (int, error) {
	if _, err := jinja.CompareOp(">=", v, value.Int(0)); err != nil {
		return 0, err
	}
	n, fits := value.AsInt(v)
	if big := value.AsBig(v); !fits && big != nil {
		n = int64(big.Sign()) * value.MaxText
	} else if f, isFloat := v.(value.Float); isFloat {
		n = int64(max(-value.MaxText, min(float64(f), value.MaxText)))
	}
	return int(max(-value.MaxText, min(n, value.MaxText))), nil
}

func truncate(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_truncate", value.Opt("length", value.Int(255)), value.Opt("killwords", value.Bool(false)),
		value.Opt("end", value.Str("...")), value.Opt("leeway", none))
	if err != nil {
		return nil, err
	}
	length, err := comparedInt(a[0])
	if err != nil {
		return nil, err
	}
	kill, err := value.Truth(a[1])
	if err != nil {
		return nil, err
	}
	end, err := value.ToStr(a[2])
	if err != nil {
		return nil, err
	}
	leeway := 5
	if !value.IsNone(a[3]) {
		if leeway, err = comparedInt(a[3]); err != nil {
			return nil, err
		}
	}
	if _, err := value.Len(in); err != nil {
		return nil, err
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

var wordPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\p{L}\p{N}_]+`) })

func wordCount(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	return value.Int(len(wordPattern().FindAllString(s, -1))), err
}

func splitDots(s string) []string { return strings.Split(s, ".") }
