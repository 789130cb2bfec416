package foreign

import (
	"slices"
	"testing"
)

// The parameters that a module in Python declares with no_log are found however it writes that.
func TestSecretParametersAreFoundInTheText(t *testing.T) {
	const text = `
def main():
    module = AnsibleModule(
        argument_spec=dict(
            name=dict(type='str', required=True),
            password=dict(type='str', no_log=True, aliases=['pw', "pass"]),
            shown=dict(type='str', no_log=False),
            token = dict(
                choices=[x for x in (1, 2)],
                no_log = True),
            login=dict(type='dict', options=dict(
                user=dict(),
                secret={'type': 'str', 'no_log': True},
            )),
        ) | {
            'key': dict(no_log=True, aliases=('k',)), "plain": {"type": "str"},
            "update_password": dict(default='always', choices=['always', 'on_create'], no_log=False),
        })
    no_log=True
`
	want := []string{"k", "key", "pass", "password", "pw", "secret", "token"}
	if got := secretParameters(text); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := SecretParameters("/nothing/there.py"); got != nil {
		t.Errorf("of no file: %v", got)
	}
}
