package filters

import (
	"math/big"
	"regexp"

	"hark/playbook/jinja/value"
)

var versionPart = regexp.MustCompile(`\d+|[a-z]+|\.`)

// compareLoose compares versions as distutils' LooseVersion does: numbers and words part by part.
func compareLoose(a, b string) (int, error) {
	x, y := looseParts(a), looseParts(b)
	eq, err := value.Equal(x, y)
	if eq || err != nil {
		return 0, err
	}
	return value.Compare("<", x, y)
}

func looseParts(s string) *value.List {
	out := value.NewList()
	at := 0
	add := func(part string) {
		if part == "" || part == "." {
			return
		}
		if n, ok := new(big.Int).SetString(part, 10); ok {
			out.Items = append(out.Items, value.NewInt(n))
			return
		}
		out.Items = append(out.Items, value.Str(part))
	}
	for _, m := range versionPart.FindAllStringIndex(s, -1) {
		add(s[at:m[0]])
		add(s[m[0]:m[1]])
		at = m[1]
	}
	add(s[at:])
	return out
}
