package pki

import (
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// Encoding tells how names of hosts are shown: as they stand, with xn-- or without.
type Encoding string

// The ways to show names of hosts.
const (
	AsIs    Encoding = "ignore"
	IDNA    Encoding = "idna"
	Unicode Encoding = "unicode"
)

// host changes the labels of a host's name. What is no label (* and nothing) stays.
func (e Encoding) host(name string) (string, error) {
	if e == AsIs || name == "" || e == IDNA && ascii(name) {
		return name, nil
	}
	labels := strings.Split(name, ".")
	for i, label := range labels {
		var err error
		switch {
		case label == "" || label == "*":
		case e == IDNA:
			labels[i], err = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false)).ToASCII(label)
		case strings.HasPrefix(label, "xn--"):
			labels[i], err = idna.New(idna.StrictDomainName(false)).ToUnicode(label)
		}
		if err != nil {
			from, to := "Unicode", "IDNA"
			if e == Unicode {
				from, to = to, from
			}
			return "", failf(`Error while transforming part "%s" of %s DNS name "%s" to %s. %v`, label, from, name, to, err)
		}
	}
	return strings.Join(labels, "."), nil
}

func (e Encoding) mail(address string) (string, error) {
	user, name, ok := strings.Cut(address, "@")
	if !ok {
		return address, nil
	}
	name, err := e.host(name)
	return user + "@" + name, err
}

// uri changes the host of an address, which is in small letters then, and nothing else.
func (e Encoding) uri(given string) (string, error) {
	u, err := url.Parse(given)
	if err != nil {
		return "", err
	}
	name, err := e.host(strings.ToLower(u.Hostname()))
	if err != nil || name == "" {
		return given, err
	}
	return strings.Replace(given, u.Hostname(), name, 1), nil
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
