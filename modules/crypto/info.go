package crypto

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"math/big"
	"os"

	"hark/modules"
	"hark/modules/crypto/internal/pki"
	"hark/modules/internal/oserr"
	"hark/modules/internal/tool"
)

// infoArgs are what modules that only tell have in common.
type infoArgs struct {
	Path    *string `arg:"path,type=path" doc:"The file."`
	Backend string  `arg:"select_crypto_backend,default=auto,choices=auto|cryptography" doc:"Means nothing here: no library of the host is needed."`
}

// namedArgs are those of the modules that tell of names.
type namedArgs struct {
	infoArgs
	Content  *string `arg:"content" doc:"What would be in the file."`
	Encoding string  `arg:"name_encoding,default=ignore,choices=ignore|idna|unicode" doc:"How to show names of hosts: as they stand, with xn-- or without."`
}

func eitherRules() modules.Rules {
	return modules.Rules{OneOf: [][]string{{"path", "content"}}, Exclusive: [][]string{{"path", "content"}}}
}

// read is the content of the file or the argument; what names it in messages.
func (a *infoArgs) read(content *string, what string, data map[string]any) ([]byte, error) {
	if content != nil {
		return []byte(*content), nil
	}
	raw, err := os.ReadFile(modules.Text(a.Path))
	if err != nil {
		return nil, tool.Fail(data, "Error while reading %s file from disk: %s", what, oserr.Path(err, modules.Text(a.Path)))
	}
	return raw, nil
}

// setAll adds the members of an Object to a result.
func setAll(res *modules.Result, o modules.Object) {
	for key, v := range o.Each {
		res.Set(key, v)
	}
}

type csrInfoArgs struct{ namedArgs }

// OpensslCSRInfo is community.crypto.openssl_csr_info.
var OpensslCSRInfo = modules.Define("community.crypto.openssl_csr_info", "Tell what is in certificate signing requests", runCSRInfo,
	modules.WithRules(eitherRules()),
	modules.Documented("- community.crypto.openssl_csr_info: {path: /etc/ssl/app.csr}\n  register: request\n",
		append(nameReturns(),
			modules.Return{Name: "name_constraints_permitted", Type: "list", When: "success", Doc: "Names that it may certify, null without such."},
			modules.Return{Name: "name_constraints_excluded", Type: "list", When: "success", Doc: "Names that it may not."},
			modules.Return{Name: "signature_valid", Type: "bool", When: "success", Doc: "Whether it was signed with its key."},
		)...))

func nameReturns() []modules.Return {
	return []modules.Return{
		{Name: "subject", Type: "dict", When: "success", Doc: "The parts of the subject; of several of a kind the last."},
		{Name: "subject_ordered", Type: "list", When: "success", Doc: "The parts of the subject as pairs."},
		{Name: "key_usage", Type: "list", When: "success", Doc: "What the key may be used for, null if nothing is said."},
		{Name: "extended_key_usage", Type: "list", When: "success", Doc: "The same by object identifiers."},
		{Name: "basic_constraints", Type: "list", When: "success", Doc: "Whether it is a CA's."},
		{Name: "ocsp_must_staple", Type: "bool", When: "success", Doc: "Whether servers must prove its standing."},
		{Name: "subject_alt_name", Type: "list", When: "success", Doc: "Other names."},
		{Name: "public_key", Type: "str", When: "success", Doc: "The public key."},
		{Name: "public_key_type", Type: "str", When: "success", Doc: "Its algorithm."},
		{Name: "public_key_data", Type: "dict", When: "success", Doc: "Its numbers."},
		{Name: "public_key_fingerprints", Type: "dict", When: "success", Doc: "Its sums by algorithm."},
		{Name: "subject_key_identifier", Type: "str", When: "success", Doc: "The key's identifier."},
		{Name: "authority_key_identifier", Type: "str", When: "success", Doc: "That of the key that signs."},
		{Name: "authority_cert_issuer", Type: "list", When: "success", Doc: "Who signed the certificate of who signs."},
		{Name: "authority_cert_serial_number", Type: "int", When: "success", Doc: "Number of that certificate."},
		{Name: "extensions_by_oid", Type: "dict", When: "success", Doc: "All extensions, as base64."},
	}
}

func runCSRInfo(_ context.Context, _ *modules.Env, a csrInfoArgs) (modules.Result, error) {
	raw, err := a.read(a.Content, "CSR", nil)
	if err != nil {
		return modules.Result{}, err
	}
	r, err := pki.LoadRequest(raw)
	if err != nil {
		return modules.Result{}, tool.Fail(nil, "%v", err)
	}
	info, err := pki.RequestInfo(r, pki.Style{Names: pki.Encoding(a.Encoding)})
	if err != nil {
		return modules.Result{}, tool.Fail(nil, "%v", err)
	}
	res := modules.Result{}
	setAll(&res, info)
	if res.Data["signature_valid"] != true {
		res.Failed, res.Msg = true, "CSR signature is invalid!"
	}
	return res, nil
}

type certificateInfoArgs struct {
	namedArgs
	ValidAt map[string]any `arg:"valid_at" doc:"Times by any name, +3d from now or 20300102030405Z, of which to tell whether the certificate holds then."`
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
	res := modules.Result{}
	setAll(&res, info)
	valid := map[string]any{}
	for name, given := range a.ValidAt {
		s, ok := given.(string)
		if !ok {
			return modules.Result{}, tool.Fail(nil, "The value for valid_at.%s must be of type string (got %s)", name, modules.TypeName(given))
		}
		t, err := readTime(s, "valid_at."+name)
		if err != nil {
			return modules.Result{}, err
		}
		valid[name] = !t.Before(cert.NotBefore) && !t.After(cert.NotAfter)
	}
	res.Set("valid_at", valid)
	return res, nil
}

type privatekeyInfoArgs struct {
	infoArgs
	Content    *string `arg:"content,nolog" doc:"The key itself."`
	Passphrase *string `arg:"passphrase,nolog" doc:"What it is encrypted with."`
	ReturnData bool    `arg:"return_private_key_data,default=no" doc:"Tell the secret numbers too."`
	Check      bool    `arg:"check_consistency,default=no" doc:"Whether to check that its numbers belong together."`
}

// OpensslPrivatekeyInfo is community.crypto.openssl_privatekey_info.
var OpensslPrivatekeyInfo = modules.Define("community.crypto.openssl_privatekey_info", "Tell what is in private keys", runPrivatekeyInfo,
	modules.WithRules(eitherRules()),
	modules.Documented("- community.crypto.openssl_privatekey_info: {path: /etc/ssl/private/app.pem}\n  register: key\n",
		modules.Return{Name: "can_load_key", Type: "bool", When: "always", Doc: "Whether the file could be read."},
		modules.Return{Name: "can_parse_key", Type: "bool", When: "always", Doc: "Whether there is a key in it."},
		modules.Return{Name: "key_is_consistent", Type: "bool", When: "always", Doc: "Whether its numbers belong together; null if that was not checked."},
		modules.Return{Name: "type", Type: "str", When: "success", Doc: "The algorithm."},
		modules.Return{Name: "public_key", Type: "str", When: "success", Doc: "The public key."},
		modules.Return{Name: "public_key_fingerprints", Type: "dict", When: "success", Doc: "Its sums by algorithm."},
		modules.Return{Name: "public_data", Type: "dict", When: "success", Doc: "Its numbers."},
		modules.Return{Name: "private_data", Type: "dict", When: "return_private_key_data", Doc: "The secret numbers."},
	))

func runPrivatekeyInfo(_ context.Context, _ *modules.Env, a privatekeyInfoArgs) (modules.Result, error) {
	data := map[string]any{"can_load_key": false, "can_parse_key": false, "key_is_consistent": nil}
	raw, err := a.read(a.Content, "private key", data)
	if err != nil {
		return modules.Result{}, err
	}
	data["can_load_key"] = true
	content := string(raw)
	key, err := readKey(nil, &content, a.Passphrase)
	if err != nil {
		return modules.Result{}, tool.Fail(data, "%v", err)
	}
	data["can_parse_key"] = true
	info, err := pki.KeyInfo(key.Public(), pki.Style{})
	if err != nil {
		return modules.Result{}, tool.Fail(data, "%v", err)
	}
	for name, v := range info {
		data[name] = v
	}
	if a.ReturnData {
		data["private_data"] = secretNumbers(key)
	}
	// A key whose numbers do not belong together is not read at all. Of X25519 Ansible says nothing.
	if a.Check && info["type"] != "X25519" {
		data["key_is_consistent"] = true
	}
	return modules.Result{Data: data}, nil
}

func secretNumbers(key pki.PrivateKey) any {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return modules.Object{{Key: "p", Value: k.Primes[0]}, {Key: "q", Value: k.Primes[1]}, {Key: "exponent", Value: k.D}}
	case *ecdsa.PrivateKey:
		if b, err := k.Bytes(); err == nil {
			return modules.Object{{Key: "multiplier", Value: new(big.Int).SetBytes(b)}}
		}
	}
	return modules.Object{}
}
