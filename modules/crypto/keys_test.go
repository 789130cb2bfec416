package crypto

import (
	"bytes"
	"testing"
)

func TestKeysComeBackFromEveryForm(t *testing.T) {
	for _, c := range []struct {
		kind, curve string
		forms       []string
	}{
		{"RSA", "", []string{"pkcs1", "pkcs8"}},
		{"ECC", "secp384r1", []string{"pkcs1", "pkcs8"}},
		{"Ed25519", "", []string{"pkcs8", "raw"}},
		{"X25519", "", []string{"pkcs8", "raw"}},
	} {
		key, err := newKey(c.kind, 1024, c.curve)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range c.forms {
			for _, passphrase := range []string{"", "open sesame"} {
				raw, err := saveKey(key, form, passphrase)
				if form == "raw" && passphrase != "" {
					if err == nil {
						t.Errorf("%s: a raw key was encrypted", c.kind)
					}
					continue
				}
				if err != nil || keyForm(raw) != form {
					t.Fatalf("%s %s: %v %q", c.kind, form, err, raw)
				}
				k := &keyFile{old: raw}
				k.Type = c.kind
				if passphrase != "" {
					k.Passphrase = &passphrase
				}
				got, err := k.load()
				if err != nil {
					t.Errorf("%s %s %q: %v", c.kind, form, passphrase, err)
					continue
				}
				again, _ := saveKey(got, form, "")
				plain, _ := saveKey(key, form, "")
				if !bytes.Equal(again, plain) {
					t.Errorf("%s %s: got another key", c.kind, form)
				}
				wrong := "wrong"
				k.Passphrase = &wrong
				if _, err := k.load(); err == nil {
					t.Errorf("%s %s %q: a wrong passphrase was accepted", c.kind, form, passphrase)
				}
			}
		}
	}
}

func FuzzLoadPEMNeverPanics(f *testing.F) {
	key, _ := newKey("Ed25519", 0, "")
	passphrase := "x"
	raw, _ := saveKey(key, "pkcs8", passphrase)
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = loadPEM(raw, nil)
		if len(raw) < 1000 && bytes.Count(raw, []byte("\n")) < 4 {
			_, _ = loadPEM(raw, &passphrase)
		}
	})
}
