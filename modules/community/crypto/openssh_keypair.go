package crypto

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"hark/modules"
	"hark/modules/community/crypto/internal/pki"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type keypairArgs struct {
	State      string  `arg:"state,default=present,choices=present|absent" doc:"Whether the pair shall be there."`
	Size       *int    `arg:"size" doc:"Bits: 4096 for rsa if not given, from 1024; 256, 384 or 521 for ecdsa."`
	Type       string  `arg:"type,default=rsa,choices=rsa|dsa|rsa1|ecdsa|ed25519" doc:"The algorithm. dsa and rsa1 cannot be made."`
	Force      bool    `arg:"force,default=no" doc:"Make a new pair whatever is there."`
	Path       string  `arg:"path,required,type=path" doc:"The private key's file; that of the public one ends in .pub."`
	Comment    *string `arg:"comment" doc:"The comment of the public key."`
	Regenerate string  `arg:"regenerate,default=partial_idempotence,choices=never|fail|partial_idempotence|full_idempotence|always" doc:"When a key that is there may be replaced."`
	Passphrase *string `arg:"passphrase,nolog" doc:"What the key is encrypted with; not with backend opensshbin."`
	Format     string  `arg:"private_key_format,default=auto,choices=auto|pkcs1|pkcs8|ssh" doc:"The form of the private key; auto is OpenSSH's. The others demand the backend cryptography."`
	Backend    string  `arg:"backend,default=auto,choices=auto|cryptography|opensshbin" doc:"Whose habits to follow, the library's or ssh-keygen's; auto is the library's with a passphrase. Neither need be there."`
	fsx.FileArgs
}

// OpensshKeypair is community.crypto.openssh_keypair.
var OpensshKeypair = modules.Define("community.crypto.openssh_keypair", "Generate pairs of keys for SSH", runKeypair,
	modules.Is(modules.ReadsInCheck),
	modules.Documented(`- community.crypto.openssh_keypair: {path: /home/deploy/.ssh/id_ed25519, type: ed25519, comment: deploy@example.org, owner: deploy}
  register: pair
`,
		modules.Return{Name: "filename", Type: "str", When: "always", Doc: "The private key's file."},
		modules.Return{Name: "type", Type: "str", When: "always", Doc: "The algorithm that was asked for."},
		modules.Return{Name: "size", Type: "int", When: "always", Doc: "The bits that were asked for."},
		modules.Return{Name: "fingerprint", Type: "str", When: "always", Doc: "The key's sum."},
		modules.Return{Name: "public_key", Type: "str", When: "always", Doc: "The public key without its comment."},
		modules.Return{Name: "comment", Type: "str", When: "always", Doc: "The comment."},
	))

// keypair is a pair in its present and its wanted state.
type keypair struct {
	keypairArgs
	env     *modules.Env
	library bool // the habits are the library's
	size    int
	pub     string
	format  string

	oldPrivate, private *sshPrivate // nil: not there, or not to be read
	oldPublic, public   *sshPublic
}

func runKeypair(_ context.Context, env *modules.Env, a keypairArgs) (modules.Result, error) {
	k := &keypair{keypairArgs: a, env: env, pub: a.Path + ".pub"}
	if a.Force {
		k.Regenerate = "always"
	}
	if err := k.check(); err != nil {
		return modules.Result{}, err
	}
	k.oldPrivate, k.oldPublic = k.load(), readPublic(k.pub)
	res := modules.Result{}
	var err error
	if a.State == "present" {
		res.Changed, err = k.present()
	} else {
		res.Changed, err = k.absent()
	}
	if err != nil {
		return modules.Result{}, err
	}
	k.tell(&res)
	return res, nil
}

// check judges the arguments.
func (k *keypair) check() error {
	passphrase := modules.Text(k.Passphrase) != ""
	k.library = k.Backend == "cryptography" || k.Backend == "auto" && passphrase
	if !passphrase || !k.library {
		k.Passphrase = nil
	}
	given := func(usual int) int {
		if k.Size != nil {
			usual = *k.Size
		}
		return usual
	}
	switch k.Type {
	case "rsa", "rsa1":
		if k.size = given(4096); k.size < 1024 {
			return tool.Fail(nil,
				"For RSA keys, the minimum size is 1024 bits and the default is 4096 bits. Attempting to use bit lengths under "+
					"1024 will cause the module to fail.")
		}
	case "dsa":
		if k.size = given(1024); k.size != 1024 {
			return tool.Fail(nil, "DSA keys must be exactly 1024 bits as specified by FIPS 186-2.")
		}
	case "ecdsa":
		if k.size = given(256); !slices.Contains([]int{256, 384, 521}, k.size) {
			return tool.Fail(nil,
				"For ECDSA keys, size determines the key length by selecting from one of three elliptic curve sizes: 256, 384 "+
					"or 521 bits. "+
					"Attempting to use bit lengths other than these three values for ECDSA keys will cause this module to fail.")
		}
	default:
		k.size = 256
	}
	if err := needDir(k.Path); err != nil {
		return err
	}
	switch {
	case fsx.IsDir(k.Path):
		return tool.Fail(nil, "%s is a directory. Please specify a path to a file.", k.Path)
	case !k.library && k.Format != "auto":
		return tool.Fail(nil, "'auto' is the only valid option for 'private_key_format' when 'backend' is not 'cryptography'")
	case k.library && k.Type == "rsa1":
		return tool.Fail(nil, "RSA1 keys are not supported by the cryptography backend")
	}
	if k.format = strings.ToUpper(k.Format); k.Format == "auto" {
		k.format = "SSH"
	}
	return nil
}

// load reads the private key. With ssh-keygen's habits the file of the public one counts, if there is one.
func (k *keypair) load() *sshPrivate {
	raw, err := os.ReadFile(k.Path)
	if err != nil {
		return nil
	}
	p, err := readSSHKey(raw, k.Passphrase)
	if k.library {
		if err != nil || p.key == nil {
			return nil
		}
		return p
	}
	line, _ := os.ReadFile(k.pub)
	public, _, _, _, noPublic := ssh.ParseAuthorizedKey(line)
	switch {
	case noPublic == nil && err == nil:
		p.public = public
	case noPublic == nil && strings.HasPrefix(string(raw), "-----BEGIN "):
		return &sshPrivate{public: public}
	case err != nil:
		return nil
	}
	return p
}

// readable reports whether the key is in the open, or locked with the passphrase and no less.
func (k *keypair) readable() bool {
	if k.oldPrivate == nil || k.oldPrivate.key == nil {
		return false
	}
	if k.Passphrase == nil {
		return true
	}
	raw, err := os.ReadFile(k.Path)
	if err != nil {
		return false
	}
	p, err := readSSHKey(raw, nil)
	return err != nil || p.key == nil
}

func (k *keypair) present() (changed bool, err error) {
	keeps := slices.Contains([]string{"never", "fail", "partial_idempotence"}, k.Regenerate)
	if fsx.Exists(k.Path) && keeps && !k.readable() {
		return false, tool.Fail(nil,
			"Unable to read the key. The key is protected with a passphrase or broken. Will not proceed."+forced+
				"`full_idempotence` or `always`, or with `force=true`.")
	}
	fresh, err := k.needsNew()
	if err != nil {
		return false, err
	}
	whole := true
	if !fresh {
		if whole, err = k.publicFits(); err != nil {
			return false, err
		}
	}
	switch {
	case k.env.Check:
	case fresh:
		err = k.make()
	case !whole:
		err = k.restore()
	}
	if err != nil {
		return false, err
	}
	k.private, k.public = k.load(), readPublic(k.pub)
	changed = fresh || !whole
	for _, path := range []string{k.Path, k.pub} {
		if k.env.Check && !fsx.Exists(path) {
			changed = true
			continue
		}
		did, err := k.For(path, false).Apply(k.env.Check, nil)
		if err != nil {
			return false, err
		}
		changed = changed || did
	}
	return changed, nil
}

func (k *keypair) needsNew() (bool, error) {
	switch {
	case k.oldPrivate == nil:
		return true, nil
	case k.Regenerate == "never":
		return false, nil
	case k.Regenerate == "always":
		return true, nil
	case k.fits():
		return false, nil
	case k.Regenerate == "fail":
		return false, tool.Fail(nil, "Key has wrong type and/or size. Will not proceed."+forced+
			"`partial_idempotence`, `full_idempotence` or `always`, or with `force=true`.")
	}
	return true, nil
}

func (k *keypair) fits() bool {
	old := k.oldPrivate
	return old.size() == k.size && old.kind() == k.Type && (k.Format == "auto" || old.format == k.format)
}

// publicFits reports whether the public key's file is that of the private key, with the comment if one is wanted.
func (k *keypair) publicFits() (bool, error) {
	if k.oldPrivate.key == nil {
		// Ansible asks ssh-keygen for the public half of a locked key and does not see that it has got none.
		return false, unexpected("IndexError", errors.New("list index out of range"))
	}
	if k.oldPublic == nil {
		return false, nil
	}
	right, err := k.oldPrivate.line()
	if err != nil {
		return false, err
	}
	return right.String() == k.oldPublic.String() && (k.Comment == nil || *k.Comment == k.oldPublic.comment), nil
}

// unexpected is what Ansible says of errors that are Python's.
func unexpected(class string, why error) error {
	return tool.Fail(value.DictOf("exception", class+": "+why.Error()+"\n"), "unexpected error occurred: %v", why)
}

// make makes both files.
func (k *keypair) make() error {
	key, err := k.newKey()
	if err != nil {
		return err
	}
	public, err := (&sshPrivate{key: key}).line()
	if err != nil {
		return err
	}
	comment := modules.Text(k.Comment)
	line, inside := public.String(), comment
	if k.library {
		inside = ""
		line = strings.TrimSuffix(line+" "+comment, " ")
	} else {
		line += " " + comment + "\n"
	}
	raw, err := writeSSHKey(key, k.format, inside, modules.Text(k.Passphrase))
	if err != nil {
		return unexpected("ValueError", err)
	}
	if err := k.put(k.Path, raw, 0o600); err != nil {
		return err
	}
	return k.put(k.pub, []byte(line), 0o644)
}

func (k *keypair) newKey() (pki.PrivateKey, error) {
	kind := map[string]string{"rsa": "RSA", "ecdsa": "ECC", "ed25519": "Ed25519"}[k.Type]
	curve := map[int]string{256: "secp256r1", 384: "secp384r1", 521: "secp521r1"}[k.size]
	if kind == "" {
		return nil, tool.Fail(nil, "keys of type %s are not supported", k.Type)
	}
	key, err := pki.NewKey(kind, k.size, curve)
	if err != nil {
		return nil, unexpected("ValueError", err)
	}
	return key, nil
}

// put replaces a file, which keeps its mode; a new one is never open to more than mode says.
func (k *keypair) put(path string, content []byte, mode os.FileMode) error {
	return writeFile(path, content, mode, fsx.FileArgs{UnsafeWrites: k.UnsafeWrites})
}

// restore makes the public key's file anew. A comment goes into the private key too, if ssh-keygen would put it there.
func (k *keypair) restore() error {
	right, err := k.oldPrivate.line()
	if err != nil {
		return err
	}
	line := right.String()
	if comment := modules.Text(k.Comment); comment != "" {
		line += " " + comment
		if !k.library {
			raw, err := writeSSHKey(k.oldPrivate.key, "SSH", comment, "")
			if err != nil {
				return unexpected("ValueError", err)
			}
			if err := k.put(k.Path, raw, 0o600); err != nil {
				return err
			}
		}
	}
	return k.put(k.pub, []byte(line+"\n"), 0o644)
}

func (k *keypair) absent() (changed bool, err error) {
	for _, path := range []string{k.Path, k.pub} {
		gone, err := remove(path, k.env.Check)
		if err != nil {
			return false, err
		}
		changed = changed || gone
	}
	return changed, nil
}

func (k *keypair) tell(res *modules.Result) {
	private, public := k.private, k.public
	if private == nil {
		private = k.oldPrivate
	}
	if public == nil {
		public = k.oldPublic
	}
	res.Data = value.DictOf("size", int64(k.size), "type", k.Type, "filename", k.Path, "fingerprint", "", "public_key", "",
		"comment", "", "changed", modules.Here, "diff", modules.Here)
	if private != nil {
		res.Set("fingerprint", ssh.FingerprintSHA256(private.public))
	}
	if public != nil {
		res.Set("public_key", public.String())
		res.Set("comment", public.comment)
	}
	if k.env.Diff {
		res.Diff = []modules.Diff{{Raw: value.DictOf(
			"before", k.shown(k.oldPrivate, k.oldPublic), "after", k.shown(k.private, k.public),
		)}}
	}
}

// shown returns what a diff shows of a pair.
func (k *keypair) shown(private *sshPrivate, public *sshPublic) *value.Dict {
	m := value.NewDict()
	if private != nil {
		m.Put("size", int64(private.size()))
		m.Put("type", private.kind())
		m.Put("fingerprint", ssh.FingerprintSHA256(private.public))
		m.Put("format", "")
		if k.library {
			m.Put("format", private.format)
		}
	}
	if public != nil {
		m.Put("public_key", public.blob)
		m.Put("comment", public.comment)
	}
	return m
}
