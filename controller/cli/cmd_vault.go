package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ansible/secrets"
	"hark/modules/py/value"
	"hark/playbook/vault"
)

// newVaultCommand is ansible-vault.
func newVaultCommand(a *app, name string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name,
		Short: "Encrypt and decrypt files and strings",
		Example: "  " + a.example(name) + " encrypt group_vars/all/secrets.yml\n  " + a.example(name) +
			" encrypt_string --name db_password 's3cret'",
		RunE:        argparse.NeedChoice,
		Annotations: map[string]string{"commands": "create decrypt edit view encrypt encrypt_string rekey"},
		Args:        cobra.ArbitraryArgs,
	}
	a.flags(cmd).verbosity(new(int))
	cmd.AddCommand(newVaultCreateCommand(a), newVaultDecryptCommand(a), newVaultEditCommand(a), newVaultViewCommand(a),
		newVaultEncryptCommand(a), newVaultStringCommand(a), newVaultRekeyCommand(a))
	return cmd
}

// vaultJob is one call of a vault command.
type vaultJob struct {
	*app
	o         project.Options
	encryptID string
	output    string
	args      []string

	secrets *vault.Secrets
	with    vault.Secret // to encrypt
}

// secretFlags are those that every vault command has. A command places them among its own, as Ansible's help does.
func (j *vaultJob) secretFlags(fs flags) {
	fs.vault(&j.o.Vault)
	fs.verbosity(&j.o.Verbosity)
}

// newVaultSub makes a sub-command: its flags, and its work once the flags are checked.
func newVaultSub(a *app, name, short string, add func(flags, *vaultJob),
	run func(context.Context, *vaultJob) error) *cobra.Command {
	j := &vaultJob{app: a}
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.ArbitraryArgs,
		Annotations: map[string]string{"args": "[file_name ...]"}}
	fs := a.flags(cmd)
	add(fs, j)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := argparse.CheckExclusive(cmd); err != nil {
			return err
		}
		j.args = args
		for _, id := range j.o.Vault.IDs {
			if strings.Contains(id, ";") {
				return argparse.OptionsError(fmt.Sprintf(
					"'%s' is not a valid vault id. The character ';' is not allowed in vault ids", id))
			}
		}
		if j.output != "" && len(args) > 1 {
			return argparse.OptionsError("At most one input file may be used with the --output option")
		}
		if err := a.begin(cmd, j.o.Verbosity); err != nil {
			return err
		}
		return run(cmd.Context(), j)
	}
	return cmd
}

func outputFlag(fs flags, j *vaultJob) {
	fs.Text(&j.output, "output", "", "", "OUTPUT_FILE", "where to write, - is stdout")
}

func encryptIDFlag(fs flags, j *vaultJob) {
	fs.Text(&j.encryptID, "encrypt-vault-id", "", "", "ENCRYPT_VAULT_ID",
		"the vault id to encrypt with, if several are known")
}

func (j *vaultJob) need() secrets.Need {
	return secrets.Need{IDs: j.o.Vault.IDs, Files: j.o.Vault.Files, Ask: j.o.Vault.Ask, Must: true}
}

// openSecrets gathers the secrets to decrypt with.
func (j *vaultJob) openSecrets(ctx context.Context) (err error) {
	j.secrets, err = j.keeper().Vault(ctx, j.need())
	return err
}

// sealSecret gathers secrets and picks the one to encrypt with.
func (j *vaultJob) sealSecret(ctx context.Context) (err error) {
	need := j.need()
	need.Create = true
	if j.secrets, err = j.keeper().Vault(ctx, need); err != nil {
		return err
	}
	id := j.encryptionID()
	if len(j.secrets.List) > 1 && id == "" {
		var ids []string
		for _, s := range j.secrets.List {
			ids = append(ids, s.ID)
		}
		return argparse.OptionsError(fmt.Sprintf(
			"The vault-ids %s are available to encrypt. Specify the vault-id to encrypt with --encrypt-vault-id",
			strings.Join(ids, ",")))
	}
	j.with, err = j.secrets.ForEncryption(id)
	return err
}

func (j *vaultJob) encryptionID() string {
	if j.encryptID != "" {
		return j.encryptID
	}
	return j.cfg.Text("DEFAULT_VAULT_ENCRYPT_IDENTITY")
}

// done says that all went well, to somebody who sits there.
func (j *vaultJob) done(what string) {
	if j.term.Terminal != nil {
		fmt.Fprintln(j.term.Err, what+" successful")
	}
}

// read returns the content of a file, of stdin for -.
func (j *vaultJob) read(path string) ([]byte, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = j.term.ReadAll()
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, ansibleerror.Errorf("Unable to read source file (%s): %s", path, osReason(err, value.ReprText(path)))
	}
	return data, nil
}

// osReason returns an error of the system as Python words it; quoted is the file's name as Python prints it.
func osReason(err error, quoted string) string {
	errno := syscall.ENOENT
	if !errors.As(err, &errno) && !errors.Is(err, exec.ErrNotFound) {
		return err.Error()
	}
	text := errno.Error()
	return fmt.Sprintf("[Errno %d] %s: %s", int(errno), strings.ToUpper(text[:1])+text[1:], quoted)
}

// write puts data in place of a file, of stdout for -. The new file belongs to whoever runs the command and nobody
// else can read it, unless like names a file whose mode and owner it gets.
func (j *vaultJob) write(path string, data []byte, like fs.FileInfo) error {
	if path == "-" {
		_, err := j.term.Out.Write(data)
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".hark-vault-")
	if err != nil {
		return ansibleerror.Errorf("Problem creating temporary vault file: %v", err)
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	if err := fill(tmp, data, like); err != nil {
		return ansibleerror.Errorf("Unable to write to temporary vault file: %v", err)
	}
	return os.Rename(tmp.Name(), path)
}

func fill(f *os.File, data []byte, like fs.FileInfo) error {
	_, err := f.Write(data)
	if err == nil && like != nil {
		if err = f.Chmod(like.Mode().Perm()); err == nil {
			if st, ok := like.Sys().(*syscall.Stat_t); ok {
				err = f.Chown(int(st.Uid), int(st.Gid))
			}
		}
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// real returns a path with its links followed; - stays as it is.
func (j *vaultJob) real(path string) string {
	if path == "-" {
		return path
	}
	path = j.absolute(path)
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// absolute starts a path at the working directory. Nothing in it is expanded: the shell did that.
func (j *vaultJob) absolute(path string) string {
	if filepath.IsAbs(path) || path == "-" {
		return path
	}
	return filepath.Join(j.cfg.WorkingDir(), path)
}

// outputTo returns where a command writes: the file of --output, or the file that it read.
func (j *vaultJob) outputTo(path string) string {
	if j.output != "" {
		return j.absolute(j.output)
	}
	return path
}

func (j *vaultJob) inputs() []string {
	if len(j.args) == 0 {
		return []string{"-"}
	}
	return j.args
}
