package crypto

import (
	"context"

	"hark/modules"
	"hark/modules/internal/fsx"
)

type csrArgs struct {
	requestArgs
	State         string `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be there."`
	Force         bool   `arg:"force,default=no" doc:"Make a new request whatever is there."`
	Path          string `arg:"path,required,type=path" doc:"The file."`
	Backup        bool   `arg:"backup,default=no" doc:"Whether to keep the file that was there."`
	ReturnContent bool   `arg:"return_content,default=no" doc:"Return the request itself as csr."`
	fsx.FileArgs
}

// OpensslCSR is community.crypto.openssl_csr.
var OpensslCSR = modules.Define("community.crypto.openssl_csr", "Generate certificate signing requests", runCSR,
	modules.WithRules(csrRules()), crlRules(),
	modules.Documented(`- community.crypto.openssl_csr:
    path: /etc/ssl/app.csr
    privatekey_path: /etc/ssl/private/app.pem
    common_name: app.example.org
    subject_alt_name: ["DNS:app.example.org", "DNS:www.example.org"]
    key_usage: [digitalSignature, keyEncipherment]
    key_usage_critical: true
`, append(requestReturns(),
		modules.Return{Name: "filename", Type: "str", When: "always", Doc: "The file."},
		modules.Return{Name: "backup_file", Type: "str", When: "backup and a change", Doc: "The copy of what was there."},
	)...))

func csrRules() modules.Rules {
	r := requestRules()
	r.If = []modules.RequiredIf{{Param: "state", Value: "present", Names: []string{"privatekey_path", "privatekey_content"}, Any: true}}
	return r
}

func requestReturns() []modules.Return {
	return []modules.Return{
		{Name: "privatekey", Type: "str", When: "always", Doc: "The key's file."},
		{Name: "subject", Type: "list", When: "always", Doc: "The parts of the subject that was asked for, as pairs."},
		{Name: "subjectAltName", Type: "list", When: "always", Doc: "The other names that were asked for."},
		{Name: "keyUsage", Type: "list", When: "always", Doc: "What the key may be used for."},
		{Name: "extendedKeyUsage", Type: "list", When: "always", Doc: "The same by object identifiers."},
		{Name: "basicConstraints", Type: "list", When: "always", Doc: "What sort of certificate was asked for."},
		{Name: "ocspMustStaple", Type: "bool", When: "always", Doc: "Whether servers must prove its standing."},
		{Name: "name_constraints_permitted", Type: "list", When: "always", Doc: "Names that it may certify."},
		{Name: "name_constraints_excluded", Type: "list", When: "always", Doc: "Names that it may not."},
		{Name: "csr", Type: "str", When: "return_content, and always with openssl_csr_pipe", Doc: "The request."},
	}
}

func runCSR(_ context.Context, env *modules.Env, a csrArgs) (modules.Result, error) {
	if err := needDir(a.Path); err != nil {
		return modules.Result{}, err
	}
	r, err := newRequest(a.requestArgs)
	if err != nil {
		return modules.Result{}, err
	}
	res := modules.Result{}
	if a.State == "absent" {
		err = drop(&res, file{a.Path, a.Backup, env.Check})
	} else {
		err = a.present(env, r, &res)
	}
	if err != nil {
		return modules.Result{}, err
	}
	r.tell(&res, a.ReturnContent)
	saved(&res, a.Path)
	return res, nil
}

func (a *csrArgs) present(env *modules.Env, r *request, res *modules.Result) error {
	var err error
	if r.old, err = readExisting(a.Path); err != nil {
		return err
	}
	res.Changed = a.Force
	if !a.Force {
		if res.Changed, err = r.needsNew(); err != nil {
			return err
		}
	}
	if res.Changed && !env.Check {
		if err := r.make(); err != nil {
			return err
		}
		if err := keep(res, a.Path, a.Backup); err != nil {
			return err
		}
		if err := writeFile(a.Path, r.fresh, 0o666, a.FileArgs); err != nil {
			return err
		}
	}
	did, err := a.For(a.Path, false).Apply(env.Check, nil)
	res.Changed = res.Changed || did
	return err
}
