package filters

import (
	"encoding/base64"
	"strings"

	"hark/modules/py/codecs"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// ansibleBase64 are Ansible's filters of base64.
func ansibleBase64() map[string]jinja.Filter {
	return map[string]jinja.Filter{"b64encode": b64encode, "b64decode": b64decode}
}

// base64Args are the arguments of the filters of base64.
type base64Args struct {
	text     string
	encoding string // that the text is in, or is to be put in
	urlSafe  bool   // - and _ stand for + and /
}

func bindBase64(fn string, in value.Value, args *jinja.Args) (b base64Args, err error) {
	a, err := args.Bind(fn, value.Opt("encoding", value.Str("utf-8")), value.Opt("urlsafe", value.Bool(false)))
	if err != nil {
		return b, err
	}
	if b.text, err = value.ToStr(in); err != nil {
		return b, err
	}
	ok := false
	if b.encoding, ok = value.Text(a[0]); !ok {
		return b, value.TypeErrorf("%s() argument 'encoding' must be str, not %s", strings.TrimPrefix(fn, "b64"),
			value.NativeType(a[0]))
	}
	b.urlSafe, err = value.Truth(a[1])
	return b, err
}

func b64encode(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	b, err := bindBase64("b64encode", in, args)
	if err != nil {
		return nil, err
	}
	raw, err := codecs.Encode(b.text, b.encoding)
	if err != nil {
		return nil, err
	}
	if b.urlSafe {
		return value.Str(base64.URLEncoding.EncodeToString(raw)), nil
	}
	return value.Str(base64.StdEncoding.EncodeToString(raw)), nil
}

func b64decode(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	b, err := bindBase64("b64decode", in, args)
	if err != nil {
		return nil, err
	}
	if b.urlSafe {
		b.text = strings.NewReplacer("-", "+", "_", "/").Replace(b.text)
	}
	raw, err := decodeBase64(b.text)
	if err != nil {
		return nil, err
	}
	text, err := codecs.Decode(raw, b.encoding)
	if err != nil {
		return nil, err
	}
	return value.TextLike(in, text), nil
}

// decodeBase64 reads base64 as Python does: what does not belong to it is skipped, and what follows the padding
// ignored.
func decodeBase64(s string) ([]byte, error) {
	var digits []byte
	pads := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '=' {
			if pads++; len(digits)%4 >= 2 && len(digits)%4+pads >= 4 {
				return base64.RawStdEncoding.DecodeString(string(digits))
			}
			continue
		}
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' {
			digits, pads = append(digits, c), 0
		}
	}
	switch len(digits) % 4 {
	case 0:
		return base64.RawStdEncoding.DecodeString(string(digits))
	case 1:
		return nil, value.Errorf("Error",
			"Invalid base64-encoded string: number of data characters (%d) cannot be 1 more than a multiple of 4", len(digits))
	}
	return nil, value.Errorf("Error", "Incorrect padding")
}
