package lookups

import (
	"crypto/rand"
	"encoding/base64"
	"math/big"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

const (
	lowerCase   = "abcdefghijklmnopqrstuvwxyz"
	numerals    = "0123456789"
	punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
)

// maxRandom is the longest text that random_string makes.
const maxRandom = 1 << 20

// randomOptions are the keyword arguments of random_string.
type randomOptions struct{ kw *value.Dict }

func (o randomOptions) on(name string, def bool) bool {
	v, ok := o.kw.Get(name)
	if !ok || value.IsNone(v) {
		return def
	}
	return value.SaysYes(v)
}

func (o randomOptions) number(name string, def int64) (int, error) {
	v, ok := o.kw.Get(name)
	if !ok || value.IsNone(v) {
		return int(def), nil
	}
	n, ok := value.AsInt(v)
	if s, isText := value.Text(v); isText {
		var err error
		n, err = parseInt(s)
		ok = err == nil
	}
	if !ok || n > maxRandom {
		return 0, value.Errorf("AnsibleOptionsError",
			"Invalid type for configuration option plugin_type: lookup plugin: community.general.random_string setting: %s : %s",
			name, value.PrintedRepr(v))
	}
	return int(n), nil
}

func (o randomOptions) text(name string) string {
	v, _ := o.kw.Get(name)
	s, _ := value.Text(v)
	return s
}

func randomString(_ *jinja.Call, _ []value.Value, kw *value.Dict) ([]value.Value, error) {
	o := randomOptions{kw}
	length, err := o.number("length", 8)
	if err != nil {
		return nil, err
	}
	made, chars := "", o.text("override_all")
	if chars == "" {
		if chars, made, err = o.kinds(); err != nil {
			return nil, err
		}
	}
	rest, err := randomText(chars, length-len([]rune(made)))
	if err != nil {
		return nil, err
	}
	out, err := shuffled(made + rest)
	if err != nil {
		return nil, err
	}
	if o.on("base64", false) {
		out = base64.StdEncoding.EncodeToString([]byte(out))
	}
	return []value.Value{value.Str(out)}, nil
}

// kinds returns the characters to choose from, and those that the least numbers of each kind demand.
func (o randomOptions) kinds() (chars, made string, err error) {
	special := punctuation
	if s := o.text("override_special"); s != "" {
		special = s
	}
	for _, kind := range []struct{ switchName, leastName, chars string }{
		{"upper", "min_upper", strings.ToUpper(lowerCase)}, {"lower", "min_lower", lowerCase},
		{"numbers", "min_numeric", numerals}, {"special", "min_special", special},
	} {
		if o.on(kind.switchName, true) {
			chars += kind.chars
		}
		least, err := o.number(kind.leastName, 0)
		if err != nil {
			return "", "", err
		}
		some, err := randomText(kind.chars, least)
		if err != nil {
			return "", "", err
		}
		made += some
	}
	return chars, made, nil
}

// randomText is text of n characters out of chars; none if n is not positive.
func randomText(chars string, n int) (string, error) {
	set := []rune(chars)
	if len(set) == 0 {
		return "", value.Errorf("AnsibleLookupError", "Available characters cannot be None, please change constraints")
	}
	var b strings.Builder
	for range max(n, 0) {
		i, err := drawn(len(set))
		if err != nil {
			return "", err
		}
		b.WriteRune(set[i])
	}
	return b.String(), nil
}

func shuffled(s string) (string, error) {
	runes := []rune(s)
	for i := len(runes) - 1; i > 0; i-- {
		j, err := drawn(i + 1)
		if err != nil {
			return "", err
		}
		runes[i], runes[j] = runes[j], runes[i]
	}
	return string(runes), nil
}

// drawn returns a number below n that nobody can foresee: what is made of it may be a password.
func drawn(n int) (int, error) {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		return 0, failf("cannot draw a random number: %v", err)
	}
	return int(i.Int64()), nil
}
