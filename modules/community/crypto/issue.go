package crypto

import (
	"context"
	"crypto/x509"
	"errors"
	"math/big"
	"os"
	"time"

	"hark/modules"
	"hark/modules/community/crypto/internal/pki"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
)

// issueArgs are the arguments of x509_certificate and x509_certificate_pipe.
type issueArgs struct {
	Force            bool    `arg:"force,default=no" doc:"Make a new certificate whatever is there."`
	CSRPath          *string `arg:"csr_path,type=path" doc:"The request's file."`
	CSRContent       *string `arg:"csr_content" doc:"The request itself."`
	IgnoreTimestamps bool    `arg:"ignore_timestamps,default=yes" doc:"Take a certificate with other times for the right one. Times that are told from now on are always others."`
	Backend          string  `arg:"select_crypto_backend,default=auto,choices=auto|cryptography" doc:"Means nothing here: no library of the host is needed."`
	KeyPath          *string `arg:"privatekey_path,type=path" doc:"The key's file."`
	KeyContent       *string `arg:"privatekey_content,nolog" doc:"The key itself."`
	KeyPassphrase    *string `arg:"privatekey_passphrase,nolog" doc:"What the key is encrypted with."`

	SelfVersion   int    `arg:"selfsigned_version,default=3" doc:"The version of the form: 3."`
	SelfDigest    string `arg:"selfsigned_digest,default=sha256" doc:"What the certificate is signed with: sha1, sha256, sha384, sha512."`
	SelfNotBefore string `arg:"selfsigned_not_before,default=+0s,alias=selfsigned_notBefore" doc:"When it begins to hold: +32w1d2h from now, or 20300102030405Z."`
	SelfNotAfter  string `arg:"selfsigned_not_after,default=+3650d,alias=selfsigned_notAfter" doc:"When it ends."`
	SelfKeyID     string `arg:"selfsigned_create_subject_key_identifier,default=create_if_not_provided,choices=create_if_not_provided|always_create|never_create" doc:"Whether to make an identifier of the key."`

	CAPath           *string `arg:"ownca_path,type=path" doc:"File of the CA's certificate."`
	CAContent        *string `arg:"ownca_content" doc:"The CA's certificate itself."`
	CAKeyPath        *string `arg:"ownca_privatekey_path,type=path" doc:"File of the CA's key."`
	CAKeyContent     *string `arg:"ownca_privatekey_content,nolog" doc:"The CA's key itself."`
	CAKeyPassphrase  *string `arg:"ownca_privatekey_passphrase,nolog" doc:"What the CA's key is encrypted with."`
	CADigest         string  `arg:"ownca_digest,default=sha256" doc:"What the certificate is signed with: sha1, sha256, sha384, sha512."`
	CAVersion        int     `arg:"ownca_version,default=3" doc:"The version of the form: 3."`
	CANotBefore      string  `arg:"ownca_not_before,default=+0s" doc:"When it begins to hold."`
	CANotAfter       string  `arg:"ownca_not_after,default=+3650d" doc:"When it ends."`
	CAKeyID          string  `arg:"ownca_create_subject_key_identifier,default=create_if_not_provided,choices=create_if_not_provided|always_create|never_create" doc:"Whether to make an identifier of the key."`
	CAAuthorityKeyID bool    `arg:"ownca_create_authority_key_identifier,default=yes" doc:"Whether to name the CA's key."`
	entrustArgs
}

// entrustArgs are the arguments of a provider that hark does not speak with.
type entrustArgs struct {
	EntrustType   string  `arg:"entrust_cert_type,default=STANDARD_SSL,choices=STANDARD_SSL|ADVANTAGE_SSL|UC_SSL|EV_SSL|WILDCARD_SSL|PRIVATE_SSL|PD_SSL|CDS_ENT_LITE|CDS_ENT_PRO|SMIME_ENT" doc:"For provider entrust, which hark does not speak with."`
	EntrustEmail  *string `arg:"entrust_requester_email" doc:"For provider entrust."`
	EntrustName   *string `arg:"entrust_requester_name" doc:"For provider entrust."`
	EntrustPhone  *string `arg:"entrust_requester_phone" doc:"For provider entrust."`
	EntrustUser   *string `arg:"entrust_api_user" doc:"For provider entrust."`
	EntrustKey    *string `arg:"entrust_api_key,nolog" doc:"For provider entrust."`
	EntrustCert   *string `arg:"entrust_api_client_cert_path,type=path" doc:"For provider entrust."`
	EntrustCertK  *string `arg:"entrust_api_client_cert_key_path,type=path,nolog" doc:"For provider entrust."`
	EntrustSpec   string  `arg:"entrust_api_specification_path,type=path,default=https://cloud.entrust.net/EntrustCloud/documentation/cms-api-2.1.0.yaml" doc:"For provider entrust."`
	EntrustExpiry string  `arg:"entrust_not_after,default=+365d" doc:"For provider entrust."`
}

func issueRules() modules.Rules {
	return modules.Rules{
		Exclusive: [][]string{
			{"csr_path", "csr_content"}, {"privatekey_path", "privatekey_content"},
			{"ownca_path", "ownca_content"}, {"ownca_privatekey_path", "ownca_privatekey_content"},
		},
		If: []modules.RequiredIf{{Param: "provider", Value: "entrust", Names: []string{
			"entrust_requester_email", "entrust_requester_name", "entrust_requester_phone", "entrust_api_user", "entrust_api_key",
			"entrust_api_client_cert_path", "entrust_api_client_cert_key_path",
		}}},
	}
}

// issue is a certificate as it is and as it shall be.
type issue struct {
	issueArgs
	// What the provider decides.
	digest              string
	keyID               string // create_if_not_provided, always_create or never_create
	authorityKeyID      bool
	notBefore, notAfter time.Time // zero: the provider's business
	serial              *big.Int
	key                 pki.PrivateKey // the subject's, nil if it was not given
	request             *x509.CertificateRequest
	ca                  *x509.Certificate // nil: self signed, or signed elsewhere
	caKey               pki.PrivateKey
	fetch               func() ([]byte, error) // has it made elsewhere

	old   []byte // nil: there is none
	fresh []byte // nil: the old one stays
}

// prepare has what the provider needs.
func (c *issue) prepare(ctx context.Context, env *modules.Env, provider string, acme *acmeArgs) error {
	switch provider {
	case "selfsigned":
		return c.prepareSelf()
	case "ownca":
		return c.prepareCA()
	case "acme":
		return c.prepareACME(ctx, env, acme)
	}
	return tool.Fail(nil, "the provider %s is not supported", provider)
}

func (c *issue) prepareSelf() error {
	switch {
	case c.KeyPath == nil && c.KeyContent == nil:
		return tool.Fail(nil, "One of privatekey_path and privatekey_content must be specified for the selfsigned provider.")
	case c.SelfVersion == 2:
		return errVersion()
	}
	c.digest, c.keyID = c.SelfDigest, c.SelfKeyID
	if err := c.times("selfsigned", c.SelfNotBefore, c.SelfNotAfter); err != nil {
		return err
	}
	if err := c.needRequest(false); err != nil {
		return err
	}
	if c.KeyContent == nil && !fsx.Exists(modules.Text(c.KeyPath)) {
		return tool.Fail(nil, "The private key file %s does not exist", modules.Text(c.KeyPath))
	}
	if err := c.load(); err != nil {
		return err
	}
	err := pki.CanSign(c.key, c.digest)
	switch {
	case errors.Is(err, pki.ErrDigest) && c.request == nil:
		return tool.Fail(nil, `Unsupported digest "%s"`, c.digest)
	case errors.Is(err, pki.ErrDigest):
		return errDigest(c.digest)
	case err != nil:
		return tool.Fail(nil, "%v", err)
	}
	c.caKey = c.key
	if c.request != nil {
		return nil
	}
	empty, err := pki.Name{}.DER()
	if err != nil {
		return err
	}
	raw, err := pki.Request(pki.Subject{Name: empty}, c.key, c.digest)
	if err != nil {
		return tool.Fail(nil, "%v", err)
	}
	c.request, err = pki.LoadRequest(raw)
	return err
}

func errVersion() error {
	return tool.Fail(nil, "The cryptography backend does not support v2 certificates")
}

func errDigest(digest string) error {
	return tool.Fail(nil, "The digest %s is not supported with the cryptography backend", digest)
}

func (c *issue) prepareCA() error {
	switch {
	case c.CAPath == nil && c.CAContent == nil:
		return tool.Fail(nil, "One of ownca_path and ownca_content must be specified for the ownca provider.")
	case c.CAKeyPath == nil && c.CAKeyContent == nil:
		return tool.Fail(nil, "One of ownca_privatekey_path and ownca_privatekey_content must be specified for the ownca provider.")
	case c.CAVersion == 2:
		return errVersion()
	}
	c.digest, c.keyID, c.authorityKeyID = c.CADigest, c.CAKeyID, c.CAAuthorityKeyID
	if err := c.times("ownca", c.CANotBefore, c.CANotAfter); err != nil {
		return err
	}
	if err := c.needRequest(true); err != nil {
		return err
	}
	switch {
	case c.CAContent == nil && !fsx.Exists(modules.Text(c.CAPath)):
		return tool.Fail(nil, "The CA certificate file %s does not exist", modules.Text(c.CAPath))
	case c.CAKeyContent == nil && !fsx.Exists(modules.Text(c.CAKeyPath)):
		return tool.Fail(nil, "The CA private key file %s does not exist", modules.Text(c.CAKeyPath))
	}
	if err := c.load(); err != nil {
		return err
	}
	raw, err := readEither(c.CAPath, c.CAContent)
	if err != nil {
		return err
	}
	if c.ca, err = pki.LoadCertificate(raw); err != nil {
		return tool.Fail(nil, "%v", err)
	}
	if c.caKey, err = readKey(c.CAKeyPath, c.CAKeyContent, c.CAKeyPassphrase); err != nil {
		return err
	}
	if !pki.SameKey(c.ca.PublicKey, c.caKey.Public()) {
		return tool.Fail(nil, "The CA private key does not belong to the CA certificate")
	}
	switch err := pki.CanSign(c.caKey, c.digest); {
	case errors.Is(err, pki.ErrDigest):
		return errDigest(c.digest)
	case err != nil:
		return tool.Fail(nil, "%v", err)
	}
	return nil
}

func (c *issue) times(provider, before, after string) (err error) {
	if c.notBefore, err = readTime(before, provider+"_not_before"); err != nil {
		return err
	}
	if c.notAfter, err = readTime(after, provider+"_not_after"); err != nil {
		return err
	}
	c.serial, err = pki.NewSerial()
	return err
}

// needRequest fails unless the request is there; one that is not required may not have been given.
func (c *issue) needRequest(required bool) error {
	switch {
	case required && c.CSRContent == nil && c.CSRPath == nil:
		return tool.Fail(nil, "csr_path or csr_content is required for ownca provider")
	case c.CSRPath != nil && !fsx.Exists(*c.CSRPath):
		return tool.Fail(nil, "The certificate signing request file %s does not exist", *c.CSRPath)
	}
	return nil
}

// load loads key and request, as far as they were given.
func (c *issue) load() error {
	var err error
	if c.key == nil && (c.KeyPath != nil || c.KeyContent != nil) {
		if c.key, err = readKey(c.KeyPath, c.KeyContent, c.KeyPassphrase); err != nil {
			return err
		}
	}
	if c.CSRPath == nil && c.CSRContent == nil {
		return nil
	}
	raw, err := readEither(c.CSRPath, c.CSRContent)
	if err != nil {
		return err
	}
	if c.request, err = pki.LoadRequest(raw); err != nil {
		return tool.Fail(nil, "%v", err)
	}
	return nil
}

// readEither is a file's content, or the content that an argument holds.
func readEither(path, content *string) ([]byte, error) {
	if content != nil {
		return []byte(*content), nil
	}
	raw, err := os.ReadFile(modules.Text(path))
	if err != nil {
		return nil, tool.Fail(nil, "%s", oserr.Path(err, modules.Text(path)))
	}
	return raw, nil
}
