package crypto

import (
	"context"
	"os"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
)

type certificateArgs struct {
	Provider *string `arg:"provider,choices=acme|entrust|ownca|selfsigned" doc:"Who signs: selfsigned, ownca, or acme through the program acme-tiny. entrust fails."`
	issueArgs
	acmeArgs
	State         string `arg:"state,default=present,choices=present|absent" doc:"Whether it shall be there."`
	Path          string `arg:"path,required,type=path" doc:"The file."`
	Backup        bool   `arg:"backup,default=no" doc:"Whether to keep the file that was there."`
	ReturnContent bool   `arg:"return_content,default=no" doc:"Return the certificate itself as certificate."`
	fsx.FileArgs
}

type acmeArgs struct {
	AccountKey *string `arg:"acme_accountkey_path,type=path" doc:"File of the account's key."`
	Challenge  *string `arg:"acme_challenge_path,type=path" doc:"Directory that is served as .well-known/acme-challenge."`
	Chain      bool    `arg:"acme_chain,default=no" doc:"Add the certificates of those who signed, for an old acme-tiny."`
	Directory  string  `arg:"acme_directory,default=https://acme-v02.api.letsencrypt.org/directory" doc:"Address of the CA."`
}

// X509Certificate is community.crypto.x509_certificate.
var X509Certificate = modules.Define("community.crypto.x509_certificate", "Generate certificates", runCertificate,
	modules.WithRules(certificateRules()),
	modules.Documented(`- community.crypto.x509_certificate:
    path: /etc/ssl/app.crt
    privatekey_path: /etc/ssl/private/app.pem
    csr_path: /etc/ssl/app.csr
    provider: selfsigned
- community.crypto.x509_certificate:
    path: /etc/ssl/app.crt
    csr_path: /etc/ssl/app.csr
    ownca_path: /etc/ssl/ca.crt
    ownca_privatekey_path: /etc/ssl/private/ca.pem
    ownca_not_after: +90d
    provider: ownca
`, append(certificateReturns(),
		modules.Return{Name: "accountkey", Type: "str", When: "provider is acme", Doc: "File of the account's key."},
		modules.Return{Name: "filename", Type: "str", When: "always", Doc: "The file."},
		modules.Return{Name: "backup_file", Type: "str", When: "backup and a change", Doc: "The copy of what was there."},
	)...))

func certificateRules() modules.Rules {
	r := issueRules()
	r.If = append(r.If, modules.RequiredIf{Param: "state", Value: "present", Names: []string{"provider"}})
	return r
}

func certificateReturns() []modules.Return {
	return []modules.Return{
		{Name: "privatekey", Type: "str", When: "always", Doc: "The key's file."},
		{Name: "csr", Type: "str", When: "always", Doc: "The request's file."},
		{Name: "ca_cert", Type: "str", When: "provider is ownca", Doc: "File of the CA's certificate."},
		{Name: "ca_privatekey", Type: "str", When: "provider is ownca", Doc: "File of the CA's key."},
		{Name: "notBefore", Type: "str", When: "provider is selfsigned or ownca", Doc: "When the certificate begins to hold."},
		{Name: "notAfter", Type: "str", When: "provider is selfsigned or ownca", Doc: "When it ends."},
		{Name: "serial_number", Type: "int", When: "provider is selfsigned or ownca", Doc: "Its number."},
		{Name: "certificate", Type: "str", When: "return_content, and always with x509_certificate_pipe", Doc: "The certificate."},
	}
}

func runCertificate(ctx context.Context, env *modules.Env, a certificateArgs) (modules.Result, error) {
	if a.State == "absent" {
		return a.absent(env)
	}
	if err := needDir(a.Path); err != nil {
		return modules.Result{}, err
	}
	c := &issue{issueArgs: a.issueArgs}
	if err := c.prepare(ctx, env, modules.Text(a.Provider), &a.acmeArgs); err != nil {
		return modules.Result{}, err
	}
	res := modules.Result{}
	err := a.present(env, c, &res)
	if err == nil {
		err = c.tell(&res, env.Check, a.ReturnContent)
	}
	if err != nil {
		return modules.Result{}, err
	}
	if c.fetch != nil {
		res.Set("accountkey", modules.TextOrNil(a.AccountKey))
	}
	res.Set("changed", modules.Here)
	saved(&res, a.Path)
	return res, nil
}

func (a *certificateArgs) absent(env *modules.Env) (modules.Result, error) {
	res := modules.Result{}
	if err := drop(&res, file{a.Path, a.Backup, env.Check}); err != nil {
		return modules.Result{}, err
	}
	res.Set("privatekey", modules.TextOrNil(a.KeyPath))
	res.Set("csr", modules.TextOrNil(a.CSRPath))
	if a.ReturnContent {
		res.Set("certificate", nil)
	}
	saved(&res, a.Path)
	return res, nil
}

func (a *certificateArgs) present(env *modules.Env, c *issue, res *modules.Result) error {
	var err error
	if c.old, err = readExisting(a.Path); err != nil {
		return err
	}
	res.Changed = c.needsNew()
	if res.Changed && !env.Check {
		if err := c.make(); err != nil {
			return err
		}
		if err := keep(res, a.Path, a.Backup); err != nil {
			return err
		}
		if err := writeFile(a.Path, c.fresh, 0o666, a.FileArgs); err != nil {
			return err
		}
	}
	did, err := a.For(a.Path, false).Apply(env.Check, nil)
	res.Changed = res.Changed || did
	return err
}

// prepareACME leaves it to the host's program acme-tiny to have the certificate made.
func (c *issue) prepareACME(ctx context.Context, env *modules.Env, a *acmeArgs) error {
	const missing = "The %s option must be specified for the acme provider."
	switch {
	case a.AccountKey == nil:
		return tool.Fail(nil, missing, "acme_accountkey_path")
	case a.Challenge == nil:
		return tool.Fail(nil, missing, "acme_challenge_path")
	}
	c.keyID = "never_create"
	if err := c.needRequest(true); err != nil {
		return err
	}
	switch {
	case !fsx.Exists(*a.AccountKey):
		return tool.Fail(nil, "The account key %s does not exist", *a.AccountKey)
	case !fsx.Exists(*a.Challenge):
		return tool.Fail(nil, "The challenge path %s does not exist", *a.Challenge)
	}
	program, err := tool.Find(env, "acme-tiny")
	if err != nil {
		return err
	}
	argv := []string{program}
	if a.Chain {
		argv = append(argv, "--chain")
	}
	argv = append(argv, "--account-key", *a.AccountKey, "--csr")
	c.fetch = func() ([]byte, error) {
		path, done, err := c.requestFile()
		if err != nil {
			return nil, err
		}
		defer done()
		out, err := tool.Must(ctx, env, modules.Command{Argv: append(argv, path, "--acme-dir", *a.Challenge, "--directory-url", a.Directory)})
		return []byte(out.Stdout), err
	}
	return c.load()
}

// requestFile is the request as a file, which goes with done.
func (c *issue) requestFile() (path string, done func(), err error) {
	if c.CSRContent == nil {
		return modules.Text(c.CSRPath), func() {}, nil
	}
	f, err := os.CreateTemp("", "hark-*")
	if err != nil {
		return "", nil, tool.Fail(nil, "failed to create temporary CSR file: %v", err)
	}
	defer f.Close()
	done = func() { os.Remove(f.Name()) }
	if _, err := f.WriteString(*c.CSRContent); err != nil {
		done()
		return "", nil, tool.Fail(nil, "failed to create temporary CSR file: %v", err)
	}
	return f.Name(), done, nil
}
