package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"hark/playbook/vault"
)

// Sources of vault secrets that are prompts; the second is that of --ask-vault-pass, whose prompt Tower knows.
const (
	promptSource    = "prompt"
	askPromptSource = "prompt_ask_vault_pass"
)

// vaultNeed says how the secrets of a command are gathered.
type vaultNeed struct {
	ids, files []string
	ask        bool
	// create asks for new passwords, twice.
	create bool
	// must asks for one if there is none at all.
	must bool
	// fresh leaves the identities of the settings out.
	fresh bool
}

// vaultSecrets gathers the vault secrets: those of the settings, of --vault-id, of password files, of prompts.
func (a *app) vaultSecrets(ctx context.Context, need vaultNeed) (*vault.Secrets, error) {
	secrets := &vault.Secrets{MatchID: a.cfg.Bool("DEFAULT_VAULT_ID_MATCH"), Warn: a.display.WarnBlock}
	var last error
	for _, slug := range a.vaultSlugs(need) {
		id, source, labelled := strings.Cut(slug, "@")
		if !labelled {
			id, source = "", slug
		}
		secret, prompted, err := a.vaultSecret(ctx, id, source, need.create, secrets)
		switch {
		case err != nil && prompted:
			a.display.Warn(fmt.Sprintf("Error in vault password prompt (%s): %v", orNone(id), err))
			return nil, err
		case err != nil:
			last = err
			doing := "in vault password file loading"
			if _, missing := os.Stat(a.cfg.Abs(source)); missing != nil {
				doing = "getting vault password file"
			}
			a.display.Warn(fmt.Sprintf("Error %s (%s): %v", doing, orNone(id), err))
			continue
		}
		secrets.List = append(secrets.List, secret)
	}
	if last != nil && len(secrets.List) == 0 {
		return nil, last
	}
	return secrets, nil
}

// vaultSlugs are the sources as label@source, in the order in which their secrets are tried.
func (a *app) vaultSlugs(need vaultNeed) []string {
	label := a.cfg.Text("DEFAULT_VAULT_IDENTITY")
	var slugs []string
	if !need.fresh {
		slugs = append(slugs, a.cfg.List("DEFAULT_VAULT_IDENTITY_LIST")...)
	}
	slugs = append(slugs, need.ids...)
	files := append([]string(nil), need.files...)
	if f := a.cfg.Text("DEFAULT_VAULT_PASSWORD_FILE"); f != "" {
		files = append(files, f)
	}
	for _, f := range files {
		slugs = append(slugs, label+"@"+a.cfg.Abs(f))
	}
	if need.ask || need.must && len(slugs) == 0 {
		slugs = append(slugs, label+"@"+askPromptSource)
	}
	return slugs
}

func (a *app) vaultSecret(ctx context.Context, id, source string, create bool, known *vault.Secrets) (s vault.Secret, prompted bool, err error) {
	label := id
	if label == "" {
		label = a.cfg.Text("DEFAULT_VAULT_IDENTITY")
	}
	if source == promptSource || source == askPromptSource {
		password, err := a.promptVault(ctx, label, source == askPromptSource, create)
		return vault.Secret{ID: label, Password: []byte(password)}, true, err
	}
	s, err = vault.FromFile(ctx, a.cfg.Abs(source), id, known)
	s.ID = label
	return s, false, err
}

func (a *app) promptVault(ctx context.Context, label string, plain, create bool) (string, error) {
	prompts := []string{fmt.Sprintf("Vault password (%s): ", label)}
	switch {
	case plain && create:
		prompts = []string{"New Vault password: ", "Confirm New Vault password: "}
	case plain:
		prompts = []string{"Vault password: "}
	case create:
		prompts = []string{fmt.Sprintf("New vault password (%s): ", label), fmt.Sprintf("Confirm new vault password (%s): ", label)}
	}
	var first string
	for i, p := range prompts {
		text, err := a.term.AskSecret(ctx, p)
		if err != nil {
			return "", vault.Error("EOFError (ctrl-d) on prompt for (" + label + ")")
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

// passwords are those of the connection and of become, "" for none.
type passwords struct{ connection, become string }

// askPasswords asks for the passwords that the flags want, or reads them from their files.
func (a *app) askPasswords(ctx context.Context, o *options) (err error) {
	p := &o.passwords
	method := "BECOME"
	if !a.cfg.Bool("AGNOSTIC_BECOME_PROMPT") {
		method = strings.ToUpper(o.becomeMethod)
	}
	prompt := method + " password: "
	switch {
	case o.askPass:
		// A terminal that ends gives no password, which is not an error.
		p.connection, _ = a.term.AskSecret(ctx, "SSH password: ")
		prompt = method + " password[defaults to SSH password]: "
	case o.passFile != "":
		if p.connection, err = a.passwordFile(ctx, o.passFile); err != nil {
			return err
		}
	}
	switch {
	case o.becomeAskPass:
		p.become, _ = a.term.AskSecret(ctx, prompt)
		if o.askPass && p.become == "" {
			p.become = p.connection
		}
	case o.becomePassFile != "":
		p.become, err = a.passwordFile(ctx, o.becomePassFile)
	}
	return err
}

// passwordFile reads a password from a file, from stdin (-), or from what an executable file prints.
func (a *app) passwordFile(ctx context.Context, path string) (string, error) {
	raw, err := a.passwordBytes(ctx, path)
	if err != nil {
		return "", err
	}
	raw = bytes.Trim(raw, "\r\n")
	if len(raw) == 0 {
		return "", failf("Empty password was provided from file (%s)", path)
	}
	return string(raw), nil
}

func (a *app) passwordBytes(ctx context.Context, path string) ([]byte, error) {
	if path == "-" {
		return a.term.ReadAll()
	}
	path = a.cfg.Abs(path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, failf("The password file %s was not found", path)
	}
	if info.Mode()&0o111 == 0 || info.IsDir() {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, failf("Could not read password file %s: %v", path, err)
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
		return nil, failf("The password script %s returned an error (rc=%d): %s", path, exit.ExitCode(), stderr.String())
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, failf("Problem occured when trying to run the password script %s (%v). "+
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
