package crypto

import (
	"crypto/x509/pkix"
	"errors"
	"math/big"

	"hark/modules"
	"hark/modules/community/crypto/internal/pki"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type crlPointArgs struct {
	FullName     []string `arg:"full_name" doc:"Where the list is."`
	RelativeName []string `arg:"relative_name" doc:"Where the list is, seen from its issuer's name."`
	CRLIssuer    []string `arg:"crl_issuer" doc:"Who makes the list."`
	Reasons      []string `arg:"reasons,choices=key_compromise|ca_compromise|affiliation_changed|superseded|cessation_of_operation|certificate_hold|privilege_withdrawn|aa_compromise" doc:"For which reasons of revocation it is."`
}

// requestArgs are the arguments of openssl_csr and openssl_csr_pipe.
type requestArgs struct {
	Digest           string         `arg:"digest,default=sha256" doc:"What the request is signed with: sha1, sha256, sha384, sha512."`
	KeyPath          *string        `arg:"privatekey_path,type=path" doc:"The key's file."`
	KeyContent       *string        `arg:"privatekey_content,nolog" doc:"The key itself."`
	KeyPassphrase    *string        `arg:"privatekey_passphrase,nolog" doc:"What the key is encrypted with."`
	Version          int            `arg:"version,default=1,choices=1" doc:"The version of the form."`
	Subject          *value.Dict    `arg:"subject" doc:"Further parts of the subject, by their long or short names or their numbers; lists for several of a kind."`
	SubjectOrdered   []*value.Dict  `arg:"subject_ordered" doc:"The whole subject: mappings with one part each."`
	Country          *string        `arg:"country_name,alias=C|countryName" doc:"C of the subject."`
	State            *string        `arg:"state_or_province_name,alias=ST|stateOrProvinceName" doc:"ST of the subject."`
	Locality         *string        `arg:"locality_name,alias=L|localityName" doc:"L of the subject."`
	Organization     *string        `arg:"organization_name,alias=O|organizationName" doc:"O of the subject."`
	Unit             *string        `arg:"organizational_unit_name,alias=OU|organizationalUnitName" doc:"OU of the subject."`
	CommonName       *string        `arg:"common_name,alias=CN|commonName" doc:"CN of the subject."`
	Email            *string        `arg:"email_address,alias=E|emailAddress" doc:"emailAddress of the subject."`
	AltNames         []string       `arg:"subject_alt_name,alias=subjectAltName" doc:"Other names: DNS:, IP:, email:, URI:, RID:, dirName: or otherName: and the name."`
	AltNamesCritical bool           `arg:"subject_alt_name_critical,default=no,alias=subjectAltName_critical" doc:"Whether this is critical."`
	CommonNameAsAlt  bool           `arg:"use_common_name_for_san,default=yes,alias=useCommonNameForSAN" doc:"Without other names, make the common name one."`
	Usage            []string       `arg:"key_usage,alias=keyUsage" doc:"What the key may be used for."`
	UsageCritical    bool           `arg:"key_usage_critical,default=no,alias=keyUsage_critical" doc:"Whether this is critical."`
	ExtUsage         []string       `arg:"extended_key_usage,alias=extKeyUsage|extendedKeyUsage" doc:"The same, by names and numbers of object identifiers."`
	ExtUsageCritical bool           `arg:"extended_key_usage_critical,default=no,alias=extKeyUsage_critical|extendedKeyUsage_critical" doc:"Whether this is critical."`
	Basic            []string       `arg:"basic_constraints,alias=basicConstraints" doc:"CA:TRUE or CA:FALSE, pathlen:N."`
	BasicCritical    bool           `arg:"basic_constraints_critical,default=no,alias=basicConstraints_critical" doc:"Whether this is critical."`
	Staple           bool           `arg:"ocsp_must_staple,default=no,alias=ocspMustStaple" doc:"Demand that servers prove the certificate's standing."`
	StapleCritical   bool           `arg:"ocsp_must_staple_critical,default=no,alias=ocspMustStaple_critical" doc:"Whether this is critical."`
	Permitted        []string       `arg:"name_constraints_permitted" doc:"Names that the CA may certify."`
	Excluded         []string       `arg:"name_constraints_excluded" doc:"Names that it may not."`
	NamesCritical    bool           `arg:"name_constraints_critical,default=no" doc:"Whether these are critical."`
	CreateKeyID      bool           `arg:"create_subject_key_identifier,default=no" doc:"Make an identifier of the key."`
	KeyID            *string        `arg:"subject_key_identifier" doc:"The identifier itself, in hexadecimal."`
	AuthorityKeyID   *string        `arg:"authority_key_identifier" doc:"The identifier of the CA's key."`
	AuthorityIssuer  []string       `arg:"authority_cert_issuer" doc:"Names of who signed the CA's certificate."`
	AuthoritySerial  value.Value    `arg:"authority_cert_serial_number" doc:"Number of the CA's certificate, an integer of any size."`
	CRLPoints        []crlPointArgs `arg:"crl_distribution_points" doc:"Where lists of revoked certificates are."`
	Backend          string         `arg:"select_crypto_backend,default=auto,choices=auto|cryptography" doc:"Means nothing here: no library of the host is needed."`
}

func requestRules() modules.Rules {
	return modules.Rules{
		Together:  [][]string{{"authority_cert_issuer", "authority_cert_serial_number"}},
		Exclusive: [][]string{{"privatekey_path", "privatekey_content"}, {"subject", "subject_ordered"}},
	}
}

func crlRules() modules.Option {
	return modules.WithSubRules("crl_distribution_points", modules.Rules{
		Exclusive: [][]string{{"full_name", "relative_name"}},
		OneOf:     [][]string{{"full_name", "relative_name", "crl_issuer"}},
	})
}

// part is a part of the subject as it was written.
type part struct{ key, value string }

// request is what is asked for, and what is there.
type request struct {
	requestArgs
	parts      []part
	ordered    bool
	serial     *big.Int // of the CA's certificate, nil if none is given
	extensions []pkix.Extension
	old        []byte // nil: there is none
	fresh      []byte // nil: the old one stays
	key        pki.PrivateKey
}

// newRequest judges the arguments, but for those that need the key.
func newRequest(a requestArgs) (*request, error) {
	r := &request{requestArgs: a}
	if a.CreateKeyID && a.KeyID != nil {
		return nil, tool.Fail(nil, "subject_key_identifier cannot be specified if create_subject_key_identifier is true")
	}
	if err := r.collectSubject(); err != nil {
		return nil, err
	}
	if len(a.AltNames) == 0 && a.CommonNameAsAlt {
		for _, p := range r.parts {
			if p.key == "commonName" || p.key == "CN" {
				r.AltNames = []string{"DNS:" + p.value}
				break
			}
		}
	}
	if a.AuthoritySerial != nil {
		// Such numbers have up to 20 bytes, more than an argument of type int can hold.
		n, ok := new(big.Int).SetString(modules.Str(a.AuthoritySerial), 10)
		if !ok {
			return nil, tool.Fail(nil, "argument 'authority_cert_serial_number' is of type %s and we were unable to convert to int: %s cannot be converted to an int",
				modules.TypeName(a.AuthoritySerial), modules.TypeName(a.AuthoritySerial))
		}
		r.serial = n
	}
	for _, id := range []struct {
		name string
		text *string
	}{{"subject_key_identifier", a.KeyID}, {"authority_key_identifier", a.AuthorityKeyID}} {
		if _, err := pki.ParseHex(modules.Text(id.text)); err != nil {
			return nil, tool.Fail(nil, "Cannot parse %s: %v", id.name, err)
		}
	}
	return r, nil
}

func (r *request) collectSubject() error {
	for _, p := range []struct {
		key   string
		value *string
	}{
		{"C", r.Country}, {"ST", r.State}, {"L", r.Locality}, {"O", r.Organization}, {"OU", r.Unit}, {"CN", r.CommonName}, {"emailAddress", r.Email},
	} {
		if modules.Text(p.value) != "" {
			r.parts = append(r.parts, part{p.key, *p.value})
		}
	}
	// The order of the playbook is the order in the request.
	for i := range r.Subject.Len() {
		key, v := r.Subject.At(i)
		if err := r.addParts(modules.Str(key), v, "subject"); err != nil {
			return err
		}
	}
	if len(r.SubjectOrdered) == 0 {
		return nil
	}
	if len(r.parts) > 0 {
		return tool.Fail(nil, "subject_ordered cannot be combined with any other subject field")
	}
	r.ordered = true
	for i, entry := range r.SubjectOrdered {
		if entry.Len() != 1 {
			return tool.Fail(nil, "Entry #%d in subject_ordered must be a dictionary with exactly one key-value pair", i+1)
		}
		key, v := entry.At(0)
		if err := r.addParts(modules.Str(key), v, "subject_ordered"); err != nil {
			return tool.Fail(nil, "Error while processing entry #%d in subject_ordered: %v", i+1, err)
		}
	}
	return nil
}

// addParts adds a part of the subject, or a list of parts of a kind.
func (r *request) addParts(key string, v value.Value, where string) error {
	text, isText := value.Text(v)
	items, isList := value.Items(v)
	switch {
	case isText && text == "":
		return tool.Fail(nil, "Value for %s in %s must not be an empty string", key, where)
	case isText:
		r.parts = append(r.parts, part{key, text})
	case isList:
		for _, x := range items {
			s, ok := value.Text(x)
			if !ok {
				return tool.Fail(nil, "Values %s in %s must be strings", key, where)
			}
			if s == "" {
				return tool.Fail(nil, "Values for %s in %s must not be empty strings", key, where)
			}
			r.parts = append(r.parts, part{key, s})
		}
	default:
		return tool.Fail(nil, "Value for %s in %s must be either a string or a list of strings", key, where)
	}
	return nil
}

// subject is the name asked for.
func (r *request) subject() (pki.Name, error) {
	name := pki.Name{}
	for _, p := range r.parts {
		a, err := pki.NewAttribute(p.key, p.value)
		if err != nil {
			return nil, tool.Fail(nil, "%v", err)
		}
		name = append(name, a)
	}
	return name, nil
}

// loadKey has the key and, with it, the extensions.
func (r *request) loadKey() error {
	if r.key != nil {
		return nil
	}
	var err error
	if r.key, err = readKey(r.KeyPath, r.KeyContent, r.KeyPassphrase); err != nil {
		return err
	}
	if r.extensions, err = r.wanted(); err != nil {
		return tool.Fail(nil, "%v", err)
	}
	return nil
}

// needsNew tells whether the old request is not what is asked for.
func (r *request) needsNew() (bool, error) {
	if r.old == nil {
		return true, nil
	}
	old, err := pki.LoadRequest(r.old)
	if err != nil {
		return true, nil
	}
	if err := r.loadKey(); err != nil {
		return false, err
	}
	want, err := r.subject()
	if err != nil {
		return false, err
	}
	have, err := pki.ParseName(old.RawSubject)
	same := err == nil && want.SameSet(have)
	if r.ordered {
		same = err == nil && want.SameOrdered(have)
	}
	return !same || !pki.SameExtensions(r.extensions, old.Extensions) || old.CheckSignature() != nil ||
		!pki.SameKey(old.PublicKey, r.key.Public()), nil
}

// make makes the new one.
func (r *request) make() error {
	if err := r.loadKey(); err != nil {
		return err
	}
	name, err := r.subject()
	if err != nil {
		return err
	}
	der, err := name.DER()
	if err == nil {
		r.fresh, err = pki.Request(pki.Subject{Name: der, Extensions: r.extensions}, r.key, r.Digest)
	}
	switch {
	case errors.Is(err, pki.ErrDigest):
		return tool.Fail(nil, `Unsupported digest "%s"`, r.Digest)
	case err != nil:
		return tool.Fail(nil, "%v", err)
	}
	return nil
}

// tell adds to the result what was asked for, and a diff of what there is to tell of the requests.
func (r *request) tell(res *modules.Result, content bool) {
	parts := []any{}
	for _, p := range r.parts {
		parts = append(parts, []any{p.key, p.value})
	}
	res.Set("privatekey", modules.TextOrNil(r.KeyPath))
	res.Set("subject", parts)
	res.Set("subjectAltName", listed(r.AltNames))
	res.Set("keyUsage", listed(r.Usage))
	res.Set("extendedKeyUsage", listed(r.ExtUsage))
	res.Set("basicConstraints", listed(r.Basic))
	res.Set("ocspMustStaple", r.Staple)
	res.Set("name_constraints_permitted", append([]string{}, r.Permitted...))
	res.Set("name_constraints_excluded", append([]string{}, r.Excluded...))
	now := r.old
	if r.fresh != nil {
		now = r.fresh
	}
	if content {
		res.Set("csr", nil)
		if len(now) > 0 {
			res.Set("csr", string(now))
		}
	}
	res.Set("diff", modules.Here)
	res.Diff = []modules.Diff{{Raw: value.DictOf("before", requestDiff(r.old), "after", requestDiff(now))}}
}

// requestDiff is what a diff tells of a request.
func requestDiff(raw []byte) *value.Dict {
	return infoDiff(raw, "can_parse_csr", func() (*value.Dict, error) {
		r, err := pki.LoadRequest(raw)
		if err != nil {
			return nil, err
		}
		return pki.RequestInfo(r, pki.Style{Names: pki.AsIs, Brief: true})
	})
}
