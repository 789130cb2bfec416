package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"hark/modules/py/cwd"
)

// FromFile reads a password from a file, or from the output of an executable one. A script whose name ends in
// -client is called with --vault-id ID. Known secrets open a password file that is itself a vault; they may be nil.
func FromFile(ctx context.Context, path, id string, known *Secrets) (Secret, error) {
	abs, err := cwd.Abs(path)
	if err != nil {
		return Secret{}, fmt.Errorf("cannot use the vault password file %s: %w", path, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return Secret{}, failf("The vault password file %s was not found", abs)
	}
	if info.Mode()&0o111 != 0 {
		password, err := runScript(ctx, abs, id)
		return Secret{ID: id, Password: password}, err
	}
	raw, err := os.ReadFile(abs)
	if err != nil {
		return Secret{}, failf("Could not read vault password file %s: %v", abs, err)
	}
	raw = bytes.TrimSpace(raw)
	if IsEncrypted(raw) {
		if raw, err = known.Decrypt(raw, abs); err != nil {
			return Secret{}, err
		}
	}
	raw = bytes.Trim(raw, "\r\n")
	if len(raw) == 0 {
		return Secret{}, failf("Invalid vault password was provided from file (%s)", abs)
	}
	return Secret{ID: id, Password: raw}, nil
}

func isClient(path string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, filepath.Ext(path)), "-client")
}

const unknownIDStatus = 2

func runScript(ctx context.Context, path, id string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path)
	var stderr bytes.Buffer
	kind := "script"
	if isClient(path) {
		kind = "client script"
		cmd.Args = append(cmd.Args, "--vault-id", id)
		cmd.Stderr = &stderr
	} else {
		// Scripts may prompt: they have the terminal.
		cmd.Stderr, cmd.Stdin = os.Stderr, os.Stdin
	}
	// A background child that keeps the pipe open must not hold up the play.
	cmd.WaitDelay = 200 * time.Millisecond
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return nil, scriptFailure(kind, path, id, exit.ExitCode(), stderr.String())
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, failf("Problem running vault password %s %s (%s). If this is not a script, remove the executable bit "+
			"from the file.", kind, path, pythonError(err, path))
	}
	if out = bytes.Trim(out, "\r\n"); len(out) == 0 {
		return nil, failf("Invalid vault password was provided from script (%s)", path)
	}
	return out, nil
}

// pythonError words an error of the system as Python does.
func pythonError(err error, path string) string {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err.Error()
	}
	text := errno.Error()
	return fmt.Sprintf("[Errno %d] %s: '%s'", int(errno), strings.ToUpper(text[:1])+text[1:], path)
}

func scriptFailure(kind, path, id string, status int, stderr string) error {
	printed := "b'" + strings.ReplaceAll(stderr, "\n", `\n`) + "'"
	if kind != "client script" {
		return failf("Vault password script %s returned non-zero (%d): None", path, status)
	}
	if status == unknownIDStatus {
		return failf("Vault password client script %s did not find a secret for vault-id=%s: %s", path, id, printed)
	}
	return failf("Vault password client script %s returned non-zero (%d) when getting secret for vault-id=%s: %s", path,
		status, id, printed)
}
