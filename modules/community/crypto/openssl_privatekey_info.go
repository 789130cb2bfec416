package crypto

import (
	"context"
	"crypto/ecdsa"
	"crypto/rsa"
	"math/big"

	"hark/modules"
	"hark/modules/community/crypto/internal/pki"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

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
	data := value.DictOf("can_load_key", false, "can_parse_key", false, "key_is_consistent", nil)
	raw, err := a.read(a.Content, "private key", data)
	if err != nil {
		return modules.Result{}, err
	}
	data.Put("can_load_key", true)
	content := string(raw)
	key, err := readKey(nil, &content, a.Passphrase)
	if err != nil {
		return modules.Result{}, tool.Fail(data, "%v", err)
	}
	data.Put("can_parse_key", true)
	info, err := pki.KeyInfo(key.Public(), pki.Style{})
	if err != nil {
		return modules.Result{}, tool.Fail(data, "%v", err)
	}
	info.Each(func(k, v value.Value) bool { return data.SetKey(k, v) })
	if a.ReturnData {
		data.Put("private_data", secretNumbers(key))
	}
	// A key whose numbers do not belong together is not read at all. Of X25519 Ansible says nothing.
	if a.Check && info.Text("type") != "X25519" {
		data.Put("key_is_consistent", true)
	}
	return modules.Result{Data: data}, nil
}

func secretNumbers(key pki.PrivateKey) *value.Dict {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return value.DictOf("p", k.Primes[0], "q", k.Primes[1], "exponent", k.D)
	case *ecdsa.PrivateKey:
		if b, err := k.Bytes(); err == nil {
			return value.DictOf("multiplier", new(big.Int).SetBytes(b))
		}
	}
	return value.NewDict()
}
