package answer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/search"
	"hark/playbook/vault"
)

// read returns a controller-side file, opened if it is a vault.
func (c *Config) read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !vault.IsEncrypted(data) {
		return data, err
	}
	data, err = c.Secrets.Decrypt(data, path)
	if err != nil {
		return nil, &vaultError{vault.Worded(err, c.Templates.Has(dialect.FileLookupSearch))}
	}
	return data, nil
}

// vaultError is why a vault could not be opened.
type vaultError struct{ cause error }

func (e *vaultError) Error() string { return e.cause.Error() }

func (e *vaultError) Unwrap() error { return e.cause }

func lookupFile(a *Answerer, c *lookupCall) ([]value.Value, error) {
	var out []value.Value
	for _, term := range c.texts() {
		data, err := c.file(a, term)
		if err != nil {
			return nil, err
		}
		text := string(data)
		if c.bool("lstrip", false) {
			text = strings.TrimLeft(text, pySpace)
		}
		if c.bool("rstrip", true) {
			text = strings.TrimRight(text, pySpace)
		}
		out = append(out, value.Str(text))
	}
	return out, nil
}

// file returns the content of a file that the lookup file was given.
func (c *lookupCall) file(a *Answerer, term string) ([]byte, error) {
	tagged := a.Templates.Has(dialect.FileLookupSearch)
	path := ""
	if tagged {
		path = c.found(a, "files", term)
	} else {
		path = a.find(c, "files", term)
	}
	if path != "" {
		data, err := a.read(path)
		var sealed *vaultError
		switch isSealed := errors.As(err, &sealed); {
		case err == nil:
			return data, nil
		case isSealed && tagged:
			return nil, failLookup("AnsibleError", "Unable to access the file %s: %v", value.ReprText(term), err)
		case isSealed:
			return nil, failLookup("AnsibleVaultError", "%v", err)
		}
	}
	if tagged {
		return nil, failLookup("AnsibleError",
			"Unable to access the file %s: File not found. Use -vvvvv to see paths searched.", value.ReprText(term))
	}
	return nil, failLookup("AnsibleError", dialect.LookupFileNotFound.Format, term)
}

// pySpace is what Python's strip takes off, as far as files hold it.
const pySpace = " \t\n\r\v\f\x1c\x1d\x1e\x1f\u0085\u00a0"

func lookupUnvault(a *Answerer, c *lookupCall) ([]value.Value, error) {
	var out []value.Value
	for _, term := range c.texts() {
		path := a.find(c, "files", term)
		if path == "" {
			return nil, failLookup("AnsibleParserError", "Unable to find file matching \"%s\" ", term)
		}
		data, err := a.read(path)
		if errors.Is(err, value.ErrNoSecret) && !a.Templates.Has(dialect.FileLookupSearch) {
			err = errNoPassword(path)
		}
		if err != nil {
			return nil, failLookup("AnsibleParserError", "%v", err)
		}
		a.Secrets.Hide(string(data))
		out = append(out, value.Str(data))
	}
	return out, nil
}

func lookupGlob(a *Answerer, c *lookupCall) ([]value.Value, error) {
	var out []value.Value
	for _, term := range c.texts() {
		var dirs []string
		if name := filepath.Base(term); name != term {
			dirs = []string{a.find(c, "files", search.Parent(term))}
		} else {
			for _, p := range c.paths {
				dirs = append(dirs, filepath.Join(p, "files"), p)
			}
		}
		out = append(out, strs(globFirst(dirs, filepath.Base(term))...)...)
	}
	return out, nil
}

// globFirst returns the files that match in the first directory that has any. Like Python's glob, a pattern matches
// names with a leading dot only if it has one.
func globFirst(dirs []string, pattern string) []string {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		var found []string
		matches, _ := filepath.Glob(search.Join(quoteGlob(dir), pattern))
		for _, m := range matches {
			hidden := strings.HasPrefix(filepath.Base(m), ".") && !strings.HasPrefix(pattern, ".")
			if st, err := os.Stat(m); err == nil && st.Mode().IsRegular() && !hidden {
				found = append(found, m)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func quoteGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

func lookupFirstFound(_ *Answerer, c *lookupCall) ([]value.Value, error) {
	terms := c.terms
	if _, ok := c.kw.Get("files"); ok && len(terms) == 0 {
		terms = []value.Value{c.kw} // as from 2.16 on; 2.14 finds nothing
	}
	names, skip, err := firstFoundNames(terms, c.kw)
	if err != nil {
		return nil, err
	}
	sub := c.sub
	if sub == "" {
		sub = "files"
	}
	for _, name := range names {
		if found := c.find(sub, name); found != "" {
			return strs(found), nil
		}
	}
	if skip {
		return nil, nil
	}
	return nil, failLookup("AnsibleLookupError", "No file was found when using first_found.")
}

// firstFoundNames returns the names in the order in which they are tried. An entry with files and no paths replaces
// those before it, as it does in Ansible.
func firstFoundNames(terms []value.Value, kw *value.Dict) (names []string, skip bool, err error) {
	for _, term := range terms {
		opts := kw
		switch t := term.(type) {
		case *value.Dict:
			opts = t
		case *value.List:
			part, s, err := firstFoundNames(t.Items, kw)
			if err != nil {
				return nil, false, err
			}
			names, skip = append(names, part...), s
			continue
		default:
			if !value.IsText(term) {
				return nil, false, failLookup("AnsibleLookupError",
					"Invalid term supplied, can handle string, mapping or list of strings but got: %s for %s", pyType(term),
					textOf(term))
			}
		}
		files, paths := splitOption(opts, "files", ",;"), splitOption(opts, "paths", ",:;")
		skipOpt, _ := opts.Get("skip")
		skip = value.SaysYes(skipOpt)
		if len(files) == 0 && value.IsText(term) && len(paths) > 0 {
			files = []string{textOf(term)} // as from 2.16 on; in 2.14 there is nothing to look for
		}
		switch {
		case len(paths) > 0:
			for _, p := range paths {
				for _, f := range files {
					names = append(names, search.Join(p, f))
				}
			}
		case len(files) > 0:
			names = files
		default:
			names = append(names, textOf(term))
		}
	}
	return names, skip, nil
}

func splitOption(opts *value.Dict, name, seps string) []string {
	v, ok := opts.Get(name)
	if !ok || value.IsNone(v) {
		return nil
	}
	list := []value.Value{v}
	if l, ok := v.(*value.List); ok {
		list = l.Items
	}
	var out []string
	for _, item := range list {
		rest := textOf(item)
		for {
			i := strings.IndexAny(rest, seps)
			if i < 0 {
				break
			}
			out = append(out, rest[:i])
			rest = rest[i+1:]
		}
		out = append(out, rest)
	}
	return out
}

func pyType(v value.Value) string { return "<class '" + v.Type() + "'>" }
