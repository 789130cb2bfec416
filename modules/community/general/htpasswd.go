package general

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/crypt"
	"hark/modules/py/value"
)

type htpasswdArgs struct {
	Path     string  `arg:"path,required,type=path,alias=dest|destfile" doc:"The file."`
	Name     string  `arg:"name,required,alias=username" doc:"The user."`
	Password *string `arg:"password,nolog" doc:"The user's password."`
	Scheme   string  `arg:"crypt_scheme,alias=hash_scheme,default=apr_md5_crypt" doc:"How it is hashed: apr_md5_crypt, bcrypt, sha256_crypt, sha512_crypt, md5_crypt, ldap_sha1 or plaintext."`
	State    string  `arg:"state,default=present,choices=present|absent" doc:"Whether the user shall be in the file."`
	Create   bool    `arg:"create,default=yes" doc:"Whether to make a file that is not there."`
	fsx.FileArgs
}

// Htpasswd is community.general.htpasswd.
var Htpasswd = modules.Define("community.general.htpasswd", "Manage users of HTTP servers", runHtpasswd,
	modules.Edits("path"),
	modules.Documented(`- community.general.htpasswd: {path: /etc/nginx/passwd, name: janet, password: "{{ janet_password }}", mode: "0640", owner: root, group: www-data}
- community.general.htpasswd: {path: /etc/nginx/passwd, name: jack, state: absent}
`))

func runHtpasswd(ctx context.Context, env *modules.Env, a htpasswdArgs) (modules.Result, error) {
	f, err := readHtpasswd(a.Path, env.Check)
	if err != nil {
		return modules.Result{}, err
	}
	if a.State == "absent" && f == nil {
		env.Warn("%s does not exist", a.Path)
		return modules.Result{Msg: a.Name + " not present"}, nil
	}
	res := modules.Result{Data: value.DictOf("msg", modules.Here, "changed", modules.Here)}
	if a.State == "absent" {
		err = a.absent(env, f, &res)
	} else {
		err = a.present(ctx, env, f, &res)
	}
	if err == nil {
		// What this changes does not count, as in Ansible.
		_, err = a.For(a.Path, false).Apply(env.Check, nil)
	}
	return res, err
}

func (a *htpasswdArgs) absent(env *modules.Env, f *htpasswdFile, res *modules.Result) error {
	if err := f.parse(); err != nil {
		return err
	}
	i := f.find(a.Name)
	if i < 0 {
		res.Msg = a.Name + " not present"
		return nil
	}
	res.Changed, res.Msg = true, "Remove "+a.Name
	f.lines = slices.Delete(f.lines, i, i+1)
	if env.Check {
		return nil
	}
	return f.save(a.Path, &a.FileArgs)
}

func (a *htpasswdArgs) present(ctx context.Context, env *modules.Env, f *htpasswdFile, res *modules.Result) error {
	if !slices.Contains(htpasswdSchemes(), a.Scheme) {
		return tool.Fail(nil, "%s", value.ReprText("no crypt handler found for algorithm: "+value.ReprText(a.Scheme)))
	}
	fresh := f == nil
	switch {
	case fresh && !a.Create:
		return tool.Fail(nil, "Destination %s does not exist", a.Path)
	case fresh && env.Check:
		res.Changed, res.Msg = true, "Create "+a.Path
		return nil
	case fresh:
		f = &htpasswdFile{}
		if err := os.MkdirAll(filepath.Dir(a.Path), 0o777); err != nil {
			return tool.Fail(nil, "%s", oserr.Path(err, filepath.Dir(a.Path)))
		}
		res.Msg = "Created " + a.Path + " and added " + a.Name
	default:
		res.Msg = "Add/update " + a.Name
	}
	if err := f.parse(); err != nil {
		return err
	}
	if err := checkUser(a.Name); err != nil {
		return err
	}
	i := f.find(a.Name)
	switch {
	case a.Password == nil && (i >= 0 || !env.Check):
		return tool.Fail(nil, "secret must be unicode or bytes, not None")
	case i >= 0:
		fits, err := a.fits(ctx, f.lines[i].hash)
		if err != nil {
			return err
		}
		if fits {
			res.Msg = a.Name + " already present"
			return nil
		}
	}
	res.Changed = true
	if env.Check {
		return nil
	}
	hash, err := a.hash(ctx)
	if err != nil {
		return err
	}
	f.set(a.Name, hash)
	return f.save(a.Path, &a.FileArgs)
}

// htpasswdSchemes are the ways to hash by the names of passlib.
func htpasswdSchemes() []string {
	return []string{"apr_md5_crypt", "bcrypt", "sha256_crypt", "sha512_crypt", "md5_crypt", "ldap_sha1", "plaintext"}
}

// fits tells whether the hash is the password's. Hashes of schemes that passlib does not look for beside the one that was asked for are taken for
// plain text, as in Ansible.
func (a *htpasswdArgs) fits(ctx context.Context, hash string) (bool, error) {
	known := []string{"apr_md5_crypt", "ldap_sha1", a.Scheme}
	if slices.Contains([]string{"apr_md5_crypt", "ldap_sha1", "plaintext"}, a.Scheme) {
		known = append(known, "bcrypt", "sha256_crypt", "sha512_crypt")
	}
	if !slices.Contains(known, crypt.Scheme(hash)) {
		return hash == *a.Password, nil
	}
	return crypt.Verify(ctx, []byte(*a.Password), hash)
}

// hash hashes the password with a new salt, with as many rounds as passlib takes.
func (a *htpasswdArgs) hash(ctx context.Context) (string, error) {
	password := []byte(*a.Password)
	size := map[string]int{"apr_md5_crypt": 8, "md5_crypt": 8, "sha256_crypt": 16, "sha512_crypt": 16, "bcrypt": 22}[a.Scheme]
	salt, err := crypt.NewSalt(size)
	if err != nil {
		return "", err
	}
	switch a.Scheme {
	case "apr_md5_crypt":
		return crypt.MD5(crypt.Apache, password, salt), nil
	case "md5_crypt":
		return crypt.MD5(crypt.FreeBSD, password, salt), nil
	case "sha256_crypt":
		return crypt.SHA256(ctx, password, 535000, salt)
	case "sha512_crypt":
		return crypt.SHA512(ctx, password, 656000, salt)
	case "bcrypt":
		return crypt.Bcrypt(ctx, password, "2b", 12, salt)
	case "ldap_sha1":
		return crypt.LDAP(password), nil
	}
	return *a.Password, nil
}

func checkUser(name string) error {
	switch {
	case len(name) > 255:
		return tool.Fail(nil, "user must be at most 255 characters: %s", value.ReprBytes(name))
	case strings.ContainsAny(name, ":\n\r\t\x00"):
		return tool.Fail(nil, "user contains invalid characters: %s", value.ReprBytes(name))
	}
	return nil
}

// htpasswdLine is a user with a hash; or other text of the file, which has no user.
type htpasswdLine struct{ user, hash, other string }

type htpasswdFile struct {
	raw   []byte
	lines []htpasswdLine
}

// readHtpasswd reads a file, nil if there is none. Blank lines go from it at once, but in check mode.
func readHtpasswd(path string, check bool) (*htpasswdFile, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, tool.Fail(nil, "%s", oserr.Path(err, path))
	}
	f := &htpasswdFile{raw: raw}
	var full []byte
	blank := false
	for line := range bytes.Lines(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))) {
		if len(bytes.TrimSpace(line)) == 0 {
			blank = true
			continue
		}
		full = append(full, line...)
	}
	if !blank {
		return f, nil
	}
	f.raw = full
	if check {
		return f, nil
	}
	return f, fsx.WriteFile(path, full, false)
}

// parse reads the lines. A user's second line is kept as it is and does not count.
func (f *htpasswdFile) parse() error {
	n := 0
	for line := range strings.Lines(string(f.raw)) {
		n++
		if text := strings.TrimLeft(line, " \t\r\n\v\f"); text == "" || text[0] == '#' {
			f.lines = append(f.lines, htpasswdLine{other: line})
			continue
		}
		user, hash, ok := strings.Cut(strings.TrimRight(line, " \t\r\n\v\f"), ":")
		if !ok || strings.Contains(hash, ":") {
			return tool.Fail(nil, "malformed htpasswd file (error reading line %d)", n)
		}
		if f.find(user) >= 0 {
			f.lines = append(f.lines, htpasswdLine{other: line})
			continue
		}
		f.lines = append(f.lines, htpasswdLine{user: user, hash: hash})
	}
	return nil
}

func (f *htpasswdFile) find(user string) int {
	return slices.IndexFunc(f.lines, func(l htpasswdLine) bool { return l.other == "" && l.user == user })
}

func (f *htpasswdFile) set(user, hash string) {
	if i := f.find(user); i >= 0 {
		f.lines[i].hash = hash
		return
	}
	f.lines = append(f.lines, htpasswdLine{user: user, hash: hash})
}

func (f *htpasswdFile) save(path string, a *fsx.FileArgs) error {
	var out strings.Builder
	for _, l := range f.lines {
		if l.other != "" {
			out.WriteString(l.other)
			continue
		}
		out.WriteString(l.user + ":" + l.hash + "\n")
	}
	return a.WriteFile(path, []byte(out.String()))
}
