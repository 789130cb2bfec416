package netaddr

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules/py/value"
)

// EUI is a hardware address of 48 or 64 bits.
type EUI struct {
	bits int
	n    uint64
}

// macForm is a way to write hardware addresses: words of so many digits.
type macForm struct {
	pattern *regexp.Regexp
	digits  int
	bits    int
}

// macForms are the ways that are understood.
var macForms = sync.OnceValue(func() []macForm {
	form := func(bits, digits, words int, sep, times string) macForm {
		word := "([0-9A-Fa-f]{" + times + "})"
		return macForm{regexp.MustCompile("^" + word + strings.Repeat(sep+word, words-1) + `\n?$`), digits, bits}
	}
	return []macForm{
		form(48, 2, 6, ":", "1,2"), form(48, 2, 6, "-", "1,2"),
		form(48, 4, 3, ":", "1,4"), form(48, 4, 3, "-", "1,4"), form(48, 4, 3, `\.`, "1,4"),
		form(48, 6, 2, "-", "5,6"), form(48, 6, 2, ":", "5,6"),
		form(48, 12, 1, "", "12"), form(48, 12, 1, "", "11"),
		form(64, 2, 8, ":", "1,2"), form(64, 2, 8, "-", "1,2"),
		form(64, 4, 4, ":", "1,4"), form(64, 4, 4, "-", "1,4"), form(64, 4, 4, `\.`, "1,4"),
		form(64, 16, 1, "", "16"),
	}
})

// ParseEUI reads a hardware address in any of the usual forms, or as a decimal number.
func ParseEUI(s string) (EUI, error) {
	for _, f := range macForms() {
		m := f.pattern.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		digits := ""
		for _, word := range m[1:] {
			digits += strings.Repeat("0", f.digits-len(word)) + word
		}
		n, err := strconv.ParseUint(digits, 16, 64)
		return EUI{f.bits, n}, err
	}
	if n, ok := PythonInt(s); ok && n.IsUint64() {
		if n.BitLen() <= 48 {
			return EUI{48, n.Uint64()}, nil
		}
		return EUI{64, n.Uint64()}, nil
	}
	return EUI{}, errFormat("failed to detect EUI version: %s", value.ReprText(s))
}

// Dialect is a way to print hardware addresses: words of so many bits.
type Dialect struct {
	Bits   int
	Sep    string
	Format string
}

// Format prints the address. The dialects are for 48 bits.
func (e EUI) Format(d Dialect) (string, error) {
	if e.n >= 1<<48 {
		return "", value.Errorf("IndexError", "integer out of bounds: '%#x'!", e.n)
	}
	var words []string
	for at := 48 - d.Bits; at >= 0; at -= d.Bits {
		words = append(words, fmt.Sprintf(d.Format, e.n>>at&(1<<d.Bits-1)))
	}
	return strings.Join(words, d.Sep), nil
}

// Int returns the address as a number.
func (e EUI) Int() *big.Int { return new(big.Int).SetUint64(e.n) }

// IPv6 returns the address that a host with this hardware address takes in a network.
func (e EUI) IPv6(network Addr) (Addr, error) {
	n := e.n
	if e.bits == 48 {
		n = n>>24<<40 | 0xfffe000000 | n&0xffffff
	}
	n ^= 1 << 57 // the bit that distinguishes global addresses from local ones
	sum := new(big.Int).Add(network.n, new(big.Int).SetUint64(n))
	if sum.BitLen() > 128 {
		return Addr{}, errFormat("bad address format: %s", sum)
	}
	return Addr{true, sum}, nil
}
