package filters

import (
	"crypto/md5" //nolint:gosec // Ansible's filter
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"strings"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// ansibleDigests are Ansible's filters that make digests.
func ansibleDigests() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"hash":     hashFilter,
		"md5":      digest("md5"),
		"sha1":     checksum,
		"checksum": checksum,
		"to_uuid":  toUUID,
	}
}

// newHash returns a hash by hashlib's name; nil if it has none of that name.
func newHash(name string) hash.Hash {
	switch strings.ToLower(name) {
	case "md5":
		return md5.New()
	case "sha1":
		return sha1.New()
	case "sha224":
		return sha256.New224()
	case "sha256":
		return sha256.New()
	case "sha384":
		return sha512.New384()
	case "sha512":
		return sha512.New()
	case "sha3_224":
		return sha3.New224()
	case "sha3_256":
		return sha3.New256()
	case "sha3_384":
		return sha3.New384()
	case "sha3_512":
		return sha3.New512()
	case "blake2b":
		return keyless(blake2b.New512)
	case "blake2s":
		return keyless(blake2s.New256)
	}
	return nil
}

// keyless returns a hash that could have a key, without one.
func keyless(make func(key []byte) (hash.Hash, error)) hash.Hash {
	h, err := make(nil)
	if err != nil {
		return nil
	}
	return h
}

func digestOf(name string, in value.Value) (value.Value, error) {
	h := newHash(name)
	if h == nil {
		return nil, value.FilterErrorf("unsupported hash type %s", name)
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	h.Write([]byte(s))
	return value.Str(hex.EncodeToString(h.Sum(nil))), nil
}

func digest(name string) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) { return digestOf(name, in) }
}

// checksum is SHA-1: its argument is a function in Python, which no template has.
func checksum(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("secure_hash_s", value.Opt("hash_func", none))
	if err != nil {
		return nil, err
	}
	if len(args.Pos)+len(args.Kw) > 0 {
		if err := defined(a[0]); err != nil {
			return nil, err
		}
		return nil, value.TypeErrorf("'%s' object is not callable", value.NativeType(a[0]))
	}
	return digestOf("sha1", in)
}

func hashFilter(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("get_hash", value.Opt("hashtype", value.Str("sha1")))
	if err != nil {
		return nil, err
	}
	name, ok := value.Text(a[0])
	if !ok {
		if err := value.Hashable(a[0]); err != nil {
			return nil, value.FilterErrorf("%v", err)
		}
		return nil, value.FilterErrorf("name must be a string")
	}
	return digestOf(name, in)
}

// ansibleNamespace is the namespace of to_uuid's identifiers.
const ansibleNamespace = "361E6D51-FAEC-444A-9079-341386DA8E2E"

func toUUID(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("to_uuid", value.Opt("namespace", value.Str(ansibleNamespace)))
	if err != nil {
		return nil, err
	}
	text, err := value.ToStr(a[0])
	if err != nil {
		return nil, err
	}
	space, hexErr := hex.DecodeString(strings.Trim(strings.ReplaceAll(strings.TrimPrefix(text, "urn:uuid:"), "-", ""),
		"{}"))
	if hexErr != nil || len(space) != 16 {
		return nil, value.FilterErrorf("Invalid value '%s' for 'namespace': badly formed hexadecimal UUID string", text)
	}
	name, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum(append(space, name...))
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x50
	id[8] = id[8]&0x3f | 0x80
	s := hex.EncodeToString(id)
	return value.Str(s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]), nil
}
