// Package vault reads and writes Ansible's vault format: files and strings encrypted with a password
// (AES256, formats 1.1 and 1.2). It holds secrets; it does not ask for them and edits no files.
package vault

import (
	"bytes"
	"errors"
	"fmt"

	"hark/playbook/jinja/value"
)

const header = "$ANSIBLE_VAULT"

// DefaultID is the vault id of a password that was given without one.
const DefaultID = "default"

// IsEncrypted tells by the header whether the data is a vault; only ASCII can be one.
func IsEncrypted(data []byte) bool {
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

// Secrets are the passwords of a run in the order in which they are tried. The zero value and nil have none.
// It is read-only once used, and then safe for concurrent use.
type Secrets struct {
	List []Secret
	// MatchID is vault_id_match: only secrets with the id that the vault names are tried.
	MatchID bool
}

// FormatError says that a vault is damaged: no password can open it.
type FormatError struct{ Msg string }

func (e *FormatError) Error() string { return e.Msg }

// ErrNoSecrets says that there is something to open and no password at all.
var ErrNoSecrets = value.ErrNoSecret

// Decrypt opens a vault. Name is its file, for messages; it may be "".
func (s *Secrets) Decrypt(data []byte, name string) ([]byte, error) {
	plain, _, err := s.Open(data, name)
	return plain, err
}

// DecryptString opens a vault string; it fits value.Vault.Decrypt.
func (s *Secrets) DecryptString(cipher string) (string, error) {
	plain, err := s.Decrypt([]byte(cipher), "")
	return string(plain), err
}

// Open is Decrypt that tells also which secret opened the vault.
func (s *Secrets) Open(data []byte, name string) ([]byte, Secret, error) {
	if !IsEncrypted(data) {
		msg := "input is not vault encrypted data. "
		if name != "" {
			msg += name + " is not a vault encrypted file"
		}
		return nil, Secret{}, errors.New(msg)
	}
	env, err := parseEnvelope(data)
	if err != nil {
		if name != "" {
			return nil, Secret{}, &FormatError{fmt.Sprintf("Vault envelope format error in %s: %v", name, err)}
		}
		return nil, Secret{}, &FormatError{fmt.Sprintf("Vault envelope format error: %v", err)}
	}
	if env.Cipher != "AES256" {
		return nil, Secret{}, fmt.Errorf("%s cipher could not be found", env.Cipher)
	}
	candidates := s.candidates(env.ID)
	if s == nil || len(s.List) == 0 {
		return nil, Secret{}, ErrNoSecrets
	}
	body, err := parseBody(env.Body)
	for _, secret := range candidates {
		if err != nil { // Ansible looks into the body only when it has a secret to try
			return nil, Secret{}, err
		}
		if plain, ok := body.open(secret.Password); ok {
			return plain, secret, nil
		}
	}
	msg := "Decryption failed (no vault secrets were found that could decrypt)"
	if name != "" {
		msg += " on " + name
	}
	return nil, Secret{}, errors.New(msg)
}

// candidates are the secrets to try for a vault of an id, in the order given.
func (s *Secrets) candidates(id string) []Secret {
	if s == nil {
		return nil
	}
	if !s.MatchID {
		return s.List
	}
	var out []Secret
	for _, secret := range s.List {
		if secret.ID == id {
			out = append(out, secret)
		}
	}
	return out
}

// ForEncryption is the secret to encrypt with: the first one with the id, or without an id the first one.
func (s *Secrets) ForEncryption(id string) (Secret, error) {
	if s == nil || len(s.List) == 0 {
		return Secret{}, failf("A vault password must be specified to encrypt data")
	}
	if id == "" {
		return s.List[0], nil
	}
	ids := ""
	for i, secret := range s.List {
		if secret.ID == id {
			return secret, nil
		}
		if i > 0 {
			ids += ", "
		}
		ids += "'" + secret.ID + "'"
	}
	return Secret{}, failf("Did not find a match for --encrypt-vault-id=%s in the known vault-ids [%s]", id, ids)
}

// Encrypt makes a vault of plain text. The id becomes part of the header (format 1.2) unless it is "" or "default".
func Encrypt(plain, password []byte, id string) ([]byte, error) {
	return encrypt(plain, password, id, nil)
}

// EncryptWithSalt is Encrypt with a given salt, so that equal text gives equal vaults (vault_encrypt_salt, the vault filter).
func EncryptWithSalt(plain, password []byte, id string, salt []byte) ([]byte, error) {
	if len(salt) == 0 {
		return nil, failf("Empty or invalid salt passed to encrypt()")
	}
	return encrypt(plain, password, id, salt)
}

func encrypt(plain, password []byte, id string, salt []byte) ([]byte, error) {
	if IsEncrypted(plain) {
		return nil, errors.New("input is already encrypted")
	}
	body, err := seal(plain, password, salt)
	if err != nil {
		return nil, err
	}
	return formatEnvelope(body, id), nil
}

// Error is a message in Ansible's own words, as users know it.
type Error string

func (e Error) Error() string { return string(e) }

func failf(format string, a ...any) error { return Error(fmt.Sprintf(format, a...)) }
