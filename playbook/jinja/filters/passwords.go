package filters

import (
	"errors"
	"strconv"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/passwords"
)

// ansiblePasswords are Ansible's filters of passwords.
func ansiblePasswords() map[string]jinja.Filter {
	return map[string]jinja.Filter{"password_hash": passwordHash}
}

func passwordHash(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("get_encrypted_password", value.Opt("hashtype", value.Str("sha512")), value.Opt("salt", none),
		value.Opt("salt_size", none), value.Opt("rounds", none), value.Opt("ident", none))
	if err != nil {
		return nil, err
	}
	var o passwords.Options
	for _, text := range []struct {
		to   *string
		from value.Value
	}{{&o.Salt, a[1]}, {&o.Ident, a[4]}} {
		if err := optionalText(text.to, text.from); err != nil {
			return nil, err
		}
	}
	for _, number := range []struct {
		to   *int
		from value.Value
	}{{&o.SaltSize, a[2]}, {&o.Rounds, a[3]}} {
		if err := optionalInt(number.to, number.from); err != nil {
			return nil, err
		}
	}
	name, err := value.ToStr(a[0])
	if err != nil {
		return nil, err
	}
	plain, ok := value.Text(in)
	if !ok {
		return nil, value.TypeErrorf("secret must be unicode or bytes, not %s", secretClass(in))
	}
	hash, err := passwords.Hash(c.Ctx, plain, name, o)
	var refused passwords.Error
	if errors.As(err, &refused) {
		return nil, value.FilterErrorf("%s. %s", refused, refused)
	}
	return value.Str(hash), err
}

// secretClass names a class as passlib does.
func secretClass(v value.Value) string {
	if value.IsNone(v) {
		return "None"
	}
	return strings.TrimSuffix(strings.TrimPrefix(value.ClassOf(v).Str(), "<class '"), "'>")
}

// optionalText sets text unless v counts as nothing.
func optionalText(text *string, v value.Value) error {
	given, err := value.Truth(v)
	if err != nil || !given {
		return err
	}
	*text, err = value.ToStr(v)
	return err
}

// optionalInt sets n unless v counts as nothing.
func optionalInt(n *int, v value.Value) error {
	given, err := value.Truth(v)
	if err != nil || !given {
		return err
	}
	if s, ok := value.Text(v); ok {
		if n, err := strconv.Atoi(s); err == nil {
			v = value.Int(n)
		}
	}
	big := value.AsBig(v)
	if big == nil {
		return value.TypeErrorf("'<' not supported between instances of '%s' and 'int'", v.Type())
	}
	if !big.IsInt64() {
		return value.ValueErrorf("%s is too large", big)
	}
	*n = int(big.Int64())
	return nil
}
