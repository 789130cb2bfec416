// Package vault reads and writes Ansible's vault format: files and strings encrypted with a password
// (AES256, formats 1.1 and 1.2). It holds secrets; it does not ask for them and edits no files.
package vault

import (
	"errors"
	"fmt"

	"hark/modules/mask"
	"hark/modules/py/value"
	"hark/playbook/jinja/sealed"
)

// IsEncrypted reports, by the header, whether the data is a vault; only ASCII can be one.
func IsEncrypted(data []byte) bool { return sealed.Is(data) }

// IDOf returns the vault id that stands in the header of a vault, "default" if none does, "" for what is no vault.
func IDOf(data []byte) string { return sealed.IDOf(data) }

// Secret is a password with its vault id.
type Secret = sealed.Secret

// FormatError says that a vault is damaged: no password can open it.
type FormatError = sealed.FormatError

// Secrets are the passwords of a run in the order in which they are tried. The zero value and nil have none.
// It is read-only once used, and then safe for concurrent use.
type Secrets struct {
	List []Secret
	// MatchID is vault_id_match: only secrets with the id that the vault names are tried.
	MatchID bool
	// Warn shows a warning of one or more lines; nil drops it.
	Warn func(text string)
	// Hidden takes what vaults hold, and may be nil: it is hidden where it would be shown (ansible-core 2.22).
	Hidden *mask.Masker
}

// Hide is for what vaults hold that becomes values.
func (s *Secrets) Hide(texts ...string) {
	if s != nil {
		s.Hidden.Add(texts...)
	}
}

// Decrypt opens a vault. Name is its file, for messages; it may be "".
func (s *Secrets) Decrypt(data []byte, name string) ([]byte, error) {
	plain, _, err := s.Open(data, name)
	return plain, err
}

// Worded is an error in the words of a language: a sentence in the tagged one, where there is no secret at all.
func Worded(err error, tagged bool) error {
	if tagged && errors.Is(err, value.ErrNoSecret) {
		return fmt.Errorf("%w.", err)
	}
	return err
}

// DecryptString opens a vault string; it fits value.Vault.Decrypt.
func (s *Secrets) DecryptString(cipher string) (string, error) {
	plain, err := s.Decrypt([]byte(cipher), "")
	s.Hide(string(plain))
	return string(plain), err
}

// Open is Decrypt that also returns which secret opened the vault.
func (s *Secrets) Open(data []byte, name string) ([]byte, Secret, error) {
	var keys sealed.Keys
	if s != nil {
		keys = sealed.Keys{Secrets: s.List, MatchID: s.MatchID}
	}
	plain, secret, err := keys.Open(data, name)
	var damaged *FormatError
	if s != nil && s.Warn != nil && errors.As(err, &damaged) && !damaged.Envelope {
		where := ""
		if name != "" {
			where = " in " + name
		}
		s.Warn("There was a vault format error" + where + ": " + damaged.Msg)
	}
	return plain, secret, err
}

// ForEncryption returns the secret to encrypt with: the first one with the id, or without an id the first one.
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
	return sealed.Seal(plain, password, id, nil)
}

// Error is a message in Ansible's own words, as users know it.
type Error string

func (e Error) Error() string { return string(e) }

func failf(format string, a ...any) error { return Error(fmt.Sprintf(format, a...)) }
