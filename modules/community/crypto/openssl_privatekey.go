package crypto

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/community/crypto/internal/pki"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type privatekeyArgs struct {
	Path           string  `arg:"path,required,type=path" doc:"The file; it gets mode 0600 if nothing else is said."`
	State          string  `arg:"state,default=present,choices=present|absent" doc:"Whether it shall be there."`
	Size           int     `arg:"size,default=4096" doc:"Bits of an RSA key."`
	Type           string  `arg:"type,default=RSA,choices=DSA|ECC|Ed25519|Ed448|RSA|X25519|X448" doc:"The algorithm. DSA, Ed448 and X448 cannot be made."`
	Curve          *string `arg:"curve,choices=secp224r1|secp256k1|secp256r1|secp384r1|secp521r1|secp192r1|brainpoolP256r1|brainpoolP384r1|brainpoolP512r1|sect163k1|sect163r2|sect233k1|sect233r1|sect283k1|sect283r1|sect409k1|sect409r1|sect571k1|sect571r1" doc:"The curve of an ECC key. Only secp224r1, secp256r1, secp384r1 and secp521r1 can be made."`
	Passphrase     *string `arg:"passphrase,nolog" doc:"What the key is encrypted with."`
	Cipher         *string `arg:"cipher" doc:"How it is encrypted: auto."`
	Format         string  `arg:"format,default=auto_ignore,choices=pkcs1|pkcs8|raw|auto|auto_ignore" doc:"The form of the file. auto_ignore lets the form of a file that is there pass."`
	FormatMismatch string  `arg:"format_mismatch,default=regenerate,choices=regenerate|convert" doc:"What to do with a key in another form."`
	Backend        string  `arg:"select_crypto_backend,default=auto,choices=auto|cryptography" doc:"Means nothing here: no library of the host is needed."`
	Regenerate     string  `arg:"regenerate,default=full_idempotence,choices=never|fail|partial_idempotence|full_idempotence|always" doc:"When a key that is there may be replaced."`
	Force          bool    `arg:"force,default=no" doc:"Make a new key whatever is there."`
	Backup         bool    `arg:"backup,default=no" doc:"Whether to keep the file that was there."`
	ReturnContent  bool    `arg:"return_content,default=no" doc:"Return the key itself as privatekey."`
	fsx.FileArgs
}

// OpensslPrivatekey is community.crypto.openssl_privatekey.
var OpensslPrivatekey = modules.Define("community.crypto.openssl_privatekey", "Generate private keys for TLS",
	runPrivatekey,
	modules.Is(modules.ReadsInCheck),
	modules.WithRules(modules.Rules{
		Together: [][]string{{"cipher", "passphrase"}},
		If:       []modules.RequiredIf{{Param: "type", Value: "ECC", Names: []string{"curve"}}},
	}),
	modules.Documented(`- community.crypto.openssl_privatekey: {path: /etc/ssl/private/app.pem, type: ECC, curve: secp256r1}
- community.crypto.openssl_privatekey: {path: /etc/ssl/private/ca.pem, passphrase: "{{ ca_passphrase }}", cipher: auto, backup: true}
`,
		modules.Return{Name: "filename", Type: "str", When: "always", Doc: "The file."},
		modules.Return{Name: "type", Type: "str", When: "always", Doc: "The algorithm that was asked for."},
		modules.Return{Name: "size", Type: "int", When: "always", Doc: "The bits that were asked for."},
		modules.Return{Name: "curve", Type: "str", When: "type is ECC", Doc: "The curve that was asked for."},
		modules.Return{Name: "fingerprint", Type: "dict", When: "always",
			Doc: "Sums of the public key by algorithm, null if there is none."},
		modules.Return{Name: "privatekey", Type: "str", When: "return_content", Doc: "The key; in raw form as base64."},
		modules.Return{Name: "backup_file", Type: "str", When: "backup and a change", Doc: "The copy of what was there."},
	))

// keyFile is a key in its file, in its present and its wanted state.
type keyFile struct {
	privatekeyArgs
	old    []byte // nil: there is no file
	oldKey pki.PrivateKey
	key    pki.PrivateKey // nil: the old one stays
	raw    []byte         // what key is written as
}

func runPrivatekey(_ context.Context, env *modules.Env, a privatekeyArgs) (modules.Result, error) {
	if err := needDir(a.Path); err != nil {
		return modules.Result{}, err
	}
	if a.Force {
		a.Regenerate = "always"
	}
	if a.Mode == nil {
		a.Mode = value.UnsafeStr("0600")
	}
	k := &keyFile{privatekeyArgs: a}
	var err error
	if k.old, err = readExisting(a.Path); err != nil {
		return modules.Result{}, err
	}
	if k.old != nil {
		k.oldKey, _ = k.load()
	}
	res := modules.Result{}
	if a.State == "absent" {
		k.old, k.oldKey = nil, nil
		err = drop(&res, file{a.Path, a.Backup, env.Check})
	} else {
		err = k.present(env, &res)
	}
	if err != nil {
		return modules.Result{}, err
	}
	k.tell(&res)
	return res, nil
}

func (k *keyFile) present(env *modules.Env, res *modules.Result) error {
	fresh, err := k.needsNew()
	if err != nil {
		return err
	}
	res.Changed = fresh || k.FormatMismatch == "convert" && !k.formFits()
	if res.Changed && !env.Check {
		if err := keep(res, k.Path, k.Backup); err != nil {
			return err
		}
		if err := k.make(env, fresh); err != nil {
			return err
		}
		if err := writeFile(k.Path, k.raw, 0o600, k.FileArgs); err != nil {
			return err
		}
	}
	did, err := k.For(k.Path, false).Apply(env.Check, nil)
	res.Changed = res.Changed || did
	return err
}

// load reads the old key. One without PEM cannot be encrypted.
func (k *keyFile) load() (pki.PrivateKey, error) {
	if pki.KeyForm(k.old) != "raw" {
		return pki.LoadKey(k.old, k.Passphrase)
	}
	if k.Passphrase != nil {
		return nil, pki.ErrPassphrase
	}
	return pki.LoadRawKey(k.old, k.Type)
}

const forced = " To force regeneration, call the module with `generate` set to "

// needsNew reports whether to make a key, or fails where one would be needed and must not be made.
func (k *keyFile) needsNew() (bool, error) {
	mayReplace := k.Regenerate == "partial_idempotence" || k.Regenerate == "full_idempotence"
	switch {
	case k.Regenerate == "always" || k.old == nil:
		return true, nil
	case k.oldKey == nil && k.Regenerate == "full_idempotence":
		return true, nil
	case k.oldKey == nil:
		return false, tool.Fail(nil,
			"Unable to read the key. The key is protected with a another passphrase / no passphrase or broken."+
				" Will not proceed."+forced+"`full_idempotence` or `always`, or with `force=true`.")
	case k.Regenerate == "never":
		return false, nil
	case !k.kindFits() && mayReplace:
		return true, nil
	case !k.kindFits():
		return false, tool.Fail(nil, "Key has wrong type and/or size. Will not proceed."+forced+
			"`partial_idempotence`, `full_idempotence` or `always`, or with `force=true`.")
	case k.FormatMismatch == "convert" || k.formFits():
		return false, nil
	case mayReplace:
		return true, nil
	}
	return false, tool.Fail(nil, "Key has wrong format. Will not proceed."+forced+
		"`partial_idempotence`, `full_idempotence` or `always`, or with `force=true`. To convert the key, set "+
		"`format_mismatch` to `convert`.")
}

func (k *keyFile) kindFits() bool {
	kind, size := pki.KindOf(k.oldKey.Public())
	switch {
	case kind != k.Type:
		return false
	case kind == "RSA":
		return size == k.Size
	case kind == "ECC":
		return pki.CurveName(k.oldKey.Public().(*ecdsa.PublicKey).Curve) == modules.Text(k.Curve)
	}
	return true
}

func (k *keyFile) formFits() bool { return k.Format == "auto_ignore" || pki.KeyForm(k.old) == k.form() }

// form returns the one to write.
func (k *keyFile) form() string {
	switch {
	case !strings.HasPrefix(k.Format, "auto"):
		return k.Format
	case slices.Contains([]string{"X25519", "X448", "Ed25519", "Ed448"}, k.Type):
		return "pkcs8"
	}
	return "pkcs1"
}

// make returns the key in the form in which it is written.
func (k *keyFile) make(env *modules.Env, fresh bool) error {
	k.key = k.oldKey
	var err error
	if fresh {
		if k.Type == "ECC" && !slices.Contains([]string{"secp224r1", "secp256k1", "secp256r1", "secp384r1", "secp521r1"},
			modules.Text(k.Curve)) {
			env.Warn("Elliptic curves of type %s should not be used for new keys!", modules.Text(k.Curve))
		}
		k.key, err = pki.NewKey(k.Type, k.Size, modules.Text(k.Curve))
	}
	switch {
	case errors.Is(err, pki.ErrUnknown):
		return tool.Fail(nil, "Cryptography backend does not support the algorithm required for %s", k.Type)
	case err != nil:
		return tool.Fail(nil, "cannot make a key: %v", err)
	}
	passphrase := ""
	if modules.Text(k.Cipher) != "" && modules.Text(k.Passphrase) != "" {
		if *k.Cipher != "auto" {
			return tool.Fail(nil, `Cryptography backend can only use "auto" for cipher option.`)
		}
		passphrase = *k.Passphrase
	}
	if k.raw, err = pki.SaveKey(k.key, k.form(), passphrase); err != nil {
		return tool.Fail(nil, "Cryptography backend cannot serialize the private key in the required format \"%s\"", k.Format)
	}
	return nil
}

func (k *keyFile) tell(res *modules.Result) {
	res.Set("type", k.Type)
	res.Set("size", int64(k.Size))
	key, raw := k.oldKey, k.old
	if k.key != nil {
		key, raw = k.key, k.raw
	}
	res.Set("fingerprint", nil)
	if key != nil {
		if der, err := x509.MarshalPKIXPublicKey(key.Public()); err == nil {
			res.Set("fingerprint", pki.Fingerprints(der))
		}
	}
	if k.Type == "ECC" {
		res.Set("curve", modules.Text(k.Curve))
	}
	if k.ReturnContent {
		res.Set("privatekey", content(raw))
	}
	res.Set("diff", modules.Here)
	saved(res, k.Path)
	res.Diff = []modules.Diff{{Raw: value.DictOf("before", k.info(k.old), "after", k.info(raw))}}
}

func content(raw []byte) any {
	switch {
	case len(raw) == 0:
		return nil
	case pki.KeyForm(raw) == "raw":
		return base64.StdEncoding.EncodeToString(raw)
	}
	return string(raw)
}

// info returns what the diff shows of a file: much of a key in PEM form, little of others.
func (k *keyFile) info(raw []byte) *value.Dict {
	if raw == nil {
		return value.NewDict()
	}
	key, err := pki.LoadKey(raw, k.Passphrase)
	if err != nil {
		return value.DictOf("can_parse_key", false, "key_is_consistent", nil)
	}
	info, err := pki.KeyInfo(key.Public())
	if err != nil {
		return value.DictOf("can_parse_key", false, "key_is_consistent", nil)
	}
	all := value.DictOf("type", info.Text("type"), "can_parse_key", true, "key_is_consistent", nil)
	info.Each(func(k, v value.Value) bool { return all.SetKey(k, v) })
	return all
}
