package crypto

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"slices"

	"hark/modules"
	"hark/modules/community/crypto/internal/pki"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// needsNew tells whether the old certificate is not what is asked for.
func (c *issue) needsNew() bool {
	if c.Force || c.old == nil {
		return true
	}
	old, err := pki.LoadCertificate(c.old)
	if err != nil {
		return true
	}
	switch {
	case c.key != nil && !pki.SameKey(old.PublicKey, c.key.Public()):
		return true
	case c.request != nil && !c.answers(old):
		return true
	case c.keyID != "never_create" && !c.keyIDFits(old):
		return true
	case !c.notBefore.IsZero() && !c.IgnoreTimestamps && (!old.NotBefore.Equal(c.notBefore) || !old.NotAfter.Equal(c.notAfter)):
		return true
	case c.fetch != nil:
		return false
	case !pki.SignedBy(old, c.caKey.Public()):
		return true
	}
	return c.ca != nil && !c.isFromCA(old)
}

// answers tells whether the certificate is what the request asks for.
func (c *issue) answers(old *x509.Certificate) bool {
	return c.request.CheckSignature() == nil && pki.SameKey(c.request.PublicKey, old.PublicKey) &&
		bytes.Equal(c.request.RawSubject, old.RawSubject) &&
		slices.Equal(c.judged(c.request.Extensions), c.judged(old.Extensions))
}

// judged are the extensions but for those that the provider decides on, sorted.
func (c *issue) judged(list []pkix.Extension) []string {
	var out []string
	for _, e := range list {
		if pki.IsSubjectKeyID(e) && c.keyID != "never_create" || pki.IsAuthorityKeyID(e) && c.authorityKeyID {
			continue
		}
		out = append(out, e.Id.String()+" "+map[bool]string{true: "critical "}[e.Critical]+string(e.Value))
	}
	slices.Sort(out)
	return out
}

// keyIDFits tells whether the key's identifier is that of the request or, without one, the usual one.
func (c *issue) keyIDFits(old *x509.Certificate) bool {
	have := find(old.Extensions, pki.IsSubjectKeyID)
	if have == nil {
		return false
	}
	if c.keyID == "create_if_not_provided" && c.request != nil {
		if asked := find(c.request.Extensions, pki.IsSubjectKeyID); asked != nil {
			return bytes.Equal(have.Value, asked.Value)
		}
	}
	id, err := pki.KeyID(old.PublicKey)
	return err == nil && bytes.Equal(have.Value, pki.SubjectKeyID(id).Value)
}

func find(list []pkix.Extension, is func(pkix.Extension) bool) *pkix.Extension {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return &list[i]
	}
	return nil
}

func (c *issue) isFromCA(old *x509.Certificate) bool {
	if !bytes.Equal(c.ca.RawSubject, old.RawIssuer) {
		return false
	}
	if !c.authorityKeyID {
		return true
	}
	want, err := c.authority()
	have := find(old.Extensions, pki.IsAuthorityKeyID)
	return err == nil && have != nil && bytes.Equal(have.Value, want.Value)
}

// authority names the CA's key as its certificate does.
func (c *issue) authority() (pkix.Extension, error) {
	id := c.ca.SubjectKeyId
	if len(id) == 0 {
		var err error
		if id, err = pki.KeyID(c.ca.PublicKey); err != nil {
			return pkix.Extension{}, err
		}
	}
	return pki.AuthorityKeyID(pki.Authority{KeyID: id})
}

// make makes the new one.
func (c *issue) make() error {
	var err error
	if c.fetch != nil {
		c.fresh, err = c.fetch()
		return err
	}
	cert := pki.Certificate{
		PublicKey: c.request.PublicKey, Issuer: c.request.RawSubject, Serial: c.serial, NotBefore: c.notBefore, NotAfter: c.notAfter,
	}
	if c.ca == nil {
		cert.PublicKey = c.key.Public()
	} else {
		cert.Issuer = c.ca.RawSubject
	}
	cert.Name = c.request.RawSubject
	if cert.Extensions, err = c.extensions(cert.PublicKey); err == nil {
		c.fresh, err = cert.Sign(c.caKey, c.digest)
	}
	var told *modules.Ended
	if err != nil && !errors.As(err, &told) {
		return tool.Fail(nil, "%v", err)
	}
	return err
}

// extensions are those that were asked for, with what the provider adds.
func (c *issue) extensions(key any) ([]pkix.Extension, error) {
	var list []pkix.Extension
	named := false
	for _, e := range c.request.Extensions {
		switch {
		case pki.IsSubjectKeyID(e) && c.keyID == "always_create", pki.IsAuthorityKeyID(e) && c.authorityKeyID:
			continue
		case pki.IsSubjectKeyID(e):
			named = true
		}
		list = append(list, e)
	}
	if !named && c.keyID != "never_create" {
		id, err := pki.KeyID(key)
		if err != nil {
			return nil, err
		}
		list = append(list, pki.SubjectKeyID(id))
	}
	if c.authorityKeyID {
		e, err := c.authority()
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// tell adds to the result what there is to tell.
func (c *issue) tell(res *modules.Result, check, content bool) error {
	now := c.old
	if c.fresh != nil {
		now = c.fresh
	}
	res.Set("privatekey", modules.TextOrNil(c.KeyPath))
	res.Set("csr", modules.TextOrNil(c.CSRPath))
	if content {
		res.Set("certificate", nil)
		if len(now) > 0 {
			res.Set("certificate", string(now))
		}
	}
	res.Set("diff", modules.Here)
	res.Diff = []modules.Diff{{Raw: value.DictOf("before", certificateDiff(c.old), "after", certificateDiff(now))}}
	if c.ca != nil {
		res.Set("ca_cert", modules.TextOrNil(c.CAPath))
		res.Set("ca_privatekey", modules.TextOrNil(c.CAKeyPath))
	}
	if c.fetch != nil {
		return nil
	}
	notBefore, notAfter, serial := c.notBefore, c.notAfter, c.serial
	if !check {
		made, err := pki.LoadCertificate(now)
		if err != nil {
			return tool.Fail(nil, "%v", err)
		}
		notBefore, notAfter, serial = made.NotBefore, made.NotAfter, made.SerialNumber
	}
	res.Set("notBefore", notBefore.UTC().Format(pki.Timestamp))
	res.Set("notAfter", notAfter.UTC().Format(pki.Timestamp))
	res.Set("serial_number", serial)
	return nil
}

// certificateDiff is what a diff tells of a certificate.
func certificateDiff(raw []byte) any {
	return infoDiff(raw, "can_parse_certificate", func() (*value.Dict, error) {
		c, err := pki.LoadCertificate(raw)
		if err != nil {
			return nil, err
		}
		return pki.CertificateInfo(c, pki.Style{Names: pki.AsIs, Brief: true})
	})
}
