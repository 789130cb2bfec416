package modules

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules/dialect"
	"hark/modules/nss"
	"hark/modules/py/literal"
	"hark/modules/py/value"
)

// coerce converts a given value to an Ansible type, or returns Ansible's error.
func coerce(kind string, v value.Value, r Reading) (value.Value, error) {
	switch kind {
	case "str":
		return toText(v), nil
	case "path":
		return value.UnsafeStr(expandPath(Str(v), r.Environ)), nil
	case "bool":
		b, err := Bool(v)
		return value.Bool(b), err
	case "int":
		return toInt(v, r.Release.Has(dialect.ModuleArguments))
	case "float":
		return toFloat(v)
	case "list":
		return toList(v)
	case "dict":
		return toDict(v)
	case "jsonarg", "json":
		return toJSON(v)
	case "bytes", "bits":
		return toSize(v, kind)
	case "raw":
		return v, nil
	}
	return nil, fmt.Errorf("internal error: unknown argument type %q", kind)
}

func notConvertible(v value.Value, what string) error { return &convertError{v, what} }

// convertError names the type of the value that does not fit.
type convertError struct {
	v    value.Value
	what string
}

func (e *convertError) Error() string { return TypeName(e.v) + " cannot be converted to " + e.what }

// reword changes the names of types in an error to those of this check.
func (c *checker) reword(err error) error {
	e, ok := err.(*convertError)
	switch {
	case ok && c.reading.Release.Has(dialect.ModuleArguments) && e.what == anInt:
		return fmt.Errorf("%s cannot be converted to %s", `"`+value.PrintedRepr(e.v)+`"`, e.what)
	case ok && c.text != "":
		return fmt.Errorf("%s cannot be converted to %s", c.typeName(e.v), e.what)
	case c.reading.Release.Has(dialect.ModuleArguments):
		if text, is := err.(notBool); is {
			return errors.New(strings.Replace(text.Error(), ".  Valid", ". Valid", 1))
		}
	}
	return err
}

// Bool reads a truth value as Ansible does: yes, no, on, off, true, false, 1, 0, y, n, t, f.
func Bool(v any) (bool, error) {
	x := plainly(v)
	if b, ok := value.AsBool(x); ok {
		return b, nil
	}
	switch x.(type) {
	case value.Int, value.Float:
		return false, notBool(Str(x))
	}
	if text, ok := value.Text(x); ok {
		return false, notBool(text)
	}
	return false, notConvertible(x, "a bool")
}

// notBool is a text that is no truth value.
type notBool string

func (n notBool) Error() string { return value.NotBool(string(n)) }

// toText returns a value as a str; text keeps its kind.
func toText(v value.Value) value.Value {
	if value.IsText(v) {
		return v
	}
	return value.UnsafeStr(Str(v))
}

const anInt = "an int"

// toInt returns a value as an int. whole accepts numbers with a point too, if only zeros follow it.
func toInt(v value.Value, whole bool) (value.Value, error) {
	switch v := v.(type) {
	case value.Int:
		return v, nil
	case value.Bool:
		n, _ := value.AsInt(v)
		return value.Int(n), nil
	case *value.BigInt:
		return nil, fmt.Errorf("%s is too large", Str(v))
	}
	if text, ok := value.Text(v); ok {
		// Python's int() accepts spaces around and single underscores within.
		text = strings.TrimSpace(text)
		if !strings.HasPrefix(text, "_") && !strings.HasSuffix(text, "_") && !strings.Contains(text, "__") {
			if n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64); err == nil {
				return value.Int(n), nil
			}
		}
	}
	if f, err := toFloat(v); whole && err == nil {
		if f := float64(f.(value.Float)); f == math.Trunc(f) && math.Abs(f) < 1<<62 {
			return value.Int(f), nil
		}
	}
	return nil, notConvertible(v, anInt)
}

func toFloat(v value.Value) (value.Value, error) {
	switch v := v.(type) {
	case value.Float:
		return v, nil
	case value.Int:
		return value.Float(v), nil
	}
	if text, ok := value.Text(v); ok {
		if f, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
			return value.Float(f), nil
		}
	}
	return nil, notConvertible(v, "a float")
}

func toList(v value.Value) (value.Value, error) {
	switch v := v.(type) {
	case *value.List:
		return v, nil
	case value.Int, *value.BigInt, value.Float, value.Bool:
		return value.NewList(toText(v)), nil
	}
	if text, ok := value.Text(v); ok {
		return value.FromGo(strings.Split(text, ","), value.KindUnsafe), nil
	}
	return nil, notConvertible(v, "a list")
}

// List returns a list in the form of results.
func List[T any](items []T) []any {
	out := make([]any, len(items))
	for i, x := range items {
		out[i] = x
	}
	return out
}

func toDict(v value.Value) (value.Value, error) {
	if d, ok := v.(*value.Dict); ok {
		return d, nil
	}
	if text, ok := value.Text(v); ok {
		return dictFromText(text)
	}
	return nil, notConvertible(v, "a dict")
}

func dictFromText(s string) (value.Value, error) {
	if strings.HasPrefix(s, "{") {
		if v, err := value.ParseJSON(s, value.KindUnsafe); err == nil {
			return v, nil
		}
		if v, ok, err := literal.Parse[value.Value](s, value.Literals{Kind: value.KindUnsafe}, false); ok && err == nil {
			return value.ToPlain(v)
		}
		return nil, fmt.Errorf("unable to evaluate string as dictionary")
	}
	if !strings.Contains(s, "=") {
		return nil, fmt.Errorf("dictionary requested, could not parse JSON or key=value")
	}
	d := value.NewDict()
	for _, field := range splitFields(strings.TrimSpace(s)) {
		k, val, ok := strings.Cut(field, "=")
		if !ok {
			return nil, fmt.Errorf("dictionary requested, could not parse JSON or key=value")
		}
		d.Put(k, val)
	}
	return d, nil
}

// splitFields splits k=v text at commas and spaces outside quotes.
func splitFields(s string) []string {
	var fields []string
	var field strings.Builder
	var quote rune
	escaped := false
	flush := func() {
		if field.Len() > 0 {
			fields = append(fields, field.String())
			field.Reset()
		}
	}
	for _, c := range s {
		switch {
		case escaped:
			field.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == ',' || c == ' '):
			flush()
		default:
			field.WriteRune(c)
		}
	}
	flush()
	return fields
}

func toJSON(v value.Value) (value.Value, error) {
	switch v.(type) {
	case *value.List, *value.Dict:
		return value.UnsafeStr(PyJSON(v)), nil
	}
	if text, ok := value.Text(v); ok {
		return value.UnsafeStr(strings.TrimSpace(text)), nil
	}
	return nil, notConvertible(v, "a json string")
}

var sizePattern = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`(?i)^\s*(\d*\.?\d*)\s*([A-Za-z]+)?`) })

// toSize reads a size for people: 1K, 10MB, 2.5 Gb (bits). The units are powers of 1024.
func toSize(v value.Value, kind string) (value.Value, error) {
	what := "a Byte value"
	if kind == "bits" {
		what = "a Bit value"
	}
	m := sizePattern().FindStringSubmatch(Str(v))
	if m == nil || m[1] == "" {
		return nil, notConvertible(v, what)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return nil, notConvertible(v, what)
	}
	if m[2] == "" {
		return value.Int(n), nil
	}
	shift := strings.IndexByte("BKMGTPEZY", strings.ToUpper(m[2])[0])
	if shift < 0 || shift > 6 || !sizeUnit(m[2], kind) {
		return nil, notConvertible(v, what)
	}
	return value.Int(n * float64(uint64(1)<<(10*shift))), nil
}

// sizeUnit reports whether the unit's second letter fits: B for bytes, b for bits, or the word.
func sizeUnit(unit, kind string) bool {
	letter, word := "B", "byte"
	if kind == "bits" {
		letter, word = "b", "bit"
	}
	low := strings.ToLower(unit)
	return len(unit) == 1 || unit[1:] == letter || strings.Contains(low, word)
}

var varPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(\w+|\{[^}]*\})`) })

// expandPath replaces $VAR, ${VAR} and a leading ~ or ~user; unknown ones stay.
func expandPath(path string, environ []string) string {
	if environ == nil || !strings.ContainsAny(path, "$~") {
		return path
	}
	path = varPattern().ReplaceAllStringFunc(path, func(ref string) string {
		if val, ok := lookupEnv(environ, strings.Trim(ref[1:], "{}")); ok {
			return val
		}
		return ref
	})
	if !strings.HasPrefix(path, "~") {
		return path
	}
	name, rest, found := strings.Cut(path[1:], "/")
	home := homeOf(name, environ)
	if home == "" {
		return path
	}
	home = strings.TrimRight(home, "/")
	if found {
		return home + "/" + rest
	}
	if home == "" {
		return "/"
	}
	return home
}

func homeOf(name string, environ []string) string {
	if name == "" {
		if home, ok := lookupEnv(environ, "HOME"); ok {
			return home
		}
	}
	return nss.Home(name)
}

// lookupEnv finds a variable among KEY=value texts; the last wins.
func lookupEnv(environ []string, key string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- {
		if k, val, ok := strings.Cut(environ[i], "="); ok && k == key {
			return val, true
		}
	}
	return "", false
}
