package crypto

import (
	"bytes"
	"context"
	"crypto/x509"

	"hark/modules"
	"hark/modules/community/crypto/internal/pki"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type certificateInfoArgs struct {
	namedArgs
	ValidAt *value.Dict `arg:"valid_at" doc:"Times by any name, +3d from now or 20300102030405Z, of which to tell whether the certificate holds then."`
}

// X509CertificateInfo is community.crypto.x509_certificate_info.
var X509CertificateInfo = modules.Define("community.crypto.x509_certificate_info", "Tell what is in certificates", runCertificateInfo,
	modules.WithRules(eitherRules()),
	modules.Documented(`- community.crypto.x509_certificate_info: {path: /etc/ssl/app.crt, valid_at: {soon: +3w}}
  register: certificate
- ansible.builtin.assert: {that: certificate.valid_at.soon}
`, append(nameReturns(),
		modules.Return{Name: "issuer", Type: "dict", When: "success", Doc: "Who signed it; of several parts of a kind the last."},
		modules.Return{Name: "issuer_ordered", Type: "list", When: "success", Doc: "The same as pairs."},
		modules.Return{Name: "signature_algorithm", Type: "str", When: "success", Doc: "How it was signed."},
		modules.Return{Name: "version", Type: "int", When: "success", Doc: "The version of the form."},
		modules.Return{Name: "not_before", Type: "str", When: "success", Doc: "When it begins to hold."},
		modules.Return{Name: "not_after", Type: "str", When: "success", Doc: "When it ends."},
		modules.Return{Name: "expired", Type: "bool", When: "success", Doc: "Whether it has ended."},
		modules.Return{Name: "valid_at", Type: "dict", When: "success", Doc: "Whether it holds at the times that were given."},
		modules.Return{Name: "fingerprints", Type: "dict", When: "success", Doc: "Its sums by algorithm."},
		modules.Return{Name: "serial_number", Type: "int", When: "success", Doc: "Its number."},
		modules.Return{Name: "ocsp_uri", Type: "str", When: "success", Doc: "Where to ask for its standing."},
		modules.Return{Name: "issuer_uri", Type: "str", When: "success", Doc: "Where the certificate is of who signed it."},
	)...))

func runCertificateInfo(_ context.Context, _ *modules.Env, a certificateInfoArgs) (modules.Result, error) {
	raw, err := a.read(a.Content, "certificate", nil)
	if err != nil {
		return modules.Result{}, err
	}
	var cert *x509.Certificate
	if a.Content == nil && !bytes.Contains(raw, []byte("-----BEGIN ")) {
		if cert, err = x509.ParseCertificate(raw); err != nil {
			return modules.Result{}, tool.Fail(nil, "Cannot parse DER certificate: %v", err)
		}
	} else if cert, err = pki.LoadCertificate(raw); err != nil {
		return modules.Result{}, tool.Fail(nil, "%v", err)
	}
	info, err := pki.CertificateInfo(cert, pki.Style{Names: pki.Encoding(a.Encoding)})
	if err != nil {
		return modules.Result{}, tool.Fail(nil, "%v", err)
	}
	res := modules.Result{Data: info}
	res.Set("changed", modules.Here)
	valid := value.NewDict()
	for i := range a.ValidAt.Len() {
		k, given := a.ValidAt.At(i)
		name := modules.Str(k)
		s, ok := value.Text(given)
		if !ok {
			return modules.Result{}, tool.Fail(nil, "The value for valid_at.%s must be of type string (got %s)", name, modules.TypeName(given))
		}
		t, err := readTime(s, "valid_at."+name)
		if err != nil {
			return modules.Result{}, err
		}
		valid.Put(name, !t.Before(cert.NotBefore) && !t.After(cert.NotAfter))
	}
	res.Set("valid_at", valid)
	return res, nil
}
