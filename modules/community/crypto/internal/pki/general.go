package pki

import (
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// The kinds of general names, RFC 5280 section 4.2.1.6.
const (
	tagOther     = 0
	tagMail      = 1
	tagDNS       = 2
	tagDirectory = 4
	tagURI       = 6
	tagIP        = 7
	tagRID       = 8
)

// tagged is a value with a tag of the context.
func tagged(tag int, compound bool, body []byte) []byte {
	der, _ := asn1.Marshal(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, IsCompound: compound, Bytes: body})
	return der
}

// GeneralName is the name that a text like DNS:example.org stands for, as it stands in certificates. what says in messages
// whose name it is.
func GeneralName(text, what string) ([]byte, error) {
	kind, value, ok := strings.Cut(text, ":")
	cannot := func(format string, a ...any) error {
		return failf("Cannot parse %s %s%s", what, quoted(text), fmt.Sprintf(format, a...))
	}
	if !ok {
		return nil, cannot(` (forgot "DNS:" prefix?)`)
	}
	var der []byte
	var err error
	switch kind {
	case "DNS":
		value, err = IDNA.host(value)
		der = tagged(tagDNS, false, []byte(value))
	case "IP":
		value, err := address(value)
		if err != nil {
			return nil, cannot(": %v", err)
		}
		return tagged(tagIP, false, value), nil
	case "email":
		value, err = IDNA.mail(value)
		if err == nil && (value == "" || strings.ContainsAny(value, "<>, ")) {
			err = Error("Invalid rfc822name value")
		}
		der = tagged(tagMail, false, []byte(value))
	case "URI":
		value, err = IDNA.uri(value)
		der = tagged(tagURI, false, []byte(value))
	case "RID":
		der, err = registered(value)
		if err != nil {
			err = cannot("")
		}
	case "otherName":
		if !hexName().MatchString(value) {
			text = value // so Ansible names it in messages
		}
		der, err = otherName(value, what)
	case "dirName":
		der, err = directory(value)
	default:
		return nil, cannot(" (potentially unsupported by cryptography backend)")
	}
	if err != nil {
		return nil, cannot(": %v", err)
	}
	return der, nil
}

// address is a host's address, or that of a network with its mask.
func address(text string) ([]byte, error) {
	if !strings.Contains(text, "/") {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return nil, fmt.Errorf("'%s' does not appear to be an IPv4 or IPv6 address", text)
		}
		return a.AsSlice(), nil
	}
	ip, network, err := net.ParseCIDR(withPrefix(text))
	switch {
	case err != nil:
		return nil, fmt.Errorf("'%s' does not appear to be an IPv4 or IPv6 network", text)
	case !ip.Equal(network.IP):
		return nil, fmt.Errorf("%s has host bits set", text)
	}
	return append(network.IP, network.Mask...), nil
}

// withPrefix writes the mask of an IPv4 network as the number of its bits.
func withPrefix(text string) string {
	host, mask, _ := strings.Cut(text, "/")
	m, err := netip.ParseAddr(mask)
	if err != nil || !m.Is4() {
		return text
	}
	ones, bits := net.IPMask(m.AsSlice()).Size()
	if bits == 0 {
		return text
	}
	return fmt.Sprintf("%s/%d", host, ones)
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`) })

func registered(text string) ([]byte, error) {
	if !number().MatchString(text) {
		return nil, errors.New("no number")
	}
	der, err := marshalOID(text)
	if err != nil {
		return nil, err
	}
	var raw asn1.RawValue
	if _, err := asn1.Unmarshal(der, &raw); err != nil {
		return nil, err
	}
	return tagged(tagRID, false, raw.Bytes), nil
}

func marshalOID(text string) ([]byte, error) {
	oid, err := parseOID(text)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(oid)
}

var hexName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)*);([0-9a-fA-F]{1,2}(?::[0-9a-fA-F]{1,2})*)$`)
})

// otherName is 1.2.3;0c:01:61 or, as OpenSSL writes it, 1.2.3;UTF8:a.
func otherName(text, what string) ([]byte, error) {
	id, given, ok := strings.Cut(text, ";")
	if !ok {
		return nil, failf(`Cannot parse %s otherName "%s", must be in the format "otherName:<OID>;<ASN.1 OpenSSL Encoded String>" or "otherName:<OID>;<hex string>"`, what, text)
	}
	oid, err := marshalOID(id)
	if err != nil {
		return nil, err
	}
	var body []byte
	if hexName().MatchString(text) {
		for part := range strings.SplitSeq(given, ":") {
			b, err := hex.DecodeString(fmt.Sprintf("%02s", part))
			if err != nil {
				return nil, err
			}
			body = append(body, b...)
		}
	} else if body, err = openSSLValue(given); err != nil {
		return nil, err
	}
	return tagged(tagOther, true, append(oid, tagged(0, true, body)...)), nil
}

// directory is a distinguished name; it is written with the last attribute first.
func directory(text string) ([]byte, error) {
	name, err := readName(text)
	if err != nil {
		return nil, err
	}
	for i, j := 0, len(name)-1; i < j; i, j = i+1, j-1 {
		name[i], name[j] = name[j], name[i]
	}
	der, err := name.DER()
	return tagged(tagDirectory, true, der), err
}

// showGeneral is the text that GeneralName reads.
func showGeneral(raw asn1.RawValue, e Encoding) (string, error) {
	value := string(raw.Bytes)
	var err error
	switch raw.Tag {
	case tagDNS:
		value, err = e.host(value)
		return "DNS:" + value, err
	case tagMail:
		value, err = e.mail(value)
		return "email:" + value, err
	case tagURI:
		value, err = e.uri(value)
		return "URI:" + value, err
	case tagIP:
		return "IP:" + showAddress(raw.Bytes), nil
	case tagRID:
		var oid asn1.ObjectIdentifier
		der, _ := asn1.Marshal(asn1.RawValue{Tag: asn1.TagOID, Bytes: raw.Bytes})
		_, err := asn1.Unmarshal(der, &oid)
		return "RID:" + oid.String(), err
	case tagDirectory:
		name, err := ParseName(raw.Bytes)
		return "dirName:" + name.String(), err
	case tagOther:
		var oid asn1.ObjectIdentifier
		var inner asn1.RawValue
		rest, err := asn1.Unmarshal(raw.Bytes, &oid)
		if err == nil {
			_, err = asn1.Unmarshal(rest, &inner)
		}
		return "otherName:" + oid.String() + ";" + Colons(inner.Bytes), err
	}
	return "", fmt.Errorf("cannot decode a name of kind %d", raw.Tag)
}

func showAddress(b []byte) string {
	if len(b) == 2*net.IPv4len || len(b) == 2*net.IPv6len {
		half := len(b) / 2
		ones, _ := net.IPMask(b[half:]).Size()
		return fmt.Sprintf("%s/%d", showAddress(b[:half]), ones)
	}
	a, ok := netip.AddrFromSlice(b)
	if !ok {
		return Colons(b)
	}
	if a.Is4In6() {
		return fmt.Sprintf("::ffff:%x:%x", uint(b[12])<<8|uint(b[13]), uint(b[14])<<8|uint(b[15]))
	}
	return a.String()
}

// showGenerals are all names of a sequence.
func showGenerals(body []byte, e Encoding) ([]string, error) {
	list := []string{}
	for len(body) > 0 {
		var raw asn1.RawValue
		rest, err := asn1.Unmarshal(body, &raw)
		if err != nil {
			return nil, err
		}
		text, err := showGeneral(raw, e)
		if err != nil {
			return nil, err
		}
		list, body = append(list, text), rest
	}
	return list, nil
}

var openSSLForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(IMPLICIT|EXPLICIT):(\d+)([UAPC])?,)?(\w+):(.*)`)
})

// openSSLValue is what a text like EXPLICIT:1,UTF8:a stands for. Of the types of values only UTF8 is known.
func openSSLValue(text string) ([]byte, error) {
	m := openSSLForm().FindStringSubmatch(text)
	if m == nil {
		return nil, Error("The ASN.1 serialized string must be in the format [modifier,]type[:value]")
	}
	how, tagText, class, kind, value := m[1], m[2], m[3], m[4], []byte(m[5])
	if kind != "UTF8" {
		return nil, failf(`The ASN.1 serialized string is not a known type "%s", only UTF8 types are supported`, kind)
	}
	explicit := how == "EXPLICIT" && class != "U"
	if how == "" || explicit {
		der, err := asn1.Marshal(asn1.RawValue{Tag: asn1.TagUTF8String, Bytes: value})
		if err != nil || how == "" {
			return der, err
		}
		value = der
	}
	tag, err := strconv.ParseInt(tagText, 10, 32)
	if err != nil {
		return nil, failf("The ASN.1 tag %s is too large", tagText)
	}
	classes := map[string]int{"U": asn1.ClassUniversal, "A": asn1.ClassApplication, "P": asn1.ClassPrivate}
	c, ok := classes[class]
	if !ok {
		c = asn1.ClassContextSpecific
	}
	return asn1.Marshal(asn1.RawValue{Class: c, Tag: int(tag), IsCompound: explicit, Bytes: value})
}
