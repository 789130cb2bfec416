package crypto

import (
	"context"

	"hark/modules"
)

type certificatePipeArgs struct {
	Provider string `arg:"provider,required,choices=entrust|ownca|selfsigned" doc:"Who signs: selfsigned or ownca. entrust fails."`
	issueArgs
	Content *string `arg:"content" doc:"The certificate as it is; it comes back if it is what is asked for."`
}

// X509CertificatePipe is community.crypto.x509_certificate_pipe.
var X509CertificatePipe = modules.Define("community.crypto.x509_certificate_pipe", "Generate certificates without files", runCertificatePipe,
	modules.WithRules(issueRules()),
	modules.Documented(`- community.crypto.x509_certificate_pipe: {provider: selfsigned, privatekey_content: "{{ key }}", csr_content: "{{ request.csr }}"}
  register: certificate
`, certificateReturns()...))

func runCertificatePipe(ctx context.Context, env *modules.Env, a certificatePipeArgs) (modules.Result, error) {
	c := &issue{issueArgs: a.issueArgs}
	if err := c.prepare(ctx, env, a.Provider, nil); err != nil {
		return modules.Result{}, err
	}
	if a.Content != nil {
		c.old = []byte(*a.Content)
	}
	res := modules.Result{Changed: c.needsNew()}
	var err error
	if res.Changed && !env.Check {
		err = c.make()
	}
	if err == nil {
		err = c.tell(&res, env.Check, true)
	}
	res.Set("changed", modules.Here)
	if err != nil {
		return modules.Result{}, err
	}
	return res, nil
}
