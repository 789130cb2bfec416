package filters

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"hark/modules/dialect"
	"hark/modules/mask"
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/sealed"
)

// ansibleVaults are Ansible's filters that seal text with a password.
func ansibleVaults() map[string]jinja.Filter {
	return map[string]jinja.Filter{"vault": vaultFilter, "unvault": unvaultFilter}
}

// filterVaultID is the vault id that the filters use unless they are given one.
const filterVaultID = "filter_default"

// secretText is text, or an undefined value, whose use is the error. A vault string is not text here.
func secretText(v value.Value, refusal string) (string, error) {
	if _, isVault := v.(*value.Vault); !isVault {
		if b, ok := v.(value.Bytes); ok {
			return string(b), nil
		}
		if s, ok := value.Text(v); ok {
			return s, nil
		}
		if u, ok := v.(*value.Undefined); ok {
			return "", u.Use()
		}
	}
	return "", value.Errorf("AnsibleFilterTypeError", "%s: %s", refusal, value.ClassOf(v).Str())
}

func vaultFilter(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_vault", value.Req("secret"), value.Opt("salt", none),
		value.Opt("vaultid", value.Str(filterVaultID)),
		value.Opt("wrap_object", value.Bool(false)), value.Opt("vault_id", none))
	if err != nil {
		return nil, err
	}
	password, err := secretText(a[0], "Secret passed is required to be a string, instead we got")
	if err != nil {
		return nil, err
	}
	plain, err := secretText(in, "Can only vault strings, instead we got")
	if err != nil {
		return nil, err
	}
	salt, err := vaultSalt(a[1])
	if err != nil {
		return nil, err
	}
	if !value.IsNone(a[4]) { // what ansible-core 2.19 calls it
		a[2] = a[4]
	}
	id, err := value.ToStr(a[2])
	if err != nil {
		return nil, err
	}
	wrap, err := value.Truth(a[3])
	if err != nil {
		return nil, err
	}
	hide(c, password, plain)
	out, err := sealed.Seal([]byte(plain), []byte(password), id, salt)
	if err != nil {
		return nil, value.FilterErrorf("Unable to encrypt: %s. %s", err, err)
	}
	if wrap { // without a key the object shows what it holds
		return value.OpenedVault(string(out), string(out), nil), nil
	}
	return value.Str(out), nil
}

// vaultSalt returns the salt that is given; nil is none.
func vaultSalt(v value.Value) ([]byte, error) {
	if value.IsNone(v) {
		return nil, nil
	}
	if given, err := value.Truth(v); err != nil || !given {
		if err == nil {
			err = value.FilterErrorf("Unable to encrypt: %[1]s. %[1]s", "Empty or invalid salt passed to encrypt()")
		}
		return nil, err
	}
	s, err := value.ToStr(v)
	return []byte(s), err
}

func unvaultFilter(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_unvault", value.Req("secret"), value.Opt("vaultid", none), value.Opt("vault_id", none))
	if err != nil {
		return nil, err
	}
	password, err := secretText(a[0], "Secret passed is required to be as string, instead we got")
	if err != nil {
		return nil, err
	}
	hide(c, password)
	keys := sealed.Keys{Secrets: []sealed.Secret{{ID: filterVaultID, Password: []byte(password)}}}
	if object, ok := in.(*value.Vault); ok {
		plain, _, err := keys.Open([]byte(object.Cipher), "")
		if err != nil {
			return nil, value.Errorf("AnsibleVaultError", "%s", err)
		}
		hide(c, string(plain))
		return value.Str(plain), nil
	}
	text, err := secretText(in, "Vault should be in the form of a string, instead we got")
	if err != nil {
		return nil, err
	}
	if !sealed.Is([]byte(text)) {
		return value.Str(text), nil
	}
	plain, _, err := keys.Open([]byte(text), "")
	if err != nil {
		return nil, value.FilterErrorf("Unable to decrypt: %s. %s", err, err)
	}
	hide(c, string(plain))
	return value.Str(plain), nil
}

// Secrets are what a play hides where it is shown; a *mask.Masker is one.
type Secrets interface {
	// Add makes texts secrets, and gives those that were none.
	Add(texts ...string) []string
	// TextAs is s with a placeholder where secrets are.
	TextAs(s, placeholder string) string
}

// secretsOf returns those of the play whose template calls; nil before ansible-core 2.22, and where nothing is
// hidden.
func secretsOf(c *jinja.Call) Secrets {
	if s, ok := c.Scope.(interface{ Secrets() Secrets }); ok {
		return s.Secrets()
	}
	return nil
}

// hide makes texts secrets, where there are any.
func hide(c *jinja.Call, texts ...string) {
	if s := secretsOf(c); s != nil {
		s.Add(texts...)
	}
}

// Hiding returns the filters that hide texts, since ansible-core 2.22, by all their names.
func Hiding() map[string]jinja.Filter {
	have := map[string]jinja.Filter{"register_secret": registerSecret, "mask_secrets": maskSecrets}
	return named(dialect.Filters(), func(row *dialect.Plugin) (jinja.Filter, bool) {
		return have[row.Name], row.Since == dialect.SecretsRedacted
	})
}

func registerSecret(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("register_secret", value.Opt("validation_action", value.Str("error")))
	if err != nil {
		return nil, err
	}
	refusal := ""
	text, isText := value.Text(in)
	if !isText {
		refusal = "Secret must be a string"
	} else if utf8.RuneCountInString(strings.Trim(text, mask.Trim)) < mask.MinLength {
		refusal = fmt.Sprintf("Secret must be at least %d characters long after trimming whitespace", mask.MinLength)
	}
	if refusal == "" {
		hide(c, text)
		return in, nil
	}
	switch then, _ := value.Text(a[0]); then {
	case "error":
		return nil, value.Errorf("ValueError", "%s", refusal)
	case "warn":
		if w, ok := c.Scope.(interface{ Warn(msg string) }); ok {
			w.Warn(refusal)
		}
	}
	return in, nil
}

func maskSecrets(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("mask_secrets", value.Opt("mask_placeholder", value.Str(mask.Placeholder)))
	if err != nil {
		return nil, err
	}
	text, isText := value.Text(in)
	if u, undefined := in.(*value.Undefined); undefined {
		return nil, u.Use()
	}
	placeholder, err := value.ToStr(a[0])
	known := secretsOf(c)
	if err != nil || !isText || known == nil {
		return in, err
	}
	return value.Str(known.TextAs(text, placeholder)), nil
}
