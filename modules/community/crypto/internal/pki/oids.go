package pki

import (
	_ "embed"
	"encoding/asn1"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed oids.txt
var oidText string

// names are what object identifiers are called.
type names struct {
	oid         map[string]string // by any name
	long, short map[string]string // by the dotted number
}

var knownNames = sync.OnceValue(func() names {
	n := names{oid: map[string]string{"userID": "0.9.2342.19200300.100.1.1"}, long: map[string]string{}, short: map[string]string{}}
	for line := range strings.Lines(oidText) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) < 2 {
			continue
		}
		n.long[f[0]], n.short[f[0]] = f[1], f[len(f)-1]
		for _, name := range f[1:] {
			n.oid[name] = f[0]
		}
	}
	return n
})

var dotted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+(\.\d+)+$`) })

// OID is the object identifier with a name, long or short, or with a dotted number.
func OID(name string) (asn1.ObjectIdentifier, error) {
	number := knownNames().oid[name]
	if number == "" {
		number = name
	}
	if !dotted().MatchString(number) {
		return nil, failf("Cannot find OID for %s", quoted(name))
	}
	return parseOID(number)
}

func parseOID(number string) (asn1.ObjectIdentifier, error) {
	var oid asn1.ObjectIdentifier
	for part := range strings.SplitSeq(number, ".") {
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			return nil, failf("Malformed OID: %s", number)
		}
		oid = append(oid, int(n))
	}
	return oid, nil
}

// LongName is an object identifier's long name, or its number if it has none.
func LongName(oid asn1.ObjectIdentifier) string {
	return oneOf(knownNames().long[oid.String()], oid.String())
}

func shortName(oid asn1.ObjectIdentifier) string {
	return oneOf(knownNames().short[oid.String()], oid.String())
}

func oneOf(name, number string) string {
	if name != "" {
		return name
	}
	return number
}

// quoted puts a text between quotes as it is.
func quoted(s string) string { return `"` + s + `"` }
