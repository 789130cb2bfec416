package crypto

import (
	"context"

	"hark/modules"
	"hark/modules/community/crypto/internal/pki"
	"hark/modules/internal/host/tool"
)

type csrInfoArgs struct{ namedArgs }

// OpensslCSRInfo is community.crypto.openssl_csr_info.
var OpensslCSRInfo = modules.Define("community.crypto.openssl_csr_info", "Tell what is in certificate signing requests", runCSRInfo,
	modules.WithRules(eitherRules()),
	modules.Documented("- community.crypto.openssl_csr_info: {path: /etc/ssl/app.csr}\n  register: request\n",
		append(nameReturns(),
			modules.Return{Name: "name_constraints_permitted", Type: "list", When: "success", Doc: "Names that it may certify, null without such."},
			modules.Return{Name: "name_constraints_excluded", Type: "list", When: "success", Doc: "Names that it may not."},
			modules.Return{Name: "signature_valid", Type: "bool", When: "success", Doc: "Whether it was signed with its key."},
		)...))

func runCSRInfo(_ context.Context, _ *modules.Env, a csrInfoArgs) (modules.Result, error) {
	raw, err := a.read(a.Content, "CSR", nil)
	if err != nil {
		return modules.Result{}, err
	}
	r, err := pki.LoadRequest(raw)
	if err != nil {
		return modules.Result{}, tool.Fail(nil, "%v", err)
	}
	info, err := pki.RequestInfo(r, pki.Style{Names: pki.Encoding(a.Encoding)})
	if err != nil {
		return modules.Result{}, tool.Fail(nil, "%v", err)
	}
	res := modules.Result{Data: info}
	res.Set("changed", modules.Here)
	if !res.Data.True("signature_valid") {
		res.Failed, res.Msg = true, "CSR signature is invalid!"
	}
	return res, nil
}
