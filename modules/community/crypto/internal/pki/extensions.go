package pki

import (
	"bytes"
	"crypto"
	"crypto/sha1" //nolint:gosec // RFC 5280 names keys by it
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// The extensions that requests can ask for.
func oidSubjectKeyID() asn1.ObjectIdentifier   { return asn1.ObjectIdentifier{2, 5, 29, 14} }
func oidKeyUsage() asn1.ObjectIdentifier       { return asn1.ObjectIdentifier{2, 5, 29, 15} }
func oidAltName() asn1.ObjectIdentifier        { return asn1.ObjectIdentifier{2, 5, 29, 17} }
func oidBasic() asn1.ObjectIdentifier          { return asn1.ObjectIdentifier{2, 5, 29, 19} }
func oidNameConstraint() asn1.ObjectIdentifier { return asn1.ObjectIdentifier{2, 5, 29, 30} }
func oidCRLPoints() asn1.ObjectIdentifier      { return asn1.ObjectIdentifier{2, 5, 29, 31} }
func oidAuthorityKey() asn1.ObjectIdentifier   { return asn1.ObjectIdentifier{2, 5, 29, 35} }
func oidExtKeyUsage() asn1.ObjectIdentifier    { return asn1.ObjectIdentifier{2, 5, 29, 37} }
func oidTLSFeature() asn1.ObjectIdentifier     { return asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24} }

// sequence puts parts that are encoded already into a sequence.
func sequence(parts ...[]byte) []byte {
	der, _ := asn1.Marshal(asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: bytes.Join(parts, nil)})
	return der
}

// inside is the content of a sequence.
func inside(der []byte) ([]byte, error) {
	var raw asn1.RawValue
	if _, err := asn1.Unmarshal(der, &raw); err != nil || raw.Tag != asn1.TagSequence {
		return nil, errors.New("this is no sequence")
	}
	return raw.Bytes, nil
}

func generalNames(texts []string, what string) ([][]byte, error) {
	list := make([][]byte, len(texts))
	var err error
	for i, text := range texts {
		if list[i], err = GeneralName(text, what); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// AltNames are the other names of a subject.
func AltNames(texts []string, critical bool) (pkix.Extension, error) {
	const what = "Subject Alternative Name"
	list, err := generalNames(texts, what)
	if err != nil {
		return pkix.Extension{}, err
	}
	for _, text := range texts {
		// Go's library reads no certificate that has one.
		if strings.HasPrefix(text, "IP:") && strings.Contains(text, "/") {
			return pkix.Extension{}, failf(`Cannot parse %s "%s": a network is no name of a host`, what, text)
		}
	}
	return pkix.Extension{Id: oidAltName(), Critical: critical, Value: sequence(list...)}, err
}

// usageNames are the bits of a key usage: as users write it, and as it is shown.
func usageNames() [][2]string {
	return [][2]string{
		{"digitalSignature", "Digital Signature"}, {"nonRepudiation", "Non Repudiation"}, {"keyEncipherment", "Key Encipherment"},
		{"dataEncipherment", "Data Encipherment"}, {"keyAgreement", "Key Agreement"}, {"keyCertSign", "Certificate Sign"},
		{"cRLSign", "CRL Sign"}, {"encipherOnly", "Encipher Only"}, {"decipherOnly", "Decipher Only"},
	}
}

// KeyUsage is what a key may be used for, by either name.
func KeyUsage(usages []string, critical bool) (pkix.Extension, error) {
	bits := asn1.BitString{Bytes: make([]byte, 2)}
	for _, usage := range usages {
		i := slices.IndexFunc(usageNames(), func(n [2]string) bool { return n[0] == usage || n[1] == usage })
		if i < 0 {
			return pkix.Extension{}, failf("Unknown key usage %s", quoted(usage))
		}
		bits.Bytes[i/8] |= 0x80 >> (i % 8)
		bits.BitLength = max(bits.BitLength, i+1)
	}
	const agreement, encipherOnly, decipherOnly = 4, 7, 8
	if bits.At(agreement) == 0 && bits.At(encipherOnly)+bits.At(decipherOnly) > 0 {
		return pkix.Extension{}, errors.New("encipher_only and decipher_only can only be true when key_agreement is true")
	}
	bits.Bytes = bits.Bytes[:(bits.BitLength+7)/8]
	der, err := asn1.Marshal(bits)
	return pkix.Extension{Id: oidKeyUsage(), Critical: critical, Value: der}, err
}

// ExtendedKeyUsage is the same by names and numbers of object identifiers.
func ExtendedKeyUsage(usages []string, critical bool) (pkix.Extension, error) {
	var list []asn1.ObjectIdentifier
	for _, usage := range usages {
		oid, err := OID(usage)
		if err != nil {
			return pkix.Extension{}, err
		}
		list = append(list, oid)
	}
	der, err := asn1.Marshal(list)
	return pkix.Extension{Id: oidExtKeyUsage(), Critical: critical, Value: der}, err
}

// basic is the value of basic constraints.
type basic struct {
	CA      bool `asn1:"optional"`
	PathLen int  `asn1:"optional,default:-1"`
}

// BasicConstraints reads CA:TRUE, CA:FALSE and pathlen:N.
func BasicConstraints(given []string, critical bool) (pkix.Extension, error) {
	b := basic{PathLen: -1}
	fail := func(format string, a ...any) (pkix.Extension, error) {
		return pkix.Extension{}, fmt.Errorf(format, a...)
	}
	for _, text := range given {
		kind, value, _ := strings.Cut(text, ":")
		switch {
		case text == "CA:TRUE", text == "CA:FALSE":
			b.CA = value == "TRUE"
		case strings.HasPrefix(text, "CA:"):
			return fail(`Unknown basic constraint value "%s" for CA`, value)
		case kind == "pathlen" && strings.Contains(text, ":"):
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil {
				return fail(`Cannot parse path length constraint "%s" (invalid literal for int() with base 10: '%s')`, value, value)
			}
			if n < 0 {
				return fail("path_length must be a non-negative integer or None")
			}
			b.PathLen = n
		default:
			return fail(`Unknown basic constraint "%s"`, text)
		}
	}
	if b.PathLen != -1 && !b.CA {
		return fail("path_length must be None when ca is False")
	}
	der, err := asn1.Marshal(b)
	return pkix.Extension{Id: oidBasic(), Critical: critical, Value: der}, err
}

// MustStaple asks for a server that proves the certificate's standing with every handshake.
func MustStaple(critical bool) pkix.Extension {
	const statusRequest = 5
	der, _ := asn1.Marshal([]int{statusRequest})
	return pkix.Extension{Id: oidTLSFeature(), Critical: critical, Value: der}
}

// NameConstraints bound the names that a CA may certify.
func NameConstraints(permitted, excluded []string, critical bool) (pkix.Extension, error) {
	var parts [][]byte
	for tag, texts := range [][]string{permitted, excluded} {
		if len(texts) == 0 {
			continue
		}
		list, err := generalNames(texts, "name constraints "+[]string{"permitted", "excluded"}[tag])
		if err != nil {
			return pkix.Extension{}, err
		}
		for i := range list {
			list[i] = sequence(list[i])
		}
		parts = append(parts, tagged(tag, true, bytes.Join(list, nil)))
	}
	return pkix.Extension{Id: oidNameConstraint(), Critical: critical, Value: sequence(parts...)}, nil
}

// KeyID is the name of a public key, the first way of RFC 5280 section 4.2.1.2.
func KeyID(key crypto.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return nil, err
	}
	sum := sha1.Sum(info.Key.Bytes)
	return sum[:], nil
}

// SubjectKeyID names the certificate's own key.
func SubjectKeyID(id []byte) pkix.Extension {
	der, _ := asn1.Marshal(id)
	return pkix.Extension{Id: oidSubjectKeyID(), Value: der}
}

// Authority is the key that signs: by its identifier, by the names and the number of its certificate, or both.
type Authority struct {
	KeyID   []byte
	Issuers []string
	Serial  *big.Int
}

// AuthorityKeyID names the key that signs.
func AuthorityKeyID(a Authority) (pkix.Extension, error) {
	var parts [][]byte
	if a.KeyID != nil {
		parts = append(parts, tagged(0, false, a.KeyID))
	}
	if a.Issuers != nil {
		list, err := generalNames(a.Issuers, "authority cert issuer")
		if err != nil {
			return pkix.Extension{}, err
		}
		parts = append(parts, tagged(1, true, bytes.Join(list, nil)))
	}
	if a.Serial != nil {
		der, err := asn1.Marshal(a.Serial)
		if err != nil {
			return pkix.Extension{}, err
		}
		var raw asn1.RawValue
		if _, err := asn1.Unmarshal(der, &raw); err != nil {
			return pkix.Extension{}, err
		}
		parts = append(parts, tagged(2, false, raw.Bytes))
	}
	return pkix.Extension{Id: oidAuthorityKey(), Value: sequence(parts...)}, nil
}

// ParseHex reads bytes as 00:11:22 or 001122.
func ParseHex(text string) ([]byte, error) {
	text = strings.ReplaceAll(text, ":", "")
	b, err := hex.DecodeString(text)
	switch {
	case len(text)%2 != 0:
		return nil, Error("Odd-length string")
	case err != nil:
		return nil, Error("Non-hexadecimal digit found")
	}
	return b, nil
}

// IsSubjectKeyID tells whether an extension names the certificate's own key.
func IsSubjectKeyID(e pkix.Extension) bool { return e.Id.Equal(oidSubjectKeyID()) }

// IsAuthorityKeyID tells whether an extension names the key that signed.
func IsAuthorityKeyID(e pkix.Extension) bool { return e.Id.Equal(oidAuthorityKey()) }
