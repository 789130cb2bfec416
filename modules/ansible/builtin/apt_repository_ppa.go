package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/httpx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

// launchpadAPI names the keys of archives, and ppaKeyserver has the keys.
const (
	launchpadAPI = "https://launchpad.net/api/1.0"
	ppaKeyserver = "hkp://keyserver.ubuntu.com:80"
)

// trustedKeys is where apt looks for keys of repositories that name none.
const trustedKeys = "/etc/apt/trusted.gpg.d"

// ppa is an archive on Launchpad, for one release of Ubuntu.
type ppa struct{ owner, name, codename string }

// parsePPA reads ppa:owner/name; false if a repository is written otherwise.
func parsePPA(repo, codename string) (ppa, bool) {
	path, ok := strings.CutPrefix(repo, "ppa:")
	if !ok {
		return ppa{}, false
	}
	path, _, _ = strings.Cut(path, ":")
	parts := strings.Split(path, "/")
	if len(parts) == 1 {
		parts = append(parts, "ppa")
	}
	return ppa{parts[0], parts[1], codename}, true
}

// line returns the repository as it stands in a list.
func (p ppa) line() string {
	return fmt.Sprintf("deb http://ppa.launchpad.net/%s/%s/ubuntu %s main", p.owner, p.name, p.codename)
}

// keyFetcher brings the keys of archives to the host.
type keyFetcher struct {
	ctx    context.Context
	env    *modules.Env
	api    string
	keys   string // directory of the keys that apt trusts
	verify bool
	aptKey string // "" where apt has done away with it
	gpg    string
}

func newKeyFetcher(ctx context.Context, env *modules.Env, verify bool) *keyFetcher {
	return &keyFetcher{
		ctx: ctx, env: env, api: launchpadAPI, keys: trustedKeys, verify: verify,
		aptKey: env.LookPath("apt-key"), gpg: env.LookPath("gpg"),
	}
}

// trust gives apt the key of an archive, unless it has it or in check mode.
func (k *keyFetcher) trust(p ppa) error {
	if k.aptKey == "" && k.gpg == "" {
		return tool.Fail(nil, "Either apt-key or gpg binary is required, but neither could be found")
	}
	fingerprint, err := k.fingerprint(p)
	if err != nil {
		return err
	}
	has, err := k.has(fingerprint)
	if err != nil || has || k.env.Check {
		return err
	}
	if k.aptKey != "" {
		_, err = tool.Must(k.ctx, k.env, modules.Command{Argv: []string{
			k.aptKey, "adv", "--recv-keys", "--no-tty", "--keyserver", ppaKeyserver, fingerprint,
		}})
		return err
	}
	return k.receive(p, fingerprint)
}

func (k *keyFetcher) fingerprint(p ppa) (string, error) {
	const cannot = "failed to fetch PPA information, error was: %s"
	raw, msg, err := httpx.Fetch(k.ctx, k.env, fmt.Sprintf("%s/~%s/+archive/%s", k.api, p.owner, p.name), k.verify)
	if err != nil {
		msg = err.Error()
	}
	if msg != "" {
		return "", tool.Fail(nil, cannot, msg)
	}
	var archive struct {
		Fingerprint string `json:"signing_key_fingerprint"`
	}
	if err := json.Unmarshal(raw, &archive); err != nil {
		return "", tool.Fail(nil, cannot, err)
	}
	if archive.Fingerprint == "" {
		return "", tool.Fail(nil, cannot, "the archive has no key")
	}
	return archive.Fingerprint, nil
}

// has reports whether apt trusts a key. Ansible takes any warning of apt-key for a key that is missing, and so asks
// for it again.
func (k *keyFetcher) has(fingerprint string) (bool, error) {
	if k.aptKey != "" {
		out, err := tool.Run(k.ctx, k.env, modules.Command{Argv: []string{k.aptKey, "export", fingerprint}})
		return out.Rc == 0 && out.Stdout != "", err
	}
	files, err := filepath.Glob(filepath.Join(k.keys, "[^.]*"))
	if err != nil {
		return false, err
	}
	for _, file := range files {
		out, err := tool.Run(k.ctx, k.env, modules.Command{Argv: []string{k.gpg, "--list-packets", file}})
		if err != nil || strings.Contains(out.Stdout, fingerprint) {
			return err == nil, err
		}
	}
	return false, nil
}

// receive fetches a key into a keyring of its own and writes it where apt trusts it. Ansible exports from the keyring
// of the user, where the key has no reason to be, into a directory that apt trusts for lines that name it only.
func (k *keyFetcher) receive(p ppa, fingerprint string) error {
	home, err := os.MkdirTemp("", "hark-ppa-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	gpg := []string{k.gpg, "--homedir", home, "--no-tty", "--batch"}
	_, err = tool.Must(k.ctx, k.env,
		modules.Command{Argv: append(gpg[:len(gpg):len(gpg)], "--keyserver", ppaKeyserver, "--recv-keys", fingerprint)})
	if err != nil {
		return err
	}
	// The key is not text: tool.Run would put another character where it is not UTF-8.
	out, err := k.env.Exec(k.ctx, modules.Command{Argv: append(gpg[:len(gpg):len(gpg)], "--export", fingerprint)})
	if err != nil {
		return err
	}
	if out.Rc != 0 || len(out.Stdout) == 0 {
		return tool.Fail(value.DictOf("rc", int64(out.Rc), "stderr", string(out.Stderr)),
			"Unable to get required signing key")
	}
	file := filepath.Join(k.keys, fmt.Sprintf("ubuntu-%s-main-%s-%s.gpg", p.codename, p.owner, p.name))
	if err = fsx.WriteFile(file, out.Stdout, false); err == nil {
		err = os.Chmod(file, 0o644)
	}
	if err != nil {
		return tool.Fail(nil, "cannot write %s: %s", file, oserr.Path(err, file))
	}
	return nil
}
