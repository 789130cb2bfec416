package value

import "sync"

// Vault is a string of a playbook that is still encrypted (`!vault |`). It is opened once, and
// only when it is used.
type Vault struct {
	// Cipher is the armoured text as it stands in the file.
	Cipher string
	// Decrypt opens Cipher; set by whoever reads the file. Nil means that no secret is known.
	Decrypt func(cipher string) (string, error)

	once  sync.Once
	plain string
	err   error
}

func (*Vault) Type() string { return "AnsibleVaultEncryptedUnicode" }

// Open returns the plain text. It is safe for concurrent use; the work is done once.
func (v *Vault) Open() (string, error) {
	v.once.Do(func() {
		if v.Decrypt == nil {
			v.err = ErrNoSecret
			return
		}
		v.plain, v.err = v.Decrypt(v.Cipher)
	})
	return v.plain, v.err
}

// Sealed is why a vault string cannot be opened; nil for one that can be, and for every other value.
func Sealed(v Value) error {
	s, ok := v.(*Vault)
	if !ok {
		return nil
	}
	_, err := s.Open()
	return err
}

// OpenedVault returns a vault string whose plain text, or the reason why it cannot be had, is known already.
func OpenedVault(cipher, plain string, err error) *Vault {
	return &Vault{Cipher: cipher, Decrypt: func(string) (string, error) { return plain, err }}
}

// ErrNoSecret says that a vault string was used without any vault password.
var ErrNoSecret = errNoSecret{}

type errNoSecret struct{}

func (errNoSecret) Error() string {
	return "Attempting to decrypt but no vault secrets found"
}
