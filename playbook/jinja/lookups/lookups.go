// Package lookups holds the lookups that need nothing but their terms and the variables: those behind most with_
// loops. Lookups that read files, the environment or the inventory are the controller's.
package lookups

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
)

// All are the lookups by short name, and by full name under the collection that has them.
func All() map[string]jinja.Lookup {
	all := map[string]jinja.Lookup{}
	builtin := map[string]jinja.Lookup{
		"items":         items,
		"list":          listOf,
		"dict":          dict,
		"sequence":      sequence,
		"nested":        nested,
		"together":      together,
		"subelements":   subelements,
		"indexed_items": indexed,
		"random_choice": randomChoice,
		"vars":          vars,
		"varnames":      varNames,
	}
	for name, f := range builtin {
		all[name], all["ansible.builtin."+name], all["ansible.legacy."+name] = f, f, f
	}
	for name, f := range map[string]jinja.Lookup{"flattened": flattened, "cartesian": cartesian} {
		all[name], all["community.general."+name] = f, f
	}
	return all
}

func failf(format string, args ...any) error { return value.Errorf("AnsibleError", format, args...) }

// opened are the elements of a list or tuple; false for everything else.
func opened(v value.Value) ([]value.Value, bool) {
	switch v := v.(type) {
	case *value.List:
		return v.Items, true
	case *value.Tuple:
		return v.Items, true
	}
	return nil, false
}

// once flattens one level.
func once(terms []value.Value) []value.Value {
	out := []value.Value{}
	for _, t := range terms {
		if inner, ok := opened(t); ok {
			out = append(out, inner...)
		} else {
			out = append(out, t)
		}
	}
	return out
}

func items(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	return once(terms), nil
}

func listOf(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	return terms, nil
}

func dict(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	out := []value.Value{}
	for _, t := range terms {
		if !value.IsMapping(t) {
			return nil, failf("with_dict expects a dict")
		}
		d, err := value.ToDict(t)
		if err != nil {
			return nil, err
		}
		for i := range d.Len() {
			k, v := d.At(i)
			pair := value.NewDict()
			pair.SetKey(value.Str("key"), k)
			pair.SetKey(value.Str("value"), v)
			out = append(out, pair)
		}
	}
	return out, nil
}

// most is how many items a lookup makes before it refuses.
const most = 1 << 20

// nested pairs the lists one after the other. Every pair is opened once and so is the whole, so that lists within
// the first lists are opened more than those within the last.
func nested(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	if len(terms) == 0 {
		return nil, failf("with_nested requires at least one element in the nested list")
	}
	rows := choices(terms[0])
	for _, t := range terms[1:] {
		more := choices(t)
		if len(rows)*len(more) > most {
			return nil, failf("there are too many combinations: more than %d", most)
		}
		var next []value.Value
		for _, row := range rows {
			for _, c := range more {
				next = append(next, value.NewList(once([]value.Value{row, c})...))
			}
		}
		rows = next
	}
	out := []value.Value{}
	for _, row := range rows {
		out = append(out, value.NewList(once(choices(row))...))
	}
	return out, nil
}

func cartesian(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	if len(terms) == 0 {
		return nil, failf("with_cartesian requires at least one element in each list")
	}
	rows := [][]value.Value{{}}
	for _, t := range terms {
		more := choices(t)
		if len(rows)*len(more) > most {
			return nil, failf("there are too many combinations: more than %d", most)
		}
		var next [][]value.Value
		for _, row := range rows {
			for _, c := range more {
				next = append(next, append(row[:len(row):len(row)], c))
			}
		}
		rows = next
	}
	out := []value.Value{}
	for _, row := range rows {
		out = append(out, value.NewList(once(row)...))
	}
	return out, nil
}

// choices are the elements of a list; anything else is a list of one.
func choices(v value.Value) []value.Value {
	if items, ok := opened(v); ok {
		return items
	}
	return []value.Value{v}
}

// flatten opens lists all the way down.
func flatten(terms, out []value.Value) []value.Value {
	for _, t := range terms {
		if inner, ok := opened(t); ok {
			out = flatten(inner, out)
		} else {
			out = append(out, t)
		}
	}
	return out
}

func flattened(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	out := []value.Value{}
	for _, t := range flatten(terms, nil) {
		if s, ok := value.Text(t); value.IsNone(t) || ok && (s == "None" || s == "null") {
			continue
		}
		out = append(out, t)
	}
	return out, nil
}

func together(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	if len(terms) == 0 {
		return nil, failf("with_together requires at least one element in each list")
	}
	n := 0
	var columns [][]value.Value
	for _, t := range terms {
		c, ok := opened(t)
		if !ok {
			var err error
			if c, err = value.Elements(t); err != nil {
				return nil, err
			}
		}
		columns = append(columns, c)
		n = max(n, len(c))
	}
	out := []value.Value{}
	for i := range n {
		var row []value.Value
		for _, c := range columns {
			if i < len(c) {
				row = append(row, c[i])
			} else {
				row = append(row, value.None{})
			}
		}
		out = append(out, value.NewList(once(row)...))
	}
	return out, nil
}

func indexed(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	out := []value.Value{}
	for i, v := range once(terms) {
		out = append(out, value.NewTuple(value.Int(i), v))
	}
	return out, nil
}

func randomChoice(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	if len(terms) == 0 {
		return terms, nil
	}
	return []value.Value{terms[rand.IntN(len(terms))]}, nil
}

func subelements(_ *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	const (
		usage = "subelements lookup expects a list of two or three items, "
		kinds = usage + "first a dict or a list, second a string pointing to the subkey"
	)
	if len(terms) < 2 || len(terms) > 3 {
		return nil, failf("%s", usage)
	}
	skip := false
	if len(terms) == 3 {
		flags, ok := terms[2].(*value.Dict)
		if !ok {
			return nil, failf("%sthe optional third item must be a dict with flags skip_missing", usage)
		}
		if v, ok := flags.Get("skip_missing"); ok {
			var err error
			if skip, err = wordTruth(v); err != nil {
				return nil, err
			}
		}
	}
	path, ok := value.Text(terms[1])
	if !ok {
		return nil, failf("%s", kinds)
	}
	subjects, err := subjects(terms[0])
	if err != nil {
		return nil, err
	}
	out := []value.Value{}
	for _, item := range subjects {
		if !value.IsMapping(item) {
			return nil, failf("subelements lookup expects a dictionary, got '%s'", repr(item))
		}
		if skipped, ok, err := value.Item(item, value.Str("skipped")); err == nil && ok {
			if on, err := value.Truth(skipped); err == nil && on {
				continue
			}
		}
		keys := strings.Split(path, ".")
		subs, missing, err := subList(item, keys, skip)
		if err != nil {
			return nil, err
		}
		if missing {
			continue
		}
		rest, err := without(item, keys)
		if err != nil {
			return nil, err
		}
		for _, sub := range subs {
			out = append(out, value.NewTuple(rest, sub))
		}
	}
	return out, nil
}

// without is the item as Ansible hands it on: the list that was walked is taken out.
func without(item value.Value, path []string) (value.Value, error) {
	d, err := value.ToDict(item)
	if err != nil {
		return nil, err
	}
	d = d.Copy()
	key := value.Str(path[0])
	if len(path) == 1 {
		d.Delete(key)
		return d, nil
	}
	inner, _ := d.GetKey(key)
	rest, err := without(inner, path[1:])
	d.SetKey(key, rest)
	return d, err
}

// wordTruth is truth with Ansible's words for it.
func wordTruth(v value.Value) (bool, error) {
	if s, ok := value.Text(v); ok {
		switch strings.ToLower(s) {
		case "no", "off", "false", "0", "n", "f", "":
			return false, nil
		}
		return true, nil
	}
	return value.Truth(v)
}

func repr(v value.Value) string {
	s, err := value.Repr(v)
	if err != nil {
		return v.Type()
	}
	return s
}

// subjects are the dicts that are walked: those of a list, or the values of a dict. Anything else stands for a list of itself.
func subjects(v value.Value) ([]value.Value, error) {
	if l, ok := opened(v); ok {
		return l, nil
	}
	if !value.IsMapping(v) {
		return []value.Value{v}, nil
	}
	d, err := value.ToDict(v)
	if err != nil {
		return nil, err
	}
	if on, ok := d.Get("skipped"); ok {
		if skip, err := value.Truth(on); err == nil && skip {
			return nil, nil
		}
	}
	var out []value.Value
	d.Each(func(_, v value.Value) bool { out = append(out, v); return true })
	return out, nil
}

func subList(item value.Value, path []string, skip bool) (subs []value.Value, missing bool, err error) {
	v := item
	for i, key := range path {
		next, ok, err := value.Item(v, value.Str(key))
		if err != nil {
			return nil, false, err
		}
		if !ok {
			if skip {
				return nil, true, nil
			}
			return nil, false, failf("could not find '%s' key in iterated item '%s'", key, repr(v))
		}
		if i == len(path)-1 {
			l, ok := opened(next)
			if !ok {
				return nil, false, failf("the key %s should point to a list, got '%s'", key, repr(next))
			}
			return l, false, nil
		}
		if !value.IsMapping(next) {
			if skip {
				return nil, true, nil
			}
			return nil, false, failf("the key %s should point to a dictionary, got '%s'", key, repr(next))
		}
		v = next
	}
	return nil, true, nil
}

func vars(c *jinja.Call, terms []value.Value, kw *value.Dict) ([]value.Value, error) {
	def, hasDefault := kw.Get("default")
	out := []value.Value{}
	for _, t := range terms {
		name, ok := value.Text(t)
		if !ok {
			return nil, failf("Invalid setting identifier, \"%s\" is not a string, its a %s", repr(t), class(t))
		}
		v, found, err := c.Scope.Var(c.Ctx, name)
		if err != nil {
			return nil, err
		}
		if u, undefined := v.(*value.Undefined); undefined {
			if !hasDefault {
				return nil, u.Use()
			}
			found = false
		}
		switch {
		case found:
			out = append(out, v)
		case hasDefault:
			out = append(out, def)
		default:
			return nil, &value.UndefinedError{Msg: "No variable found with this name: " + name}
		}
	}
	return out, nil
}

func class(v value.Value) string { return "<class '" + v.Type() + "'>" }

// namer is a scope that can list its variables.
type namer interface {
	Names(ctx context.Context) []string
}

func varNames(c *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	scope, ok := c.Scope.(namer)
	if !ok {
		return nil, failf("No variables available to search")
	}
	names := scope.Names(c.Ctx)
	out := []value.Value{}
	for _, t := range terms {
		pattern, ok := value.Text(t)
		if !ok {
			return nil, failf("Invalid setting identifier, \"%s\" is not a string, it is a %s", repr(t), class(t))
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, failf("Unable to use \"%s\" as a search parameter: %v", pattern, err)
		}
		for _, name := range names {
			if re.MatchString(name) {
				out = append(out, value.Str(name))
			}
		}
	}
	return out, nil
}

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

func sign(n int64) int64 {
	if n < 0 {
		return -1
	}
	return 1
}
