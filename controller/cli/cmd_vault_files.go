package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/secrets"
	"hark/modules/py/value"
	"hark/playbook/vault"
)

func newVaultEncryptCommand(a *app) *cobra.Command {
	add := func(fs flags, j *vaultJob) { j.secretFlags(fs); outputFlag(fs, j); encryptIDFlag(fs, j) }
	return newVaultSub(a, "encrypt", "Encrypt files", add, func(ctx context.Context, j *vaultJob) error {
		if err := j.sealSecret(ctx); err != nil {
			return err
		}
		if len(j.args) == 0 && j.term.Interactive() {
			fmt.Fprintln(j.term.Err, "Reading plaintext input from stdin")
		}
		for _, path := range j.inputs() {
			if err := j.encryptFile(j.real(path)); err != nil {
				return err
			}
		}
		j.done("Encryption")
		return nil
	})
}

func (j *vaultJob) encryptFile(path string) error {
	plain, err := j.read(path)
	if err != nil {
		return err
	}
	sealed, err := vault.Encrypt(plain, j.with.Password, j.with.ID)
	if err != nil {
		return err
	}
	to := j.outputTo(path)
	old, err := os.OpenFile(to, os.O_WRONLY, 0)
	if err == nil {
		// The old name goes to the new file first: whatever happens, one of the two is whole.
		defer old.Close()
	}
	if err := j.write(to, sealed, nil); err != nil {
		return err
	}
	return overwrite(old)
}

// overwrite fills a file that has lost its name with zeros, so that its text cannot be found on the disk.
func overwrite(f *os.File) error {
	if f == nil {
		return nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	zeros := make([]byte, 64<<10)
	for left := info.Size(); left > 0; {
		n := min(left, int64(len(zeros)))
		if _, err := f.Write(zeros[:n]); err != nil {
			return err
		}
		left -= n
	}
	return f.Sync()
}

func newVaultDecryptCommand(a *app) *cobra.Command {
	return newVaultSub(a, "decrypt", "Decrypt files",
		func(fs flags, j *vaultJob) { outputFlag(fs, j); j.secretFlags(fs) }, func(ctx context.Context, j *vaultJob) error {
			if err := j.openSecrets(ctx); err != nil {
				return err
			}
			if len(j.args) == 0 && j.term.Interactive() {
				fmt.Fprintln(j.term.Err, "Reading ciphertext input from stdin")
			}
			for _, path := range j.inputs() {
				path = j.real(path)
				plain, _, err := j.open(path)
				if err != nil {
					return err
				}
				if err := j.write(j.outputTo(path), plain, nil); err != nil {
					return err
				}
			}
			j.done("Decryption")
			return nil
		})
}

// open decrypts a file and returns with which secret.
func (j *vaultJob) open(path string) ([]byte, vault.Secret, error) { return j.openAs(path, path) }

// openUnnamed is open for edit and rekey, whose errors name the file once.
func (j *vaultJob) openUnnamed(path string) ([]byte, vault.Secret, error) { return j.openAs(path, "") }

func (j *vaultJob) openAs(path, name string) ([]byte, vault.Secret, error) {
	sealed, err := j.read(path)
	if err != nil {
		return nil, vault.Secret{}, err
	}
	plain, secret, err := j.secrets.Open(sealed, name)
	if err != nil {
		return nil, secret, fmt.Errorf("%w for %s", err, path)
	}
	return plain, secret, nil
}

func newVaultViewCommand(a *app) *cobra.Command {
	return newVaultSub(a, "view", "Show encrypted files",
		func(fs flags, j *vaultJob) { j.secretFlags(fs) }, func(ctx context.Context, j *vaultJob) error {
			if err := j.openSecrets(ctx); err != nil {
				return err
			}
			for _, path := range j.args {
				plain, _, err := j.open(path)
				if err != nil {
					return err
				}
				if err := j.term.Page(ctx, string(plain)); err != nil {
					return err
				}
			}
			return nil
		})
}

func newVaultRekeyCommand(a *app) *cobra.Command {
	var newFile, newID string
	add := func(fs flags, j *vaultJob) {
		j.secretFlags(fs)
		encryptIDFlag(fs, j)
		fs.Text(&newFile, "new-vault-password-file", "", "", "NEW_VAULT_PASSWORD_FILE", "file with the new password")
		fs.Text(&newID, "new-vault-id", "", "", "NEW_VAULT_ID", "the new vault identity")
		fs.Exclusive("new-vault-password-file", "new-vault-id")
	}
	return newVaultSub(a, "rekey", "Encrypt files with another password", add,
		func(ctx context.Context, j *vaultJob) error {
			if err := j.openSecrets(ctx); err != nil {
				return err
			}
			with, err := j.newSecret(ctx, newFile, newID)
			if err != nil {
				return err
			}
			for _, path := range j.args {
				if err := j.rekey(j.real(path), with); err != nil {
					return err
				}
			}
			fmt.Fprintln(j.term.Err, "Rekey successful")
			return nil
		})
}

// newSecret gathers the secret that files get in a rekey.
func (j *vaultJob) newSecret(ctx context.Context, file, id string) (vault.Secret, error) {
	need := secrets.Need{Ask: j.o.Vault.Ask, Create: true, Must: true, Fresh: j.encryptionID() == ""}
	if id != "" {
		need.IDs = append(need.IDs, id)
	}
	if file != "" {
		need.Files = append(need.Files, file)
	}
	secrets, err := j.keeper().Vault(ctx, need)
	if err != nil {
		return vault.Secret{}, err
	}
	return secrets.ForEncryption(j.encryptionID())
}

func (j *vaultJob) rekey(path string, with vault.Secret) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%s", osReason(err, value.ReprText(path)))
	}
	plain, _, err := j.openUnnamed(path)
	if err != nil {
		return err
	}
	sealed, err := vault.Encrypt(plain, with.Password, with.ID)
	if err != nil {
		return err
	}
	return j.write(path, sealed, info)
}
