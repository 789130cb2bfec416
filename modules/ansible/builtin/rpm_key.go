package builtin

import (
	"context"
	"os"
	"regexp"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/host/httpx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type rpmKeyArgs struct {
	State       string      `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be there."`
	Key         string      `arg:"key,required" doc:"The key: its address, a file on the host, or its id."`
	Fingerprint value.Value `arg:"fingerprint" doc:"What the key's fingerprint must be."`
	Validate    bool        `arg:"validate_certs,default=yes" doc:"Check TLS certificates."`
}

// RpmKey is ansible.builtin.rpm_key.
var RpmKey = modules.Define("ansible.builtin.rpm_key", "Adds or removes a gpg key from the rpm db", runRpmKey,
	modules.Operands("key"),
	modules.StartsInCheck("gpg", "gpg2", "rpm"),
	modules.From(dialect.ModuleOptions219, func(s *modules.Spec) {
		s.Param("fingerprint").Type, s.Param("fingerprint").Elements = "list", "str"
	}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.rpm_key: {key: https://rpm.example.org/RPM-GPG-KEY}
- ansible.builtin.rpm_key: {key: DEADB33F, state: absent}
`
	}), modules.RunsPrograms)

// rpmKey is one call of the module.
type rpmKey struct {
	ctx      context.Context
	env      *modules.Env
	rpm, gpg string
}

var keyID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(0x)?[0-9a-f]{8}`) })

func runRpmKey(ctx context.Context, env *modules.Env, a rpmKeyArgs) (modules.Result, error) {
	k := &rpmKey{ctx: ctx, env: env, gpg: env.LookPath("gpg")}
	var err error
	if k.rpm, err = tool.Find(env, "rpm"); err == nil && k.gpg == "" {
		k.gpg, err = tool.Find(env, "gpg2")
	}
	if err != nil {
		return modules.Result{}, err
	}
	file, id, err := k.locate(a)
	if file != "" && file != a.Key {
		defer os.Remove(file)
	}
	if err != nil {
		return modules.Result{}, err
	}
	there, err := k.imported(id)
	if err != nil || there == (a.State == "present") {
		return modules.Result{}, err
	}
	if a.State == "absent" {
		return modules.Result{Changed: true}, k.change("--erase", "--allmatches",
			"gpg-pubkey-"+strings.ToLower(id[max(0, len(id)-8):]))
	}
	if file == "" {
		return modules.Fail("When importing a key, a valid file must be given")
	}
	if err := k.check(file, a.Fingerprint); err != nil {
		return modules.Result{}, err
	}
	return modules.Result{Changed: true}, k.change("--import", file)
}

// locate finds the file of the key, fetching it if it has an address, and its id. A key that is given by its id has
// no file.
func (k *rpmKey) locate(a rpmKeyArgs) (file, id string, err error) {
	info, statErr := os.Stat(a.Key)
	switch {
	case strings.Contains(a.Key, "://"):
		file, err = k.fetch(a)
	case keyID().MatchString(a.Key):
		id = a.Key
	case statErr == nil && info.Mode().IsRegular():
		file = a.Key
	default:
		return "", "", tool.Fail(nil, "Not a valid key %s", a.Key)
	}
	if err == nil && file != "" {
		id, err = k.field(file, "pub:", 4)
	}
	return file, strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(id)), "0X"), err
}

var publicKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)-----BEGIN PGP PUBLIC KEY BLOCK-----.*?-----END PGP PUBLIC KEY BLOCK-----`)
})

func (k *rpmKey) fetch(a rpmKeyArgs) (string, error) {
	content, msg, err := httpx.Fetch(k.ctx, k.env, a.Key, a.Validate)
	if err != nil {
		return "", err
	}
	if msg != "" {
		return "", tool.Fail(nil, "failed to fetch key at %s , error was: %s", a.Key, msg)
	}
	if !publicKey().Match(content) {
		return "", tool.Fail(nil, "Not a public key: %s", a.Key)
	}
	f, err := os.CreateTemp("", "hark-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return f.Name(), err
}

// field returns one field of the first line of a kind that gpg prints of a file.
func (k *rpmKey) field(file, kind string, n int, more ...string) (string, error) {
	argv := append([]string{k.gpg, "--no-tty", "--batch", "--with-colons", "--fixed-list-mode"}, more...)
	out, err := k.must(modules.Command{Argv: append(argv, file)})
	if err != nil {
		return "", err
	}
	for _, line := range strings.Split(out.Stdout, "\n") {
		if fields := strings.Split(strings.TrimSpace(line), ":"); strings.HasPrefix(line, kind) && len(fields) > n {
			return fields[n], nil
		}
	}
	return "", tool.Fail(nil, "Unexpected gpg output")
}

// must runs a command; what it prints as an error is the message of the failure.
func (k *rpmKey) must(c modules.Command) (tool.Output, error) {
	out, err := tool.Run(k.ctx, k.env, c)
	if err == nil && out.Rc != 0 {
		err = tool.Fail(nil, "%s", out.Stderr)
	}
	return out, err
}

func (k *rpmKey) check(file string, fingerprint value.Value) error {
	if fingerprint == nil || modules.Str(fingerprint) == "" {
		return nil
	}
	have, err := k.field(file, "fpr:", 9, "--with-fingerprint")
	if err != nil {
		return err
	}
	// Later releases take a list; one of it must match.
	list, several := value.Items(fingerprint)
	if !several {
		list = []value.Value{fingerprint}
	}
	wanted := ""
	for _, x := range list {
		wanted = strings.ToUpper(strings.ReplaceAll(modules.Str(x), " ", ""))
		if wanted == have {
			return nil
		}
	}
	return tool.Fail(nil, "The specified fingerprint, '%s', does not match the key fingerprint '%s'", wanted, have)
}

// imported reports whether rpm has a key of that id.
func (k *rpmKey) imported(id string) (bool, error) {
	out, err := tool.Run(k.ctx, k.env,
		modules.Command{Argv: []string{k.rpm, "-q", "gpg-pubkey", "--qf", "%{description}"}})
	if err != nil || out.Rc != 0 { // there is no key at all
		return false, err
	}
	keys, err := k.must(modules.Command{
		Argv:  []string{k.gpg, "--no-tty", "--batch", "--with-colons", "--fixed-list-mode", "-"},
		Stdin: []byte(out.Stdout),
	})
	for _, line := range strings.Split(keys.Stdout, "\n") {
		if fields := strings.Split(line, ":"); len(fields) > 4 && strings.Contains(fields[4], id) {
			return true, err
		}
	}
	return false, err
}

func (k *rpmKey) change(args ...string) error {
	if k.env.Check {
		return nil
	}
	_, err := k.must(modules.Command{Argv: append([]string{k.rpm}, args...)})
	return err
}
