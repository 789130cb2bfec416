package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"slices"
	"time"

	"hark/modules/py/value"
)

// Style says how to tell of something.
type Style struct {
	Names Encoding
	// Brief leaves out all fingerprints but one.
	Brief bool
}

func (s Style) fingerprints(der []byte) *value.Dict {
	if s.Brief {
		return sha256Of(der)
	}
	return Fingerprints(der)
}

// KeyInfo is what there is to tell of a public key: type, public_data, public_key and public_key_fingerprints.
func KeyInfo(key crypto.PublicKey, s Style) (*value.Dict, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	kind, size := KindOf(key)
	data := value.NewDict()
	switch k := key.(type) {
	case *rsa.PublicKey:
		data.Put("size", int64(size))
		data.Put("modulus", k.N)
		data.Put("exponent", int64(k.E))
	case *ecdsa.PublicKey:
		data.Put("curve", CurveName(k.Curve))
		if point, err := k.Bytes(); err == nil {
			half := len(point) / 2
			data.Put("x", new(big.Int).SetBytes(point[1:1+half]))
			data.Put("y", new(big.Int).SetBytes(point[1+half:]))
		}
		data.Put("exponent_size", int64(size))
	}
	return value.DictOf(
		"public_key", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
		"public_key_fingerprints", s.fingerprints(der), "type", kind, "public_data", data,
	), nil
}

// RequestInfo is what there is to tell of a request, in Ansible's order.
func RequestInfo(r *x509.CertificateRequest, s Style) (*value.Dict, error) {
	m := value.NewDict()
	if err := addName(m, "subject", r.RawSubject); err != nil {
		return nil, err
	}
	d := &details{Dict: m, style: s, extensions: r.Extensions}
	d.usages()
	d.names()
	d.key(r.PublicKey)
	d.keyIDs()
	d.all()
	m.Put("signature_valid", r.CheckSignature() == nil)
	return m, d.err
}

// Timestamp is how times are written.
const Timestamp = "20060102150405Z"

// CertificateInfo is what there is to tell of a certificate, in Ansible's order.
func CertificateInfo(c *x509.Certificate, s Style) (*value.Dict, error) {
	m := value.NewDict()
	m.Put("signature_algorithm", signatureAlgorithm(c.Raw))
	if err := addName(m, "subject", c.RawSubject); err != nil {
		return nil, err
	}
	if err := addName(m, "issuer", c.RawIssuer); err != nil {
		return nil, err
	}
	m.Put("version", int64(c.Version))
	d := &details{Dict: m, style: s, extensions: c.Extensions}
	d.usages()
	d.altNames()
	m.Put("not_before", c.NotBefore.UTC().Format(Timestamp))
	m.Put("not_after", c.NotAfter.UTC().Format(Timestamp))
	m.Put("expired", c.NotAfter.Before(time.Now()))
	d.key(c.PublicKey)
	m.Put("fingerprints", s.fingerprints(c.Raw))
	d.keyIDs()
	m.Put("serial_number", c.SerialNumber)
	d.all()
	m.Put("ocsp_uri", first(c.OCSPServer))
	m.Put("issuer_uri", first(c.IssuingCertificateURL))
	return m, d.err
}

func first(list []string) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func signatureAlgorithm(der []byte) string {
	var outer struct {
		Signed    asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &outer); err != nil {
		return ""
	}
	return LongName(outer.Algorithm.Algorithm)
}

// addName tells of a name twice: as a mapping, in which the last of a kind counts, and as a list of pairs.
func addName(m *value.Dict, key string, der []byte) error {
	name, err := ParseName(der)
	if err != nil {
		return err
	}
	byType, pairs := value.NewDict(), []any{}
	for _, a := range name {
		long := LongName(a.OID)
		pairs = append(pairs, []any{long, a.Value})
		byType.Put(long, a.Value)
	}
	m.Put(key, byType)
	m.Put(key+"_ordered", pairs)
	return nil
}

// details adds what extensions and keys tell. The first error stays.
type details struct {
	*value.Dict
	style      Style
	extensions []pkix.Extension
	err        error
}

func (d *details) note(err error) {
	if d.err == nil {
		d.err = err
	}
}

// find is an extension, nil if it is not there.
func (d *details) find(oid asn1.ObjectIdentifier) *pkix.Extension {
	i := slices.IndexFunc(d.extensions, func(e pkix.Extension) bool { return e.Id.Equal(oid) })
	if i < 0 {
		return nil
	}
	return &d.extensions[i]
}

// tell adds what show makes of an extension, null if it is not there, and whether it is critical.
func (d *details) tell(key string, oid asn1.ObjectIdentifier, show func(der []byte) (any, error)) {
	ext := d.find(oid)
	if ext == nil {
		d.Put(key, nil)
		d.Put(key+"_critical", false)
		return
	}
	v, err := show(ext.Value)
	d.note(err)
	d.Put(key, v)
	d.Put(key+"_critical", ext.Critical)
}

func (d *details) usages() {
	d.tell("key_usage", oidKeyUsage(), func(der []byte) (any, error) {
		var bits asn1.BitString
		_, err := asn1.Unmarshal(der, &bits)
		shown := []string{}
		for i, n := range usageNames() {
			if bits.At(i) == 1 {
				shown = append(shown, n[1])
			}
		}
		slices.Sort(shown)
		return shown, err
	})
	d.tell("extended_key_usage", oidExtKeyUsage(), func(der []byte) (any, error) {
		var list []asn1.ObjectIdentifier
		_, err := asn1.Unmarshal(der, &list)
		shown := make([]string, len(list))
		for i, oid := range list {
			shown[i] = LongName(oid)
		}
		slices.Sort(shown)
		return shown, err
	})
	d.tell("basic_constraints", oidBasic(), func(der []byte) (any, error) {
		b := basic{PathLen: -1}
		_, err := asn1.Unmarshal(der, &b)
		return b.shown(), err
	})
	d.tell("ocsp_must_staple", oidTLSFeature(), func(der []byte) (any, error) {
		var list []int
		_, err := asn1.Unmarshal(der, &list)
		const statusRequest = 5
		return slices.Contains(list, statusRequest), err
	})
}

func (d *details) altNames() {
	d.tell("subject_alt_name", oidAltName(), func(der []byte) (any, error) {
		body, err := inside(der)
		if err != nil {
			return nil, err
		}
		return showGenerals(body, d.style.Names)
	})
}

// names adds the names that requests tell of.
func (d *details) names() {
	d.altNames()
	ext := d.find(oidNameConstraint())
	if ext == nil {
		d.Put("name_constraints_permitted", nil)
		d.Put("name_constraints_excluded", nil)
		d.Put("name_constraints_critical", false)
		return
	}
	permitted, excluded, err := constraints(ext.Value, d.style.Names)
	d.note(err)
	d.Put("name_constraints_permitted", permitted)
	d.Put("name_constraints_excluded", excluded)
	d.Put("name_constraints_critical", ext.Critical)
}

func (d *details) key(key crypto.PublicKey) {
	info, err := KeyInfo(key, d.style)
	d.note(err)
	d.Put("public_key", entry(info, "public_key"))
	d.Put("public_key_type", entry(info, "type"))
	d.Put("public_key_data", entry(info, "public_data"))
	d.Put("public_key_fingerprints", entry(info, "public_key_fingerprints"))
}

// entry is what a dict has under a key, nil for nothing.
func entry(d *value.Dict, key string) any {
	v, _ := d.Get(key)
	return v
}

func (d *details) keyIDs() {
	var subject, authority, issuers, serial any
	if ext := d.find(oidSubjectKeyID()); ext != nil {
		var id []byte
		_, err := asn1.Unmarshal(ext.Value, &id)
		d.note(err)
		subject = Colons(id)
	}
	if ext := d.find(oidAuthorityKey()); ext != nil {
		a, err := parseAuthority(ext.Value, d.style.Names)
		d.note(err)
		if a.KeyID != nil {
			authority = Colons(a.KeyID)
		}
		if a.Issuers != nil {
			issuers = a.Issuers
		}
		if a.Serial != nil {
			serial = a.Serial
		}
	}
	d.Put("subject_key_identifier", subject)
	d.Put("authority_key_identifier", authority)
	d.Put("authority_cert_issuer", issuers)
	d.Put("authority_cert_serial_number", serial)
}

// all adds every extension as it stands.
func (d *details) all() {
	byOID := value.NewDict()
	for _, e := range d.extensions {
		byOID.Put(e.Id.String(), value.DictOf("critical", e.Critical, "value", base64.StdEncoding.EncodeToString(e.Value)))
	}
	d.Put("extensions_by_oid", byOID)
}
