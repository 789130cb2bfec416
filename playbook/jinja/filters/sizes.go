package filters

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

func fileSize(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_filesizeformat", value.Opt("binary", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	binary, err := value.Truth(a[0])
	if err != nil {
		return nil, err
	}
	size, ok := value.AsFloat(in)
	if s, isText := value.Text(in); isText {
		if size, ok = parseFloat(s); !ok {
			return nil, value.ValueErrorf("could not convert string to float: %s", value.ReprText(s))
		}
	}
	if !ok {
		return nil, value.TypeErrorf("float() argument must be a string or a real number, not '%s'", in.Type())
	}
	base, units := 1000.0, []string{"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"}
	if binary {
		base, units = 1024, []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"}
	}
	switch {
	case size == 1:
		return value.Str("1 Byte"), nil
	case size < base:
		return value.Str(fmt.Sprintf("%d Bytes", int64(size))), nil
	}
	unit := base
	for i, name := range units {
		unit = math.Pow(base, float64(i+2))
		if size < unit || i == len(units)-1 {
			return value.Str(fmt.Sprintf("%.1f %s", base*size/unit, name)), nil
		}
	}
	return nil, value.ValueErrorf("no unit for %v", size)
}

// sizeUnits are the letters of sizes, the largest first.
var sizeUnits = []struct {
	letter string
	power  float64
}{{"Y", 1 << 80}, {"Z", 1 << 70}, {"E", 1 << 60}, {"P", 1 << 50}, {"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20},
	{"K", 1 << 10}, {"B", 1}}

func humanReadable(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("human_readable", value.Opt("isbits", value.Bool(false)), value.Opt("unit", none))
	if err != nil {
		return nil, err
	}
	isBits, err := value.Truth(a[0])
	if err != nil {
		return nil, err
	}
	if err := defined(in); err != nil {
		return nil, err
	}
	wanted, hasUnit := value.Text(a[1])
	if !hasUnit && !value.IsNone(a[1]) {
		s, err := value.ToStr(in)
		if err != nil {
			return nil, err
		}
		return nil, value.FilterErrorf("human_readable() can't interpret following string: %s", s)
	}
	size, ok := value.AsFloat(in)
	switch {
	case !ok && hasUnit:
		return nil, value.Errorf("AnsibleFilterTypeError",
			"human_readable() failed on bad input: unsupported operand type(s) for /: '%s' and 'int'", in.Type())
	case !ok:
		return nil, value.Errorf("AnsibleFilterTypeError",
			"human_readable() failed on bad input: '>=' not supported between instances of '%s' and 'int'", in.Type())
	}
	base := "Bytes"
	if isBits {
		base = "bits"
	}
	for _, u := range sizeUnits[:len(sizeUnits)-1] {
		if !hasUnit && size >= u.power || hasUnit && strings.ToUpper(wanted) == u.letter {
			return value.Str(fmt.Sprintf("%.2f %s", size/u.power, u.letter+base[:1])), nil
		}
	}
	return value.Str(fmt.Sprintf("%.2f %s", size, base)), nil
}

var humanSize = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(\d*\.?\d*)\s*([A-Za-z]+)?`) })

func humanToBytes(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	q, err := sizeAsked(in, args)
	if err != nil {
		return nil, err
	}
	m := humanSize().FindStringSubmatch(q.text)
	n, numErr := strconv.ParseFloat(m[1], 64)
	factor, known := 1.0, true
	if unit := cmp.Or(m[2], q.unit); unit != "" {
		factor, known = sizeFactor(unit, q.bits)
	}
	if numErr != nil || !known {
		return nil, value.FilterErrorf("human_to_bytes() can't interpret following string: %s", q.text)
	}
	return value.FloatToInt(pyRound(n*factor, 0))
}

// sizeQuery is what human_to_bytes was asked.
type sizeQuery struct {
	text, unit string
	bits       bool
}

func sizeAsked(in value.Value, args *jinja.Args) (q sizeQuery, err error) {
	a, err := args.Bind("human_to_bytes", value.Opt("default_unit", none), value.Opt("isbits", value.Bool(false)))
	if err != nil {
		return q, err
	}
	if q.bits, err = value.Truth(a[1]); err != nil {
		return q, err
	}
	q.unit, _ = value.Text(a[0])
	q.text, err = value.ToStr(in)
	return q, err
}

var exactSize = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]*\.?[0-9]+)(?:\s*([A-Za-z]+))?\s*$`)
})

// exactBytes is human_to_bytes that takes whole texts, and units in full only.
func exactBytes(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	q, err := sizeAsked(in, args)
	if err != nil {
		return nil, err
	}
	const bad = "human_to_bytes() can't interpret the input: human_to_bytes() "
	m := exactSize().FindStringSubmatch(q.text)
	if m == nil {
		return nil, value.FilterErrorf(bad+"can't interpret following string: %s", q.text)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return nil, err
	}
	unit := cmp.Or(m[2], q.unit)
	if unit == "" {
		return value.FloatToInt(pyRound(n, 0))
	}
	var letters []string
	at := -1
	for i, u := range sizeUnits {
		letters = append(letters, u.letter)
		if u.letter == strings.ToUpper(unit[:1]) {
			at = i
		}
	}
	if at < 0 {
		return nil, value.FilterErrorf(bad+"failed to convert %s (unit = %s). The suffix must be one of %s", q.text, unit,
			strings.Join(letters, ", "))
	}
	class, word := "B", "byte"
	if q.bits {
		class, word = "b", "bit"
	}
	letter, expected := sizeUnits[at].letter, ""
	short := letter + class
	if expected = "expect " + short + " or " + letter; letter == "B" {
		short, expected = class, "expect "+class+" or "+word
	}
	prefix := map[string]string{"Y": "yotta", "Z": "zeta", "E": "exa", "P": "peta", "T": "tera", "G": "giga", "M": "mega",
		"K": "kilo"}[letter]
	if len(unit) > 1 && strings.ToLower(unit) != prefix+word && unit != short {
		return nil, value.FilterErrorf(bad+"failed to convert %s. Value is not a valid string (%s)", q.text, expected)
	}
	return value.FloatToInt(pyRound(n*sizeUnits[at].power, 0))
}

// sizeFactor returns what a unit stands for: its first letter counts, and the second tells bytes (B) from bits (b)
// unless the word is in it.
func sizeFactor(unit string, isBits bool) (factor float64, ok bool) {
	for _, u := range sizeUnits {
		if u.letter == strings.ToUpper(unit[:1]) {
			factor = u.power
		}
	}
	class, word := byte('B'), "byte"
	if isBits {
		class, word = 'b', "bit"
	}
	fits := len(unit) == 1 || unit[1] == class || strings.Contains(strings.ToLower(unit), word)
	return factor, factor != 0 && fits
}
