// Package sealed is the text form of Ansible's vaults: plain text sealed with a password (AES256, formats 1.1 and
// 1.2). It keeps no passwords and touches no files; package vault does.
package sealed

import (
	"bytes"
	"errors"
	"fmt"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

const header = "$ANSIBLE_VAULT"

// DefaultID is the vault id of a password that was given without one.
const DefaultID = "default"

// Is reports, by the header, whether the data is a vault; only ASCII can be one.
func Is(data []byte) bool {
	if !bytes.HasPrefix(data, []byte(header)) {
		return false
	}
	for _, b := range data {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

// Secret is a password with its vault id.
type Secret struct {
	ID       string
	Password []byte
}

// FormatError says that a vault is damaged: no password can open it.
type FormatError struct {
	Msg string
	// Envelope says that it is the header that is damaged.
	Envelope bool
}

func (e *FormatError) Error() string { return e.Msg }

// Keys are the secrets to try in their order; with MatchID only those whose id the vault names.
type Keys struct {
	Secrets []Secret
	MatchID bool
}

// Open opens a vault and returns which secret did it. Name is its file, for messages; it may be "". Without any secret
// the error is value.ErrNoSecret.
func (k Keys) Open(data []byte, name string) ([]byte, Secret, error) {
	if !Is(data) {
		msg := dialect.VaultNotEncrypted.Text()
		if name != "" {
			msg += name + " is not a vault encrypted file"
		}
		return nil, Secret{}, errors.New(msg)
	}
	env, err := parseEnvelope(data)
	if err != nil {
		if name != "" {
			return nil, Secret{}, &FormatError{Msg: fmt.Sprintf("Vault envelope format error in %s: %v", name, err),
				Envelope: true}
		}
		return nil, Secret{}, &FormatError{Msg: fmt.Sprintf("Vault envelope format error: %v", err), Envelope: true}
	}
	if env.Cipher != "AES256" {
		return nil, Secret{}, fmt.Errorf("%s cipher could not be found", env.Cipher)
	}
	if len(k.Secrets) == 0 {
		return nil, Secret{}, value.ErrNoSecret
	}
	body, err := parseBody(env.Body)
	for _, secret := range k.Secrets {
		if k.MatchID && secret.ID != env.ID {
			continue
		}
		if err != nil { // Ansible looks into the body only when it has a secret to try
			return nil, Secret{}, err
		}
		if plain, ok := body.open(secret.Password); ok {
			return plain, secret, nil
		}
	}
	msg := dialect.VaultNotOpened.Text()
	if name != "" {
		msg += " on " + name
	}
	return nil, Secret{}, errors.New(msg)
}

// Seal makes a vault of plain text. The id becomes part of the header (format 1.2) unless it is "" or "default". A
// nil salt is made at random.
func Seal(plain, password []byte, id string, salt []byte) ([]byte, error) {
	if Is(plain) {
		return nil, errors.New("input is already encrypted")
	}
	text, err := encrypt(plain, password, salt)
	if err != nil {
		return nil, err
	}
	return formatEnvelope(text, id), nil
}
