package pki

import (
	"bytes"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Attribute is a part of a distinguished name.
type Attribute struct {
	OID   asn1.ObjectIdentifier
	Value string
}

// Name is a distinguished name, one attribute after the other.
type Name []Attribute

// Attribute types whose text is of a certain kind by their definition; all others are UTF-8.
const (
	oidCountry      = "2.5.4.6"
	oidSerialNumber = "2.5.4.5"
	oidQualifier    = "2.5.4.46"
	oidJurisdiction = "1.3.6.1.4.1.311.60.2.1.3"
	oidEmail        = "1.2.840.113549.1.9.1"
	oidDomain       = "0.9.2342.19200300.100.1.25"
)

// NewAttribute makes a part of a name; key is the name or number of its type.
func NewAttribute(key, value string) (Attribute, error) {
	oid, err := OID(key)
	if err != nil {
		return Attribute{}, err
	}
	number := oid.String()
	switch {
	case (number == oidCountry || number == oidJurisdiction) && len(value) != 2:
		return Attribute{}, Error("Country name must be a 2 character country code")
	case value == "":
		return Attribute{}, Error("Value cannot be an empty string")
	}
	return Attribute{oid, value}, nil
}

// Same tells whether two attributes are equal.
func (a Attribute) Same(b Attribute) bool { return a.OID.Equal(b.OID) && a.Value == b.Value }

func (a Attribute) encoded() pkix.AttributeTypeAndValue {
	tag := asn1.TagUTF8String
	switch a.OID.String() {
	case oidCountry, oidJurisdiction, oidSerialNumber, oidQualifier:
		tag = asn1.TagPrintableString
	case oidEmail, oidDomain:
		tag = asn1.TagIA5String
	}
	return pkix.AttributeTypeAndValue{Type: a.OID, Value: asn1.RawValue{Tag: tag, Bytes: []byte(a.Value)}}
}

// DER is the name as it stands in certificates.
func (n Name) DER() ([]byte, error) {
	seq := pkix.RDNSequence{}
	for _, a := range n {
		seq = append(seq, pkix.RelativeDistinguishedNameSET{a.encoded()})
	}
	return asn1.Marshal(seq)
}

// ParseName reads a name as it stands in certificates.
func ParseName(der []byte) (Name, error) {
	var seq pkix.RDNSequence
	if rest, err := asn1.Unmarshal(der, &seq); err != nil || len(rest) > 0 {
		return nil, errors.New("the name cannot be read")
	}
	n := Name{}
	for _, set := range seq {
		for _, a := range set {
			n = append(n, Attribute{a.Type, fmt.Sprint(a.Value)})
		}
	}
	return n, nil
}

// SameOrdered tells whether two names have the same attributes in the same order.
func (n Name) SameOrdered(o Name) bool { return slices.EqualFunc(n, o, Attribute.Same) }

// SameSet tells whether two names have the same attributes, in whatever order.
func (n Name) SameSet(o Name) bool {
	within := func(a, b Name) bool {
		return !slices.ContainsFunc(a, func(x Attribute) bool { return !slices.ContainsFunc(b, x.Same) })
	}
	return within(n, o) && within(o, n)
}

// String is the name as RFC 4514 writes it, the last attribute first.
func (n Name) String() string {
	parts := make([]string, len(n))
	for i, a := range n {
		parts[len(n)-1-i] = shortName(a.OID) + "=" + escaped(a.Value)
	}
	return strings.Join(parts, ",")
}

var special = strings.NewReplacer(`\`, `\\`, ",", `\,`, "+", `\+`, "<", `\<`, ">", `\>`, ";", `\;`, `"`, `\"`, "\x00", `\00`)

func escaped(value string) string {
	value = special.Replace(value)
	if strings.HasPrefix(value, " ") || strings.HasPrefix(value, "#") {
		value = `\` + value
	}
	if strings.HasSuffix(value, " ") {
		value = value[:len(value)-1] + `\ `
	}
	return value
}

// readName reads CN=a,O=b or /CN=a/O=b.
func readName(given string) (Name, error) {
	rest, sep := strings.TrimLeft(given, " \t\r\n\v\f"), byte(',')
	fail := func(format string, a ...any) (Name, error) {
		return nil, failf(`Error while parsing distinguished name "%s": %s`, given, fmt.Sprintf(format, a...))
	}
	if strings.HasPrefix(rest, "/") {
		rest, sep = rest[1:], '/'
	}
	name := Name{}
	for rest != "" {
		a, after, err := readAttribute(rest, sep)
		if err != nil {
			return fail("%v", err)
		}
		name = append(name, a)
		if after != "" {
			if after[0] != sep || len(after) < 2 {
				return fail("unexpected end of string")
			}
			after = after[1:]
		}
		rest = after
	}
	return name, nil
}

var attributeStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^ *([a-zA-Z\\[\\\\\\]^_`0-9.]+) *= *") })

// splitStart parts the type of an attribute from its value.
func splitStart(text string) (key, value string, err error) {
	m := attributeStart().FindStringSubmatchIndex(text)
	if m == nil {
		return "", "", fmt.Errorf("cannot start part in %s", quoted(text))
	}
	return text[m[2]:m[3]], text[m[1]:], nil
}

// readAttribute reads one attribute up to a separator and gives what is left.
func readAttribute(text string, sep byte) (a Attribute, rest string, err error) {
	key, value, err := splitStart(text)
	if err != nil {
		return a, "", err
	}
	// An unknown type is reported before a value that cannot be read.
	if _, err := OID(key); err != nil {
		return a, "", err
	}
	var decoded string
	if after, ok := strings.CutPrefix(value, "#"); ok {
		decoded, rest, err = readHex(after)
	} else {
		decoded, rest, err = readEscaped(value, sep)
	}
	if err != nil {
		return a, "", err
	}
	a, err = NewAttribute(key, decoded)
	return a, rest, err
}

func readHex(text string) (decoded, rest string, err error) {
	var out []byte
	for len(text) > 1 {
		b, err := hex.DecodeString(text[:2])
		if err != nil {
			return "", "", failf("Invalid hex sequence entry %s", quoted(text[:2]))
		}
		out, text = append(out, b...), text[2:]
	}
	return string(out), text, nil
}

func readEscaped(text string, sep byte) (decoded, rest string, err error) {
	var out bytes.Buffer
	for text != "" && text[0] != sep {
		if text[0] != '\\' || len(text) == 1 {
			out.WriteByte(text[0])
			text = text[1:]
			continue
		}
		n := 2
		switch {
		case !isHex(text[1]):
			out.WriteByte(text[1])
		case len(text) < 3:
			return "", "", failf(`Hex escape sequence "\%s" incomplete at end of string`, text[1:2])
		case !isHex(text[2]):
			return "", "", failf(`Hex escape sequence "\%s" has invalid second letter`, text[1:3])
		default:
			b, _ := hex.DecodeString(text[1:3])
			out.Write(b)
			n = 3
		}
		text = text[n:]
	}
	return out.String(), text, nil
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
