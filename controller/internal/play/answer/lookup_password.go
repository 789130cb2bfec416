package answer

import (
	"bytes"
	"crypto/rand"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hark/agent/atomicfile"
	"hark/modules/py/value"
	"hark/playbook/jinja/pyrandom"
	"hark/playbook/syntax"
)

// passwordSpec is one term of the lookup password: a file and how to make what goes into it.
type passwordSpec struct {
	path           string
	length         int
	chars          string
	encrypt, ident string
	seed           string
}

// maxPassword is the longest password that is made.
const maxPassword = 1 << 20

func lookupPassword(a *Answerer, c *lookupCall) ([]value.Value, error) {
	var out []value.Value
	for _, term := range c.texts() {
		s, err := c.passwordSpec(term)
		if err != nil {
			return nil, err
		}
		password, err := a.password(s)
		if err != nil {
			return nil, err
		}
		out = append(out, value.Str(password))
	}
	return out, nil
}

func (c *lookupCall) passwordSpec(term string) (passwordSpec, error) {
	o := c.options(options{"length": "20", "encrypt": "", "chars": "", "ident": "", "seed": ""})
	name, rest, more := strings.Cut(term, " ")
	if more {
		pairs, raw, err := syntax.KV(rest, false)
		if err != nil {
			return passwordSpec{}, failLookup("AnsibleError", "%v", err)
		}
		if raw != "" {
			name += " " + raw
			if !strings.HasPrefix(term, name) {
				return passwordSpec{}, failLookup("AnsibleError",
					"Unrecognized value after key=value parameters given to password lookup")
			}
		}
		var unknown []string
		for _, p := range pairs {
			if _, ok := o[p.Key]; !ok {
				unknown = append(unknown, p.Key)
			}
			o[p.Key] = p.Value
		}
		if len(unknown) > 0 {
			return passwordSpec{}, failLookup("AnsibleError", "Unrecognized parameter(s) given to password lookup: %s",
				strings.Join(unknown, ", "))
		}
	}
	length, err := strconv.Atoi(o["length"])
	if err != nil {
		return passwordSpec{}, failLookup("ValueError", "invalid literal for int() with base 10: %s",
			value.ReprText(o["length"]))
	}
	if length > maxPassword {
		return passwordSpec{}, failLookup("AnsibleError", "a password of %d characters is longer than %d", length,
			maxPassword)
	}
	length = max(0, length) // as in Python, where nothing is drawn then
	return passwordSpec{path: c.dir.Path(name), length: length, chars: passwordChars(c, o["chars"]),
		encrypt: o["encrypt"], ident: o["ident"], seed: o["seed"]}, nil
}

// passwordChars returns the characters to choose from: names of Python's string module or the characters themselves,
// separated by commas; two commas are a comma.
func passwordChars(c *lookupCall, spec string) string {
	sets := []string{"ascii_letters", "digits", ".,:-_"}
	given, _ := c.kw.Get("chars")
	switch l, isList := given.(*value.List); {
	case spec != "" && (!isList || spec != textOf(l)):
		sets = nil
		if strings.Contains(spec, ",,") {
			sets = []string{","}
		}
		for _, s := range strings.Split(strings.ReplaceAll(spec, ",,", ","), ",") {
			if s != "" {
				sets = append(sets, s)
			}
		}
	case isList:
		sets = nil
		for _, item := range l.Items {
			sets = append(sets, textOf(item))
		}
	}
	var b strings.Builder
	for _, s := range sets {
		if named, ok := charSets()[s]; ok {
			s = named
		}
		b.WriteString(s)
	}
	return strings.NewReplacer(`"`, "", "'", "").Replace(b.String())
}

func charSets() map[string]string {
	const lower, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	upper := strings.ToUpper(lower)
	return map[string]string{
		"ascii_lowercase": lower, "ascii_uppercase": upper, "ascii_letters": lower + upper, "digits": digits,
		"hexdigits": digits + "abcdefABCDEF", "octdigits": "01234567", "punctuation": punctuation,
		"whitespace": " \t\n\r\v\f", "printable": digits + lower + upper + punctuation + " \t\n\r\v\f",
	}
}

// password reads the file of a password, or makes it. Lookups run one at a time so that two hosts that ask at
// once get the same.
func (a *Answerer) password(s passwordSpec) (string, error) {
	a.passwords.Lock()
	defer a.passwords.Unlock()
	keep := s.path != "/dev/null"
	content, err := os.ReadFile(s.path)
	fresh := err != nil || !keep
	plain, salt, ident := parsePassword(string(bytes.TrimRight(content, pySpace)))
	if fresh {
		if plain, err = randomText(s.length, s.chars, s.seed); err != nil {
			return "", err
		}
		salt, ident = "", ""
	}
	a.Secrets.Hide(plain)
	if s.ident != "" && ident != "" && ident != s.ident {
		return "", failLookup("AnsibleError", "The ident parameter provided (%s) does not match the stored one (%s).",
			ident, s.ident)
	}
	if s.ident != "" {
		ident = s.ident
	}
	changed := fresh
	if s.encrypt != "" && salt == "" {
		changed = true
		if salt, err = randomText(saltSize(s.encrypt), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./",
			""); err != nil {
			return "", err
		}
	}
	if s.encrypt == "bcrypt" && ident == "" {
		ident, changed = "2b", true
	}
	if changed && keep {
		if err := storePassword(s.path, plain, salt, ident); err != nil {
			return "", failLookup("AnsibleError", "cannot store the password: %v", err)
		}
	}
	if s.encrypt == "" {
		return plain, nil
	}
	return a.Hash(plain, s.encrypt, salt, ident)
}

func parsePassword(content string) (plain, salt, ident string) {
	i := strings.LastIndex(content, " salt=")
	if i < 0 {
		return content, "", ""
	}
	plain, salt = content[:i], content[i+len(" salt="):]
	if j := strings.LastIndex(salt, " ident="); j >= 0 {
		salt, ident = salt[:j], salt[j+len(" ident="):]
	}
	return plain, salt, ident
}

func storePassword(path, plain, salt, ident string) error {
	text := plain
	if salt != "" {
		text += " salt=" + salt
		if ident != "" {
			text += " ident=" + ident
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, []byte(text+"\n"))
}

func saltSize(scheme string) int {
	switch scheme {
	case "bcrypt":
		return 22
	case "sha256_crypt", "sha512_crypt":
		return 16
	}
	return 8
}

// randomText is text of n characters out of chars; with a seed it is always the same.
func randomText(n int, chars, seed string) (string, error) {
	set := []rune(chars)
	if len(set) == 0 {
		return "", failLookup("AnsibleError", "cannot make a password of no characters")
	}
	out := make([]rune, n)
	pick := func() (int, error) {
		i, err := rand.Int(rand.Reader, big.NewInt(int64(len(set))))
		if err != nil {
			return 0, err
		}
		return int(i.Int64()), nil
	}
	if seed != "" {
		drawn, err := pyrandom.Seeded(value.Str(seed))
		if err != nil {
			return "", err
		}
		pick = func() (int, error) { return drawn.Below(len(set)), nil }
	}
	for i := range out {
		k, err := pick()
		if err != nil {
			return "", err
		}
		out[i] = set[k]
	}
	return string(slices.Clip(out)), nil
}
