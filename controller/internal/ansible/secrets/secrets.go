// Package secrets gathers what a command must know and nobody may see: vault secrets and the passwords of connections
// and of become, from settings, flags, files, scripts and prompts.
package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"hark/controller/config"
	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ui/terminal"
	"hark/controller/internal/ui/view"
	"hark/modules/dialect"
	"hark/playbook/vault"
)

// Sources of vault secrets that are prompts; the second is that of --ask-vault-pass, whose prompt Tower knows.
const (
	promptSource    = "prompt"
	askPromptSource = "prompt_ask_vault_pass"
)

// Keeper gathers secrets.
type Keeper struct {
	Settings *config.Config
	Console  *terminal.Console
	Display  *view.Display
}

// Need says how the vault secrets of a command are gathered.
type Need struct {
	// IDs are those of --vault-id, Files those of --vault-password-file.
	IDs, Files []string
	// Ask asks for one.
	Ask bool
	// Create asks for new passwords, twice.
	Create bool
	// Must asks for one if there is none at all.
	Must bool
	// Fresh leaves the identities of the settings out.
	Fresh bool
}

// Vault gathers the vault secrets: those of the settings, of --vault-id, of password files, of prompts.
func (k Keeper) Vault(ctx context.Context, need Need) (*vault.Secrets, error) {
	secrets := &vault.Secrets{MatchID: k.Settings.Bool("DEFAULT_VAULT_ID_MATCH"), Warn: k.Display.WarnBlock,
		Hidden: k.Display.Hidden()}
	var last error
	for _, slug := range k.slugs(need) {
		id, source, labelled := strings.Cut(slug, "@")
		if !labelled {
			id, source = "", slug
		}
		secret, prompted, err := k.secret(ctx, id, source, need.Create, secrets)
		switch {
		case err != nil && prompted:
			k.Display.Warn(fmt.Sprintf("Error in vault password prompt (%s): %v", orNone(id), err))
			return nil, err
		case err != nil:
			last = err
			doing := "in vault password file loading"
			if _, missing := os.Stat(k.Settings.Abs(source)); missing != nil {
				doing = "getting vault password file"
			}
			k.Display.Warn(fmt.Sprintf("Error %s (%s): %v", doing, orNone(id), err))
			continue
		}
		secrets.Hide(string(secret.Password))
		secrets.List = append(secrets.List, secret)
	}
	if last != nil && len(secrets.List) == 0 {
		return nil, last
	}
	return secrets, nil
}

// slugs returns the sources as label@source, in the order in which their secrets are tried.
func (k Keeper) slugs(need Need) []string {
	label := k.Settings.Text("DEFAULT_VAULT_IDENTITY")
	var slugs []string
	if !need.Fresh {
		slugs = append(slugs, k.Settings.List("DEFAULT_VAULT_IDENTITY_LIST")...)
	}
	slugs = append(slugs, need.IDs...)
	files := append([]string(nil), need.Files...)
	if f := k.Settings.Text("DEFAULT_VAULT_PASSWORD_FILE"); f != "" {
		files = append(files, f)
	}
	for _, f := range files {
		slugs = append(slugs, label+"@"+k.Settings.Abs(f))
	}
	if need.Ask || need.Must && len(slugs) == 0 {
		slugs = append(slugs, label+"@"+askPromptSource)
	}
	return slugs
}

func (k Keeper) secret(ctx context.Context, id, source string, create bool,
	known *vault.Secrets) (s vault.Secret, prompted bool, err error) {
	label := id
	if label == "" {
		label = k.Settings.Text("DEFAULT_VAULT_IDENTITY")
	}
	if source == promptSource || source == askPromptSource {
		password, err := k.prompt(ctx, label, source == askPromptSource, create)
		return vault.Secret{ID: label, Password: []byte(password)}, true, err
	}
	s, err = vault.FromFile(ctx, k.Settings.Abs(source), id, known)
	s.ID = label
	return s, false, err
}

func (k Keeper) prompt(ctx context.Context, label string, plain, create bool) (string, error) {
	prompts := []string{fmt.Sprintf("Vault password (%s): ", label)}
	switch {
	case plain && create:
		prompts = []string{"New Vault password: ", "Confirm New Vault password: "}
	case plain:
		prompts = []string{"Vault password: "}
	case create:
		prompts = []string{fmt.Sprintf("New vault password (%s): ", label),
			fmt.Sprintf("Confirm new vault password (%s): ", label)}
	}
	var first string
	for i, p := range prompts {
		text, err := k.Console.AskSecret(ctx, p)
		if err != nil {
			return "", vault.Error(dialect.VaultPasswordNotTyped.Text(label))
		}
		if text = strings.TrimSpace(text); text == "" {
			return "", vault.Error("Invalid vault password was provided")
		}
		if i > 0 && text != first {
			return "", vault.Error("Passwords do not match")
		}
		first = text
	}
	return first, nil
}

// Wanted says which passwords the flags want: asked for, or read from a file.
type Wanted struct {
	AskConnection, AskBecome   bool
	ConnectionFile, BecomeFile string
	// Become is the method of becoming another user, for the prompt.
	Become string
}

// Passwords are those of the connection and of become, "" for none.
type Passwords struct{ Connection, Become string }

// Passwords asks for the passwords that the flags want, or reads them from their files.
func (k Keeper) Passwords(ctx context.Context, w Wanted) (p Passwords, err error) {
	method := "BECOME"
	if !k.Settings.Bool("AGNOSTIC_BECOME_PROMPT") {
		method = strings.ToUpper(w.Become)
	}
	prompt := method + " password: "
	switch {
	case w.AskConnection:
		// A terminal that ends gives no password, which is not an error.
		p.Connection, _ = k.Console.AskSecret(ctx, "SSH password: ")
		prompt = method + " password[defaults to SSH password]: "
	case w.ConnectionFile != "":
		if p.Connection, err = k.passwordFile(ctx, w.ConnectionFile); err != nil {
			return p, err
		}
	}
	switch {
	case w.AskBecome:
		p.Become, _ = k.Console.AskSecret(ctx, prompt)
		if w.AskConnection && p.Become == "" {
			p.Become = p.Connection
		}
	case w.BecomeFile != "":
		p.Become, err = k.passwordFile(ctx, w.BecomeFile)
	}
	k.Display.Hidden().Add(p.Connection, p.Become)
	return p, err
}

// passwordFile reads a password from a file, from stdin (-), or from what an executable file prints.
func (k Keeper) passwordFile(ctx context.Context, path string) (string, error) {
	raw, err := k.passwordBytes(ctx, path)
	if err != nil {
		return "", err
	}
	raw = bytes.Trim(raw, "\r\n")
	if len(raw) == 0 {
		return "", ansibleerror.Errorf("Empty password was provided from file (%s)", path)
	}
	return string(raw), nil
}

func (k Keeper) passwordBytes(ctx context.Context, path string) ([]byte, error) {
	if path == "-" {
		return k.Console.ReadAll()
	}
	path = k.Settings.Abs(path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, ansibleerror.Errorf("The password file %s was not found", path)
	}
	if info.Mode()&0o111 == 0 || info.IsDir() {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, ansibleerror.Errorf("Could not read password file %s: %v", path, err)
		}
		return bytes.TrimSpace(raw), nil
	}
	cmd := exec.CommandContext(ctx, path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	// A background child that keeps the pipe open must not hold up the play.
	cmd.WaitDelay = 200 * time.Millisecond
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		return nil, ansibleerror.Errorf("The password script %s returned an error (rc=%d): %s", path, exit.ExitCode(),
			stderr.String())
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, ansibleerror.Errorf("Problem occured when trying to run the password script %s (%v). "+
			"If this is not a script, remove the executable bit from the file.", path, err)
	}
	return out, nil
}

func orNone(s string) string {
	if s == "" {
		return "None"
	}
	return s
}
