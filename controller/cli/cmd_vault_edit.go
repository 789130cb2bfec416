package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ui/terminal"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
	"hark/playbook/vault"
)

func newVaultCreateCommand(a *app) *cobra.Command {
	flags := func(fs flags, j *vaultJob) {
		editorFlags(fs, j)
		// scripts for later releases of Ansible give it
		fs.Bool("skip-tty-check", false, "does nothing: no terminal is asked for")
		fs.own("skip-tty-check")
	}
	return newVaultSub(a, "create", "Write a new encrypted file in the editor", flags,
		func(ctx context.Context, j *vaultJob) error {
			if err := j.sealSecret(ctx); err != nil {
				return err
			}
			if len(j.args) != 1 {
				return argparse.OptionsError("ansible-vault create can take only one filename argument")
			}
			path := j.absolute(j.args[0])
			if dir := filepath.Dir(path); !isDir(dir) {
				j.display.Warn(filepath.Dir(j.args[0]) + " does not exist, creating...")
				if err := os.MkdirAll(dir, 0o777); err != nil {
					return err
				}
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return fmt.Errorf("%s exists, please use 'edit' instead", j.args[0])
			}
			return j.editor(ctx, path, nil, j.with.Password, j.with.ID)
		})
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func newVaultEditCommand(a *app) *cobra.Command {
	return newVaultSub(a, "edit", "Change encrypted files in the editor", editorFlags,
		func(ctx context.Context, j *vaultJob) error {
			if err := j.openSecrets(ctx); err != nil {
				return err
			}
			for _, path := range j.args {
				path = j.real(path)
				plain, secret, err := j.openUnnamed(path)
				if err != nil {
					return err
				}
				sealed, err := j.read(path)
				if err != nil {
					return err
				}
				// The file keeps the label that stands in it, whichever secret opened it.
				if err := j.editor(ctx, path, plain, secret.Password, vault.IDOf(sealed)); err != nil {
					return err
				}
			}
			return nil
		})
}

// editor lets the user change a text in $EDITOR and encrypts the result. A text that did not change is
// not written, except a new one.
func (j *vaultJob) editor(ctx context.Context, path string, plain, password []byte, id string) error {
	dir := j.cfg.Text("DEFAULT_LOCAL_TMP")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "hark-vault-*"+filepath.Ext(path))
	if err != nil {
		return err
	}
	defer shred(tmp.Name())
	if err := fill(tmp, plain, nil); err != nil {
		return err
	}
	if err := j.runEditor(ctx, tmp.Name()); err != nil {
		return err
	}
	edited, err := os.ReadFile(tmp.Name())
	if err != nil {
		return ansibleerror.Errorf("Unable to read source file (%s): %s", tmp.Name(),
			osReason(err, value.ReprText(tmp.Name())))
	}
	if plain != nil && bytes.Equal(plain, edited) {
		return nil
	}
	sealed, err := vault.Encrypt(edited, password, id)
	if err != nil {
		return err
	}
	before, _ := os.Stat(path) // nil for a new file
	return j.write(path, sealed, before)
}

func (j *vaultJob) runEditor(ctx context.Context, path string) error {
	line, ok := j.cfg.Getenv("EDITOR")
	if !ok {
		line = "vi"
	}
	words, err := shlex.Split(line)
	if err != nil || len(words) == 0 {
		return fmt.Errorf("cannot use the editor %q", line)
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = j.term.In, terminal.FileOf(j.term.Out), terminal.FileOf(j.term.Err)
	if err := cmd.Run(); err != nil {
		if _, status := err.(*exec.ExitError); !status { // what the editor says by its status does not count
			return ansibleerror.Errorf("Unable to execute the command %q: %s", strings.Join(append(words, path), " "),
				osReason(err, value.ReprText(words[0])))
		}
	}
	return nil
}

// shred removes a file after its text was overwritten.
func shred(path string) {
	if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
		_ = overwrite(f)
		_ = f.Close()
	}
	_ = os.Remove(path)
}

func editorFlags(fs flags, j *vaultJob) {
	encryptIDFlag(fs, j)
	j.secretFlags(fs)
}
