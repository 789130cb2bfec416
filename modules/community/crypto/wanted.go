package crypto

import (
	"crypto/x509/pkix"

	"hark/modules/community/crypto/internal/pki"
)

// wanted are the extensions that a request asks for, in the order in which it has them.
func (r *request) wanted() ([]pkix.Extension, error) {
	var list []pkix.Extension
	for _, e := range []struct {
		given bool
		make  func() (pkix.Extension, error)
	}{
		{len(r.AltNames) > 0, func() (pkix.Extension, error) { return pki.AltNames(r.AltNames, r.AltNamesCritical) }},
		{len(r.Usage) > 0, func() (pkix.Extension, error) { return pki.KeyUsage(r.Usage, r.UsageCritical) }},
		{len(r.ExtUsage) > 0, func() (pkix.Extension, error) { return pki.ExtendedKeyUsage(r.ExtUsage, r.ExtUsageCritical) }},
		{len(r.Basic) > 0, func() (pkix.Extension, error) { return pki.BasicConstraints(r.Basic, r.BasicCritical) }},
		{r.Staple, func() (pkix.Extension, error) { return pki.MustStaple(r.StapleCritical), nil }},
		{len(r.Permitted)+len(r.Excluded) > 0, func() (pkix.Extension, error) {
			return pki.NameConstraints(r.Permitted, r.Excluded, r.NamesCritical)
		}},
		{r.CreateKeyID || r.KeyID != nil, r.subjectKeyID},
		{r.AuthorityKeyID != nil || r.AuthorityIssuer != nil || r.serial != nil, r.authorityKeyID},
		{len(r.CRLPoints) > 0, r.crlPoints},
	} {
		if !e.given {
			continue
		}
		ext, err := e.make()
		if err != nil {
			return nil, err
		}
		list = append(list, ext)
	}
	return list, nil
}

func (r *request) subjectKeyID() (pkix.Extension, error) {
	if r.KeyID != nil {
		id, err := pki.ParseHex(*r.KeyID)
		return pki.SubjectKeyID(id), err
	}
	id, err := pki.KeyID(r.key.Public())
	return pki.SubjectKeyID(id), err
}

func (r *request) authorityKeyID() (pkix.Extension, error) {
	a := pki.Authority{Issuers: r.AuthorityIssuer, Serial: r.serial}
	if r.AuthorityKeyID != nil {
		var err error
		if a.KeyID, err = pki.ParseHex(*r.AuthorityKeyID); err != nil {
			return pkix.Extension{}, err
		}
	}
	return pki.AuthorityKeyID(a)
}

func (r *request) crlPoints() (pkix.Extension, error) {
	var points []pki.CRLPoint
	for _, p := range r.CRLPoints {
		points = append(points, pki.CRLPoint{FullName: p.FullName, RelativeName: p.RelativeName, Issuer: p.CRLIssuer, Reasons: p.Reasons})
	}
	return pki.CRLPoints(points)
}
