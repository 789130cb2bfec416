package sealed

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"hark/modules/py/value"
)

// What ansible-core 2.14.18 makes of these texts with the password pw and the bytes 0 to 31 as salt.
const (
	ofDefault = `$ANSIBLE_VAULT;1.1;AES256
30303031303230333034303530363037303830393061306230633064306530663130313131323133
3134313531363137313831393161316231633164316531660a323330363766656534356363353038
64346633346137643263363865343666326637396337653561663862346462313963333934663636
6564343837343761660a613261643536346338333232666132373231323631333364623132336339
3434
`
	ofProd = `$ANSIBLE_VAULT;1.2;AES256;prod
30303031303230333034303530363037303830393061306230633064306530663130313131323133
3134313531363137313831393161316231633164316531660a313832396462663865643236343636
34656338383663343737373364373530666665613734366634633335653365346362306261613434
6465356332303465660a633164383235326566363436636134333534346537373237613533376464
3530
`
)

func salt() []byte {
	var s []byte
	for i := range byte(32) {
		s = append(s, i)
	}
	return s
}

func TestVaultsAreSealedAsAnsibleDoes(t *testing.T) {
	for _, c := range []struct{ plain, id, want string }{{"secret text\n", "", ofDefault}, {"secret text\n", "default", ofDefault}, {"", "prod", ofProd}} {
		got, err := Seal([]byte(c.plain), []byte("pw"), c.id, salt())
		if err != nil || string(got) != c.want {
			t.Errorf("%q for %q:\n%s\n%v", c.plain, c.id, got, err)
		}
	}
	if _, err := Seal([]byte(ofProd), []byte("pw"), "", nil); err == nil {
		t.Error("a vault was sealed once more")
	}
	one, _ := Seal([]byte("x"), []byte("pw"), "", nil)
	if other, _ := Seal([]byte("x"), []byte("pw"), "", nil); bytes.Equal(one, other) {
		t.Error("two vaults have one salt")
	}
}

func TestVaultsAreOpenedByTheFirstPasswordThatFits(t *testing.T) {
	wrong, right, named := Secret{"default", []byte("no")}, Secret{"default", []byte("pw")}, Secret{"prod", []byte("pw")}
	for _, c := range []struct {
		keys  Keys
		vault string
		plain string
		by    string
	}{
		{Keys{Secrets: []Secret{right}}, ofDefault, "secret text\n", "default"},
		{Keys{Secrets: []Secret{wrong, named, right}}, ofDefault, "secret text\n", "prod"},
		{Keys{Secrets: []Secret{right, named}, MatchID: true}, ofProd, "", "prod"},
		{Keys{Secrets: []Secret{right}}, strings.ReplaceAll(ofDefault, "\n", "\r\n"), "secret text\n", "default"},
	} {
		plain, by, err := c.keys.Open([]byte(c.vault), "")
		if err != nil || string(plain) != c.plain || by.ID != c.by {
			t.Errorf("%q by %q, %v", plain, by.ID, err)
		}
	}
}

func TestVaultsThatCannotBeOpenedSayWhy(t *testing.T) {
	right := Keys{Secrets: []Secret{{"default", []byte("pw")}}}
	changed := strings.Replace(ofDefault, "613261643536", "613361643536", 1) // it would decrypt, but is not what was sealed
	for _, c := range []struct {
		keys Keys
		text string
		want string
	}{
		{right, "plain", "input is not vault encrypted data. f is not a vault encrypted file"},
		{right, ofDefault + "é", "input is not vault encrypted data. f is not a vault encrypted file"},
		{right, "$ANSIBLE_VAULT\n", "Vault envelope format error in f: list index out of range"},
		{right, "$ANSIBLE_VAULT;1.1;DES\n00\n", "DES cipher could not be found"},
		{Keys{Secrets: []Secret{{"default", []byte("no")}}}, ofDefault, "Decryption failed (no vault secrets were found that could decrypt) on f"},
		{Keys{Secrets: right.Secrets, MatchID: true}, ofProd, "Decryption failed (no vault secrets were found that could decrypt) on f"},
		{right, changed, "Decryption failed (no vault secrets were found that could decrypt) on f"},
		{right, "$ANSIBLE_VAULT;1.1;AES256\n303\n", "Vault format unhexlify error: Odd-length string"},
		{right, "$ANSIBLE_VAULT;1.1;AES256\n30zz\n", "Vault format unhexlify error: Non-hexadecimal digit found"},
		{right, "$ANSIBLE_VAULT;1.1;AES256\n3030\n", "Vault vaulttext format error: not enough values to unpack (expected 3, got 1)"},
	} {
		if plain, _, err := c.keys.Open([]byte(c.text), "f"); err == nil || err.Error() != c.want || plain != nil {
			t.Errorf("%.40q: %q, %v, want %s", c.text, plain, err, c.want)
		}
	}
	if _, _, err := (Keys{}).Open([]byte(ofDefault), ""); !errors.Is(err, value.ErrNoSecret) {
		t.Errorf("without a secret: %v", err)
	}
}

func TestHeadersNameTheirPassword(t *testing.T) {
	for text, want := range map[string]string{ofDefault: "default", ofProd: "prod", "plain": ""} {
		if got := IDOf([]byte(text)); got != want {
			t.Errorf("%.30q: %q", text, got)
		}
	}
}
