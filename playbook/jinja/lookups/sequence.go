package lookups

import (
	"fmt"
	"regexp"
	"strings"

	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
)

// simple matches the short form of sequence: [start-]end[/stride][:format].
var simple = regexp.MustCompile(`(?i)^((0?x?[0-9a-f]+)-)?(0?x?[0-9a-f]+)(/(0?x?[0-9a-f]+))?(:(.+))?$`)

// series is what sequence counts through.
type series struct {
	start, end, stride int64
	hasEnd             bool
	count              *int64
	format             string
}

func sequence(_ *jinja.Call, terms []value.Value, kw *value.Dict) ([]value.Value, error) {
	out := []value.Value{}
	if len(terms) == 0 && kw.Len() > 0 {
		terms = []value.Value{value.Str("")}
	}
	for _, t := range terms {
		s := series{start: 1, stride: 1, format: "%d"}
		text, err := value.ToStr(t)
		if err != nil {
			return nil, err
		}
		if err := s.read(text, kw); err != nil {
			return nil, err
		}
		made, err := s.numbers()
		if err != nil {
			return nil, err
		}
		out = append(out, made...)
	}
	return out, nil
}

// parseInt is Python's int(text, 0).
func parseInt(text string) (int64, error) {
	var n int64
	t := strings.ToLower(strings.TrimSpace(text))
	if strings.HasPrefix(t, "0o") || strings.HasPrefix(t, "0x") || strings.HasPrefix(t, "0b") {
		_, err := fmt.Sscanf(t, "%v", &n)
		return n, err
	}
	if len(t) > 1 && t[0] == '0' && strings.Trim(t, "0") != "" {
		return 0, fmt.Errorf("leading zero")
	}
	var rest string
	if k, err := fmt.Sscanf(t+" .", "%d %s", &n, &rest); err != nil || k != 2 || rest != "." {
		return 0, fmt.Errorf("not an integer")
	}
	return n, nil
}

func sign(n int64) int64 {
	if n < 0 {
		return -1
	}
	return 1
}

func (s *series) read(text string, kw *value.Dict) error {
	if m := simple.FindStringSubmatch(text); m != nil {
		for _, part := range []struct {
			name, text string
			to         *int64
		}{{"start", m[2], &s.start}, {"end", m[3], &s.end}, {"stride", m[5], &s.stride}} {
			if part.text == "" {
				continue
			}
			n, err := parseInt(part.text)
			if err != nil {
				return failf("can't parse %s=%s as integer", part.name, part.text)
			}
			*part.to = n
		}
		if m[7] != "" {
			s.format = m[7]
		}
		s.hasEnd = true
		return nil
	}
	words := value.NewDict()
	kw.Each(func(k, v value.Value) bool { words.SetKey(k, v); return true })
	for _, word := range strings.Fields(text) {
		key, val, ok := strings.Cut(word, "=")
		if !ok {
			return failf("unknown error parsing with_sequence arguments: %s. Error was: unrecognized arguments to with_sequence: ['_raw_params']", repr(value.Str(text)))
		}
		words.SetKey(value.Str(key), value.Str(strings.Trim(val, `"'`)))
	}
	for i := range words.Len() {
		k, v := words.At(i)
		name, _ := value.Text(k)
		if err := s.set(name, v); err != nil {
			return err
		}
	}
	if s.count != nil && s.hasEnd {
		return failf("can't specify both count and end in with_sequence")
	}
	if s.count == nil && !s.hasEnd {
		return failf("must specify count or end in with_sequence")
	}
	return nil
}

func (s *series) set(name string, v value.Value) error {
	text, err := value.ToStr(v)
	if err != nil {
		return err
	}
	if name == "format" {
		s.format = text
		return nil
	}
	n, parseErr := parseInt(text)
	switch name {
	case "start":
		s.start = n
	case "end":
		s.end, s.hasEnd = n, true
	case "stride":
		s.stride = n
	case "count":
		s.count = &n
	default:
		return failf("unrecognized arguments to with_sequence: [%s]", value.ReprText(name))
	}
	if parseErr != nil {
		return failf("can't parse %s=%s as integer", name, text)
	}
	return nil
}

func (s *series) numbers() ([]value.Value, error) {
	if s.count != nil {
		if *s.count == 0 {
			return nil, nil
		}
		s.end = s.start + *s.count*s.stride - sign(s.stride)
	}
	switch {
	case s.stride > 0 && s.end < s.start:
		return nil, failf("to count backwards make stride negative")
	case s.stride < 0 && s.end > s.start:
		return nil, failf("to count forward don't make stride negative")
	case strings.Count(s.format, "%") != 1:
		return nil, failf("bad formatting string: %s", s.format)
	}
	var out []value.Value
	if s.stride == 0 {
		return out, nil
	}
	for n := s.start; s.stride > 0 && n <= s.end || s.stride < 0 && n >= s.end; n += s.stride {
		if len(out) >= most {
			return nil, failf("the sequence has more than %d elements", most)
		}
		v, err := value.Binary("%", value.Str(s.format), value.Int(n))
		if err != nil {
			return nil, failf("problem formatting %d with %s", n, value.ReprText(s.format))
		}
		out = append(out, v)
	}
	return out, nil
}
