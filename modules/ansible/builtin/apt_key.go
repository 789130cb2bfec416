package builtin

import (
	"context"
	"errors"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/httpx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type aptKeyArgs struct {
	ID        *string `arg:"id" doc:"The key's id: 8, 16 or more hexadecimal digits. Found out from the key if it is not given."`
	URL       *string `arg:"url" doc:"Where to fetch the key."`
	Data      *string `arg:"data" doc:"The key itself."`
	File      *string `arg:"file,type=path" doc:"File on the host that holds the key."`
	Keyring   *string `arg:"keyring,type=path" doc:"The keyring, a file in /etc/apt/trusted.gpg.d; apt's main one by itself."`
	Validate  bool    `arg:"validate_certs,default=yes" doc:"Check TLS certificates."`
	Keyserver *string `arg:"keyserver" doc:"Server to fetch the key from by its id."`
	State     string  `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be there."`
}

// AptKey is ansible.builtin.apt_key.
var AptKey = modules.Define("ansible.builtin.apt_key", "Add or remove an apt key", runAptKey,
	modules.Operands("file", "keyring", "keyserver"),
	modules.StartsInCheck("apt-key", "gpg"),
	modules.WithRules(modules.Rules{Exclusive: [][]string{{"data", "file", "keyserver", "url"}}}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.apt_key: {url: https://apt.example.org/key.asc, keyring: /etc/apt/trusted.gpg.d/example.gpg}
- ansible.builtin.apt_key: {id: 0x9FED2BCBDCD29CDF762678CBAED4B06F473041FA, state: absent}
`
		m.Returns = []modules.Return{
			{Name: "before", Type: "list", When: "always", Doc: "Ids of the keys that were there."},
			{Name: "after", Type: "list", When: "it changed", Doc: "Ids of the keys that are there."},
			{Name: "fp", Type: "str", When: "always", Doc: "The part of the id that is compared."},
			{Name: "key_id", Type: "str", When: "always", Doc: "The whole id."},
			{Name: "short_id", Type: "str", When: "always", Doc: "Its last eight digits."},
		}
	}), modules.RunsPrograms)

// aptKey is one call of the module.
type aptKey struct {
	ctx  context.Context
	env  *modules.Env
	args aptKeyArgs
	// path and gpg are the programs.
	path, gpg string
	data      string // the key, if it is not in a file of the user's
	short     bool   // ids are compared by eight digits
	res       modules.Result
}

func runAptKey(ctx context.Context, env *modules.Env, a aptKeyArgs) (modules.Result, error) {
	k := &aptKey{ctx: ctx, env: env, args: a, data: modules.Text(a.Data), res: modules.Result{Data: value.NewDict()}}
	var err error
	if k.path, err = tool.Find(env, "apt-key"); err == nil {
		k.gpg, err = tool.Find(env, "gpg")
	}
	if err != nil {
		return modules.Result{}, err
	}
	id, err := k.findID()
	if err != nil {
		return modules.Result{}, err
	}
	short, fingerprint, whole, ok := splitKeyID(modules.Text(id))
	k.res.Data.Put("id", nil)
	if id != nil {
		k.res.Data.Put("id", *id)
	}
	if !ok {
		return modules.Result{}, k.fail("Invalid key_id")
	}
	k.short = len(whole) == 8
	k.res.Data.Put("short_id", short)
	k.res.Data.Put("fp", fingerprint)
	k.res.Data.Put("key_id", whole)
	err = k.bring(short, fingerprint, whole)
	return k.res, err
}

// fail is a failure with all that is known.
func (k *aptKey) fail(msg string) error {
	k.res.Failed, k.res.Msg = true, msg
	return &modules.Ended{Result: k.res}
}

// findID returns the id that was given, or that of the key; nil if there is none.
func (k *aptKey) findID() (*string, error) {
	a := k.args
	if modules.Text(a.ID) != "" {
		return a.ID, nil
	}
	if modules.Text(a.Keyserver) != "" {
		return nil, tool.Fail(nil, "Missing key_id, required with keyserver.")
	}
	if modules.Text(a.URL) != "" {
		if err := k.download(); err != nil {
			return nil, err
		}
	}
	c := modules.Command{Argv: []string{k.gpg, "--with-colons", "-"}, Stdin: []byte(k.data), Env: tool.Plain()}
	from := "inline data"
	switch {
	case modules.Text(a.File) != "":
		c.Argv, from = []string{k.gpg, "--with-colons", "--", *a.File}, *a.File
		c.Stdin = nil
	case k.data == "":
		return a.ID, nil
	}
	out, err := tool.Run(k.ctx, k.env, c)
	if err != nil {
		return nil, err
	}
	if out.Rc != 0 {
		return nil, tool.Fail(value.DictOf("stdout", out.Stdout, "stderr", out.Stderr), "Unable to extract key from '%s'",
			from)
	}
	if ids := keysListed(out.Stdout); len(ids) > 0 {
		return &ids[0], nil
	}
	return nil, nil
}

func (k *aptKey) download() error {
	content, msg, err := httpx.Fetch(k.ctx, k.env, *k.args.URL, k.args.Validate)
	if refused := (*fsx.Error)(nil); errors.As(err, &refused) {
		return err
	}
	if err != nil {
		return tool.Fail(nil, "error getting key id from url: %s", *k.args.URL)
	}
	if msg != "" {
		return tool.Fail(nil, "Failed to download key at %s: %s", *k.args.URL, msg)
	}
	k.data = string(content)
	return nil
}

// splitKeyID parts an id into what apt-key deletes by, what is compared and what is fetched by.
func splitKeyID(id string) (short, fingerprint, whole string, ok bool) {
	whole = strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(id)), "0X")
	n := len(whole)
	if whole == "" || strings.Trim(whole, "0123456789ABCDEF") != "" || n != 8 && n != 16 && n <= 16 {
		return "", "", "", false
	}
	return whole[n-8:], whole[max(0, n-16):], whole, true
}

// keysListed returns the ids in what gpg or apt-key lists. Keys that are expired do not count.
func keysListed(text string) []string {
	list := []string{}
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "pub") && !strings.HasPrefix(line, "sub") || strings.Contains(line, "expired") {
			continue
		}
		if words := strings.Fields(line); len(words) > 1 && strings.Count(words[1], "/") == 1 {
			_, id, _ := strings.Cut(words[1], "/")
			list = append(list, id)
			continue
		}
		if fields := strings.Split(line, ":"); len(fields) > 4 {
			list = append(list, fields[4])
		}
	}
	return list
}

// run runs apt-key on the keyring.
func (k *aptKey) run(stdin string, args ...string) (tool.Output, string, error) {
	argv := []string{k.path}
	if k.args.Keyring != nil {
		argv = append(argv, "--keyring", *k.args.Keyring)
	}
	argv = append(argv, args...)
	out, err := tool.Run(k.ctx, k.env, modules.Command{Argv: argv, Stdin: []byte(stdin)})
	return out, strings.Join(argv, " "), err
}

func (k *aptKey) keys() ([]string, error) {
	if k.env.Check && k.args.Keyring != nil && !fsx.Exists(*k.args.Keyring) {
		return []string{}, nil // to list it would make it
	}
	out, cmd, err := k.run("", "adv", "--list-public-keys", "--keyid-format=long")
	if err != nil {
		return nil, err
	}
	if out.Rc != 0 {
		return nil, broken(out, cmd, "Unable to list public keys")
	}
	list := keysListed(out.Stdout)
	if k.short {
		for i, id := range list {
			list[i] = id[max(0, len(id)-8):]
		}
	}
	return list, nil
}

func broken(out tool.Output, cmd, msg string) error {
	data := out.Data()
	data.Put("cmd", cmd)
	return tool.Fail(data, "%s", msg)
}

func (k *aptKey) bring(short, fingerprint, whole string) error {
	before, err := k.keys()
	if err != nil {
		return err
	}
	k.res.Data.Put("before", modules.List(before))
	wanted := k.args.State == "present"
	if slices.Contains(before, fingerprint) == wanted {
		return nil
	}
	k.res.Changed = true
	if k.env.Check {
		return nil
	}
	if wanted {
		err = k.add(whole)
	} else {
		err = k.remove(short)
	}
	if err != nil {
		return err
	}
	after, err := k.keys()
	k.res.Data.Put("after", modules.List(after))
	if err == nil && slices.Contains(after, fingerprint) != wanted {
		what := map[bool]string{true: "failed to add the key", false: "the key was not removed"}[wanted]
		err = k.fail("apt-key did not return an error, but " + what + " (check that the id is correct and *not* a subkey)")
	}
	return err
}

func (k *aptKey) add(id string) error {
	a := k.args
	switch {
	case modules.Text(a.File) != "":
		out, cmd, err := k.run("", "add", *a.File)
		if err == nil && out.Rc != 0 {
			data := out.Data()
			data.Put("cmd", cmd)
			data.Put("keyfile", *a.File)
			err = tool.Fail(data, "Unable to add a key from file %s", *a.File)
		}
		return err
	case modules.Text(a.Keyserver) != "":
		return k.receive(id)
	case k.data == "" && modules.Text(a.URL) != "":
		if err := k.download(); err != nil {
			return err
		}
	case k.data == "":
		return k.fail("No key to add ... how did i get here?!?!")
	}
	out, cmd, err := k.run(k.data, "add", "-")
	if err == nil && out.Rc != 0 {
		err = broken(out, cmd, "Unable to add a key from binary data")
	}
	return err
}

// receive fetches the key from a server, which may need more than one try.
func (k *aptKey) receive(id string) error {
	argv := []string{"adv", "--no-tty", "--keyserver", *k.args.Keyserver}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if proxy := k.env.Getenv(name); proxy != "" {
			argv = append(argv, "--keyserver-options", "http-proxy="+proxy)
			break
		}
	}
	argv = append(argv, "--recv", id)
	var out tool.Output
	var cmd string
	var err error
	for range 5 {
		if out, cmd, err = k.run("", argv...); err != nil || out.Rc == 0 {
			return err
		}
	}
	if out.Rc == 2 && strings.Contains(out.Stdout, "not found on keyserver") {
		return tool.Fail(value.DictOf("cmd", cmd), "Key %s not found on keyserver %s", id, *k.args.Keyserver)
	}
	return broken(out, cmd, "Error fetching key "+id+" from keyserver: "+*k.args.Keyserver)
}

func (k *aptKey) remove(short string) error {
	out, cmd, err := k.run("", "del", short)
	if err == nil && out.Rc != 0 {
		data := out.Data()
		data.Put("cmd", cmd)
		data.Put("key_id", short)
		err = tool.Fail(data, "Unable to remove a key with id %s", short)
	}
	return err
}
