package foreign

import (
	"strings"
	"testing"

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
