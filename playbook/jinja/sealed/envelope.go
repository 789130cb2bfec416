package sealed

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// envelope is a vault without its armour: the header's fields and the hex text of the body.
type envelope struct {
	Version, Cipher, ID string
	Body                []byte
}

func parseEnvelope(data []byte) (envelope, error) {
	first, rest, _ := bytes.Cut(bytes.ReplaceAll(data, []byte("\r"), []byte("\n")), []byte("\n"))
	fields := strings.Split(strings.TrimSpace(string(first)), ";")
	if len(fields) < 3 {
		return envelope{}, errors.New("list index out of range")
	}
	env := envelope{Version: strings.TrimSpace(fields[1]), Cipher: strings.TrimSpace(fields[2]), ID: DefaultID}
	if len(fields) >= 4 {
		env.ID = strings.TrimSpace(fields[3])
	}
	env.Body = bytes.ReplaceAll(rest, []byte("\n"), nil)
	return env, nil
}

const lineWidth = 80

func formatEnvelope(body []byte, id string) []byte {
	var b bytes.Buffer
	if id != "" && id != DefaultID {
		fmt.Fprintf(&b, "%s;1.2;AES256;%s\n", header, id)
	} else {
		fmt.Fprintf(&b, "%s;1.1;AES256\n", header)
	}
	for len(body) > lineWidth {
		b.Write(body[:lineWidth])
		b.WriteByte('\n')
		body = body[lineWidth:]
	}
	if len(body) > 0 {
		b.Write(body)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// parseBody undoes both layers of hex: the text is hex of "salt\nmac\nciphertext", each again in hex.
func parseBody(text []byte) (*body, error) {
	inner, err := unhex(text)
	if err != nil {
		return nil, err
	}
	parts := bytes.SplitN(inner, []byte("\n"), 3)
	if len(parts) < 3 {
		return nil, &FormatError{Msg: fmt.Sprintf(
			"Vault vaulttext format error: not enough values to unpack (expected 3, got %d)", len(parts))}
	}
	var s body
	for i, to := range []*[]byte{&s.salt, &s.mac, &s.cipher} {
		if *to, err = unhex(parts[i]); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

func unhex(text []byte) ([]byte, error) {
	out := make([]byte, hex.DecodedLen(len(text)))
	_, err := hex.Decode(out, text)
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, hex.ErrLength):
		return nil, &FormatError{Msg: "Vault format unhexlify error: Odd-length string"}
	}
	return nil, &FormatError{Msg: "Vault format unhexlify error: Non-hexadecimal digit found"}
}

// IDOf returns the vault id that stands in the header of a vault, DefaultID if none does, "" for what is no vault.
func IDOf(data []byte) string {
	env, err := parseEnvelope(data)
	if err != nil {
		return ""
	}
	return env.ID
}
