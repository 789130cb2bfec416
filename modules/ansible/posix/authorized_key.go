package posix

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/httpx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/nss"
	"hark/modules/py/value"
)

type authorizedKeyArgs struct {
	User       string  `arg:"user,required" doc:"Whose file it is."`
	Key        string  `arg:"key,required" doc:"The keys, a line each; an address that begins with http; or file: and the path of a file on the host."`
	Path       *string `arg:"path,type=path" doc:"The file, if it is not ~/.ssh/authorized_keys."`
	ManageDir  bool    `arg:"manage_dir,default=yes" doc:"Whether to make the file's directory and give it to the user."`
	State      string  `arg:"state,default=present,choices=absent|present" doc:"Whether the keys shall be there."`
	KeyOptions *string `arg:"key_options" doc:"Options to put before the keys."`
	Exclusive  bool    `arg:"exclusive,default=no" doc:"Remove all other keys."`
	Comment    *string `arg:"comment" doc:"Comment of the keys, instead of their own."`
	Validate   bool    `arg:"validate_certs,default=yes" doc:"Check TLS certificates."`
	Follow     bool    `arg:"follow,default=no" doc:"Write to what a link points to instead of replacing the link."`
}

// AuthorizedKey is ansible.posix.authorized_key.
var AuthorizedKey = modules.Define("ansible.posix.authorized_key", "Adds or removes an SSH authorized key",
	runAuthorizedKey,
	modules.Is(modules.ReadsInCheck),
	modules.EditsOr("authorized_keys", "path"),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.posix.authorized_key: {user: deploy, key: "{{ lookup('file', 'deploy.pub') }}"}
- ansible.posix.authorized_key: {user: root, key: "{{ keys | join('\n') }}", exclusive: true, key_options: 'no-pty,from="10.0.0.0/8"'}
`
		m.Returns = []modules.Return{{Name: "keyfile", Type: "str", When: "always", Doc: "The file."}}
	}), modules.RunsPrograms)

// keyring is one call of the module.
type keyring struct {
	ctx  context.Context
	env  *modules.Env
	args authorizedKeyArgs
	file string // as before anything was made
	keys *keyLines
}

func runAuthorizedKey(ctx context.Context, env *modules.Env, a authorizedKeyArgs) (modules.Result, error) {
	k := &keyring{ctx: ctx, env: env, args: a}
	wanted, err := k.wanted()
	if err != nil {
		return modules.Result{}, err
	}
	if k.file, err = k.locate(); err != nil {
		return modules.Result{}, err
	}
	before := ""
	if fsx.IsFile(k.file) {
		raw, err := os.ReadFile(k.file)
		if err != nil {
			return modules.Result{}, tool.Fail(nil, "cannot read %s: %s", k.file, oserr.Path(err, k.file))
		}
		before = string(raw)
	}
	k.keys = parseKeyLines(before)
	changed, err := k.edit(wanted)
	if err != nil {
		return modules.Result{}, err
	}
	res := modules.Result{Changed: changed, Data: value.DictOf(
		"user", a.User, "key", a.Key, "manage_dir", a.ManageDir, "state", a.State, "exclusive", a.Exclusive, "validate_certs",
		a.Validate,
		"follow", a.Follow, "path", modules.TextOrNil(a.Path), "key_options", modules.TextOrNil(a.KeyOptions), "comment",
		modules.TextOrNil(a.Comment),
		"keyfile", k.file, "changed", modules.Here,
	)}
	if !changed {
		return res, nil
	}
	dest := k.file
	if a.Follow {
		dest = fsx.RealPath(dest)
	}
	after := k.keys.String()
	if env.Diff {
		res.Diff = []modules.Diff{{Before: before, After: after, BeforeHeader: k.file, AfterHeader: dest}}
	}
	if env.Check {
		return res, nil
	}
	return res, k.write(dest, after)
}

// wanted returns the lines of the keys.
func (k *keyring) wanted() ([]string, error) {
	given := k.args.Key
	if strings.HasPrefix(given, "http") {
		content, msg, err := httpx.Fetch(k.ctx, k.env, given, k.args.Validate)
		if err != nil || msg != "" {
			return nil, tool.Fail(nil, "Error getting key from: %s", given)
		}
		given = string(content)
	}
	if strings.HasPrefix(given, "file") {
		content, err := keyFile(given)
		if err != nil {
			return nil, err
		}
		given = content
	}
	var list []string
	for _, line := range modules.Lines(given) {
		if text := line.(string); text != "" && !strings.HasPrefix(text, "#") {
			list = append(list, text)
		}
	}
	return list, nil
}

// keyFile reads the file that a file: address names.
func keyFile(address string) (string, error) {
	path := address
	if u, err := url.Parse(address); err == nil {
		path = u.Path
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", tool.Fail(nil, "Path to a key file not found: %s", path)
	case !info.Mode().IsRegular():
		return "", tool.Fail(nil, "Path to a key is a directory and must be a file: %s", path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", tool.Fail(nil, "Failed to read key file %s : %s", path, oserr.Path(err, path))
	}
	return string(content), nil
}

// locate returns the file of the user's keys.
func (k *keyring) locate() (string, error) {
	if k.env.Check && k.args.Path != nil {
		return *k.args.Path, nil
	}
	u, err := nss.UserNamed(k.args.User)
	switch {
	case err != nil && k.env.Check:
		return "", tool.Fail(nil, "Either user must exist or you must provide full path to key file in check mode")
	case err != nil:
		return "", tool.Fail(nil, "Failed to lookup user %s: \"getpwnam(): name not found: '%s'\"", k.args.User, k.args.User)
	case k.args.Path != nil:
		return *k.args.Path, nil
	}
	return filepath.Join(u.Home, ".ssh", "authorized_keys"), nil
}

// edit adds the keys or takes them away.
func (k *keyring) edit(wanted []string) (changed bool, err error) {
	base := len(k.keys.byKey)
	keep := map[string]bool{}
	for rank, line := range wanted {
		key, ok := parseKeyLine(line)
		if !ok {
			return false, tool.Fail(nil, "invalid key specified: %s", line)
		}
		if k.args.KeyOptions != nil {
			key.options = parseKeyOptions(*k.args.KeyOptions)
		}
		if k.args.Comment != nil {
			key.comment = *k.args.Comment
		}
		have, there := k.keys.byKey[key.key]
		if k.args.State == "absent" {
			if there {
				k.keys.remove(key.key)
				changed = true
			}
			continue
		}
		keep[key.key] = true
		if there && have.same(key) {
			continue
		}
		k.keys.remove(key.key)
		key.rank = base + rank
		k.keys.add(key)
		changed = true
	}
	if k.args.State == "present" && k.args.Exclusive {
		for _, name := range k.keys.names() {
			if !keep[name] {
				k.keys.remove(name)
				changed = true
			}
		}
	}
	return changed, nil
}

// write makes the directory if need be, and the file, and gives both to the user only.
func (k *keyring) write(dest, content string) error {
	u, err := nss.UserNamed(k.args.User)
	if err != nil {
		return err
	}
	dir := filepath.Dir(k.file)
	if k.args.ManageDir {
		if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
			return tool.Fail(nil, "Failed to create directory %s : %s", dir, oserr.Path(err, dir))
		}
		// The home is the user's, who may have put a link there, to what others own.
		if err := os.Lchown(dir, u.UID, u.GID); err != nil {
			return tool.Fail(nil, "cannot give %s to %s: %s", dir, k.args.User, oserr.Path(err, dir))
		}
		if !fsx.IsLink(dir) {
			if err := os.Chmod(dir, 0o700); err != nil {
				return tool.Fail(nil, "cannot close %s: %s", dir, oserr.Path(err, dir))
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
		return tool.Fail(nil, "Failed to create directory %s : %s", filepath.Dir(dest), oserr.Path(err, dest))
	}
	staged, err := fsx.Stage(dest, false)
	if err != nil {
		return err
	}
	defer staged.Discard()
	if _, err := staged.Write([]byte(content)); err != nil {
		return err
	}
	if err := staged.Commit(false); err != nil {
		return err
	}
	// As in Ansible, a file that cannot be given away stays as it is.
	_ = os.Lchown(dest, u.UID, u.GID)
	return os.Chmod(dest, 0o600)
}
