package general

import (
	"fmt"
	"hash/crc32"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/methods"
	"hark/playbook/jinja/pyrandom"
	"hark/playbook/jinja/versions"
)

func crc(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if _, err := args.Bind("crc32s"); err != nil {
		return nil, err
	}
	s, ok := value.Text(in)
	if !ok {
		return nil, value.FilterErrorf("Invalid value type (%s) for crc32 (%s)", value.ClassOf(in).Str(),
			value.PrintedRepr(in))
	}
	return text(fmt.Sprintf("%x", crc32.ChecksumIEEE([]byte(s)))), nil
}

func unicodeNormalize(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("unicode_normalize", value.Opt("form", text("NFC")))
	if err != nil {
		return nil, err
	}
	s, ok := value.Text(in)
	if !ok {
		return nil, value.Errorf("AnsibleFilterTypeError", "%s is not a valid input type", value.ClassOf(in).Str())
	}
	form, known := map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC,
		"NFKD": norm.NFKD}[value.Printed(a[0])]
	if !known {
		return nil, value.FilterErrorf("%s is not a valid form", value.Printed(a[0]))
	}
	return value.SameText(in, form.String(s)), nil
}

func versionSort(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("version_sort", value.Opt("reverse", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	down, err := methods.Flag(a[0])
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	keys := make([]value.Value, len(items))
	for i, item := range items {
		s, ok := value.Text(item)
		if !ok {
			return nil, value.TypeErrorf("expected string or bytes-like object, got '%s'", item.Type())
		}
		if keys[i], err = versions.Loose(s); err != nil {
			return nil, err
		}
	}
	out := slices.Clone(items)
	err = value.Sort(out, down, keys)
	return value.NewList(out...), err
}

var hexByte = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-f0-9]{2}`) })

func randomMAC(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("random_mac", value.Opt("seed", none))
	if err != nil {
		return nil, err
	}
	s, ok := value.Text(in)
	if !ok {
		return nil, value.FilterErrorf("Invalid value type (%s) for random_mac (%s)", value.ClassOf(in).Str(),
			value.Printed(in))
	}
	s = strings.ToLower(s)
	parts := strings.Split(s, ":")
	if err := checkMACPrefix(s, parts); err != nil {
		return nil, err
	}
	r := pyrandom.New()
	if !value.IsNone(a[0]) {
		if r, err = pyrandom.Seeded(a[0]); err != nil {
			return nil, err
		}
	}
	low, high := big.NewInt(68719476736), big.NewInt(1099511627776)
	drawn := r.BelowBig(new(big.Int).Sub(high, low))
	digits := drawn.Add(drawn, low).Text(16)[:2*(6-len(parts))]
	for i := 0; i < len(digits); i += 2 {
		s += ":" + digits[i:i+2]
	}
	return text(s), nil
}

func checkMACPrefix(s string, parts []string) error {
	if len(parts) > 5 {
		return value.FilterErrorf("Invalid value (%s) for random_mac: 5 colon(:) separated items max", s)
	}
	var wrong []string
	for _, part := range parts {
		switch {
		case part == "":
			wrong = append(wrong, "empty item")
		case !hexByte().MatchString(part):
			wrong = append(wrong, part+" not hexa byte")
		}
	}
	if len(wrong) > 0 {
		return value.FilterErrorf("Invalid value (%s) for random_mac: %s", s, strings.Join(wrong, ","))
	}
	return nil
}
