package crypto

import (
	"context"

	"hark/modules"
)

type csrPipeArgs struct {
	requestArgs
	Content *string `arg:"content" doc:"The request as it is; it comes back if it is what is asked for."`
}

// OpensslCSRPipe is community.crypto.openssl_csr_pipe.
var OpensslCSRPipe = modules.Define("community.crypto.openssl_csr_pipe", "Generate certificate signing requests without files", runCSRPipe,
	modules.WithRules(csrPipeRules()), crlRules(),
	modules.Documented(`- community.crypto.openssl_csr_pipe: {privatekey_content: "{{ key }}", common_name: app.example.org}
  register: request
`, requestReturns()...))

func csrPipeRules() modules.Rules {
	r := requestRules()
	r.OneOf = [][]string{{"privatekey_path", "privatekey_content"}}
	return r
}

func runCSRPipe(_ context.Context, env *modules.Env, a csrPipeArgs) (modules.Result, error) {
	r, err := newRequest(a.requestArgs)
	if err != nil {
		return modules.Result{}, err
	}
	if a.Content != nil {
		r.old = []byte(*a.Content)
	}
	fresh, err := r.needsNew()
	if err == nil && fresh && !env.Check {
		err = r.make()
	}
	if err != nil {
		return modules.Result{}, err
	}
	res := modules.Result{Changed: fresh}
	r.tell(&res, true)
	res.Set("changed", modules.Here)
	return res, nil
}
