package pki

import (
	"bytes"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"slices"
)

// CRLPoint is a place where lists of revoked certificates are found. Nil is what was not given.
type CRLPoint struct {
	FullName, RelativeName, Issuer, Reasons []string
}

// reasons are the names of RFC 5280's reason flags, the first of which has no name.
func reasons() []string {
	return []string{
		"", "key_compromise", "ca_compromise", "affiliation_changed", "superseded", "cessation_of_operation", "certificate_hold",
		"privilege_withdrawn", "aa_compromise",
	}
}

// CRLPoints are the places where to look.
func CRLPoints(points []CRLPoint) (pkix.Extension, error) {
	var list [][]byte
	for i, p := range points {
		der, err := p.der()
		if err != nil {
			return pkix.Extension{}, failf("Error while parsing CRL distribution point #%d: %v", i, err)
		}
		list = append(list, der)
	}
	return pkix.Extension{Id: oidCRLPoints(), Value: sequence(list...)}, nil
}

func (p CRLPoint) der() ([]byte, error) {
	var parts [][]byte
	place, err := p.place()
	if err != nil {
		return nil, err
	}
	if place != nil {
		parts = append(parts, tagged(0, true, place))
	}
	if p.Reasons != nil {
		parts = append(parts, tagged(1, false, p.reasonBits()))
	}
	if p.Issuer != nil {
		if len(p.Issuer) == 0 {
			return nil, errors.New("crl_issuer must not be empty")
		}
		list, err := generalNames(p.Issuer, "CRL issuer")
		if err != nil {
			return nil, err
		}
		parts = append(parts, tagged(2, true, bytes.Join(list, nil)))
	}
	return sequence(parts...), nil
}

// place is the list's address, nil if only its issuer is told.
func (p CRLPoint) place() ([]byte, error) {
	if p.FullName != nil {
		if len(p.FullName) == 0 {
			return nil, errors.New("full_name must not be empty")
		}
		list, err := generalNames(p.FullName, "full name")
		return tagged(0, true, bytes.Join(list, nil)), err
	}
	if p.RelativeName == nil {
		return nil, nil
	}
	if len(p.RelativeName) == 0 {
		return nil, errors.New("relative_name must not be empty")
	}
	var set pkix.RelativeDistinguishedNameSET
	for _, part := range p.RelativeName {
		key, value, err := splitStart(part)
		var a Attribute
		if err == nil {
			a, err = NewAttribute(key, value)
		}
		if err != nil {
			return nil, failf("Error while parsing relative distinguished name %s: %v", quoted(part), err)
		}
		set = append(set, a.encoded())
	}
	der, err := asn1.Marshal(pkix.RDNSequence{set})
	if err != nil {
		return nil, err
	}
	der, err = inside(der)
	if err != nil {
		return nil, err
	}
	var raw asn1.RawValue
	_, err = asn1.Unmarshal(der, &raw)
	return tagged(1, true, raw.Bytes), err
}

// reasonBits is the content of a bit string.
func (p CRLPoint) reasonBits() []byte {
	bits := asn1.BitString{Bytes: make([]byte, 2)}
	for _, reason := range p.Reasons {
		i := slices.Index(reasons(), reason)
		bits.Bytes[i/8] |= 0x80 >> (i % 8)
		bits.BitLength = max(bits.BitLength, i+1)
	}
	bits.Bytes = bits.Bytes[:(bits.BitLength+7)/8]
	unused := byte(8*len(bits.Bytes) - bits.BitLength)
	return append([]byte{unused}, bits.Bytes...)
}
