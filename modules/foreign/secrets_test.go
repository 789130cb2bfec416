package foreign

import (
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
)

func TestSecretsThatAModuleNamesAreHidden(t *testing.T) {
	data := value.DictOf("echo", "it is sesame-open", "n", int64(12345678), "ok", true, "deep", value.NewList(value.DictOf("sesame-open", "x")),
		result.NewSecrets, value.NewList(value.Str(" sesame-open\n"), value.Str("12345678"), value.Str("abc")), "short", "abc")
	rest, secrets := takeSecrets(data)
	if got := strings.Join(secrets, "|"); got != " sesame-open\n|12345678|abc" || rest.Has(result.NewSecrets) {
		t.Errorf("%q are told, and the result is %s", got, value.JSONText(rest, value.JSONOptions{}))
	}
	want := `{"echo": "it is $REDACTED$", "n": "$REDACTED$", "ok": true, "deep": [{"$REDACTED$": "x"}], "short": "abc"}`
	if got := value.JSONText(withoutSecrets(rest, secrets), value.JSONOptions{}); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestModulesInPythonNameTheirSecretsAt222: a module of an older ansible-core takes them out of its result. From 2.22
// on it leaves them there and names them, in a Python that stays and in one of its own; what it logs is without them.
func TestModulesInPythonNameTheirSecretsAt222(t *testing.T) {
	const basic = `_ANSIBLE_ARGS = None
def remove_values(value, secrets):
    return dict((k, 'removed') for k in value) if isinstance(value, dict) else 'removed'
`
	const module = `import json
from ansible.module_utils import basic
secrets = {"sesame-open"}
result = {"got": "it is sesame-open", "log": basic.remove_values("log sesame-open", secrets)}
print(json.dumps(basic.remove_values(result, secrets)))
raise SystemExit
`
	for _, alone := range []string{"", "1"} {
		h := newHost(t, module, "")
		h.more = map[string]string{"ansible/module_utils/basic.py": basic}
		h.take(module, "")
		if alone != "" {
			h.environ = append(h.environ, "HARK_JOB=1")
		}
		for level, want := range map[dialect.Level]string{
			dialect.Level219: "removed removed ", dialect.Level222: "it is sesame-open removed sesame-open",
		} {
			h.release = modules.Release(level)
			res := h.whole(t.Context(), nil)
			got := res.Data.Text("got") + " " + res.Data.Text("log") + " " + strings.Join(res.Marks.Secrets, " ")
			if got != want {
				t.Errorf("at %s, alone %q: %q, want %q", level, alone, got, want)
			}
		}
	}
}
