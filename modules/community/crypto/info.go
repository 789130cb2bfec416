package crypto

import (
	"os"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
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
func (a *infoArgs) read(content *string, what string, data *value.Dict) ([]byte, error) {
	if content != nil {
		return []byte(*content), nil
	}
	raw, err := os.ReadFile(modules.Text(a.Path))
	if err != nil {
		return nil, tool.Fail(data, "Error while reading %s file from disk: %s", what, oserr.Path(err, modules.Text(a.Path)))
	}
	return raw, nil
}

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
