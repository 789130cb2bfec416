package lookups

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// simple matches the short form of sequence: [start-]end[/stride][:format].
var simple = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^((0?x?[0-9a-f]+)-)?(0?x?[0-9a-f]+)(/(0?x?[0-9a-f]+))?(:(.+))?$`)
})

// series is what sequence counts through.
type series struct {
	start, stride int64
	end, count    *int64
	format        string
}

func sequence(_ *jinja.Call, terms []value.Value, kw *value.Dict) ([]value.Value, error) {
	out := []value.Value{}
	if len(terms) == 0 && kw.Len() > 0 {
		return named(kw)
	}
	for _, t := range terms {
		text, ok := value.Text(t)
		if !ok {
			return nil, failf(
				"unknown error parsing with_sequence arguments: %s. Error was: expected string or bytes-like object, got '%s'",
				value.PrintedRepr(t), t.Type())
		}
		s := series{start: 1, stride: 1, format: "%d"}
		if err := s.read(text); err != nil {
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

// named counts as keyword arguments say, which ansible-core 2.19 allows in place of a term.
func named(kw *value.Dict) ([]value.Value, error) {
	s := series{start: 1, stride: 1, format: "%d"}
	for i := range kw.Len() {
		name, v := kw.At(i)
		text, err := value.ToStr(v)
		if err != nil {
			return nil, err
		}
		option, _ := value.Text(name)
		if option == "format" {
			s.format = text
			continue
		}
		if err := s.set(option, text); err != nil {
			return nil, err
		}
	}
	return s.numbers()
}

func (s *series) read(text string) error {
	m := simple().FindStringSubmatch(text)
	if m == nil {
		return s.readWords(text)
	}
	if m[7] != "" {
		s.format = m[7]
	}
	for _, part := range [][2]string{{"start", m[2]}, {"end", m[3]}, {"stride", m[5]}} {
		if part[1] == "" {
			continue
		}
		if err := s.set(part[0], part[1]); err != nil {
			return err
		}
	}
	return nil
}

// readWords reads the form with key=value.
func (s *series) readWords(text string) error {
	given, unknown, loose := map[string]string{}, []string{}, false
	for _, word := range strings.Fields(text) {
		key, val, ok := strings.Cut(word, "=")
		switch {
		case !ok:
			loose = true
		case key == "start" || key == "end" || key == "count" || key == "stride" || key == "format":
			given[key] = strings.Trim(val, `"'`)
		default:
			unknown = append(unknown, value.ReprText(key))
		}
	}
	for _, name := range []string{"start", "end", "count", "stride"} {
		if v, ok := given[name]; ok {
			if err := s.set(name, v); err != nil {
				return err
			}
		}
	}
	if f, ok := given["format"]; ok {
		s.format = f
	}
	if loose {
		unknown = append(unknown, "'_raw_params'")
	}
	if len(unknown) > 0 {
		return failf("unrecognized arguments to with_sequence: [%s]", strings.Join(unknown, ", "))
	}
	return nil
}

func (s *series) set(name, text string) error {
	n, err := parseInt(text)
	if err != nil {
		return failf("can't parse %s=%s as integer", name, text)
	}
	switch name {
	case "start":
		s.start = n
	case "end":
		s.end = &n
	case "stride":
		s.stride = n
	case "count":
		s.count = &n
	}
	return nil
}

// parseInt is Python's int(text, 0), of those that fit 64 bits.
func parseInt(text string) (int64, error) {
	t := strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimLeft(t, "+-")
	if len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "0_") != "" &&
		!strings.ContainsRune("xob", rune(digits[1])) {
		return 0, fmt.Errorf("leading zero")
	}
	n, ok := value.ParseInt(t, 0)
	if !ok || !n.IsInt64() {
		return 0, fmt.Errorf("not an integer")
	}
	return n.Int64(), nil
}

// bounds settles where the series ends; a count of none makes it empty.
func (s *series) bounds() (empty bool, err error) {
	switch {
	case s.count == nil && s.end == nil:
		return false, failf("must specify count or end in with_sequence")
	case s.count != nil && s.end != nil:
		return false, failf("can't specify both count and end in with_sequence")
	case s.count != nil && *s.count == 0:
		s.start, s.stride, s.end = 0, 0, new(int64)
	case s.count != nil: // as in Ansible also where the series runs backwards
		end := s.start + *s.count*s.stride - 1
		s.end = &end
	}
	switch {
	case s.stride > 0 && *s.end < s.start:
		return false, failf("to count backwards make stride negative")
	case s.stride < 0 && *s.end > s.start:
		return false, failf("to count forward don't make stride negative")
	case strings.Count(s.format, "%") != 1:
		return false, failf("bad formatting string: %s", s.format)
	}
	return s.stride == 0, nil
}

func (s *series) numbers() ([]value.Value, error) {
	empty, err := s.bounds()
	if err != nil || empty {
		return nil, err
	}
	var out []value.Value
	for n := s.start; s.stride > 0 && n <= *s.end || s.stride < 0 && n >= *s.end; n += s.stride {
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
