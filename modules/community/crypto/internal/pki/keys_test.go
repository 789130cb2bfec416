package pki

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
		key, err := NewKey(c.kind, 1024, c.curve)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range c.forms {
			for _, passphrase := range []string{"", "open sesame"} {
				raw, err := SaveKey(key, form, passphrase)
				if form == "raw" && passphrase != "" {
					if err == nil {
						t.Errorf("%s: a raw key was encrypted", c.kind)
					}
					continue
				}
				if err != nil || KeyForm(raw) != form {
					t.Fatalf("%s %s: %v %q", c.kind, form, err, raw)
				}
				load := func(p *string) (PrivateKey, error) {
					if form == "raw" {
						return LoadRawKey(raw, c.kind)
					}
					return LoadKey(raw, p)
				}
				var given *string
				if passphrase != "" {
					given = &passphrase
				}
				got, err := load(given)
				if err != nil {
					t.Errorf("%s %s %q: %v", c.kind, form, passphrase, err)
					continue
				}
				again, _ := SaveKey(got, form, "")
				plain, _ := SaveKey(key, form, "")
				if !bytes.Equal(again, plain) {
					t.Errorf("%s %s: got another key", c.kind, form)
				}
				wrong := "wrong"
				if _, err := load(&wrong); err == nil && form != "raw" {
					t.Errorf("%s %s %q: a wrong passphrase was accepted", c.kind, form, passphrase)
				}
			}
		}
	}
}

func FuzzLoadKeyNeverPanics(f *testing.F) {
	key, _ := NewKey("Ed25519", 0, "")
	passphrase := "x"
	raw, _ := SaveKey(key, "pkcs8", passphrase)
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = LoadKey(raw, nil)
		if len(raw) < 1000 && bytes.Count(raw, []byte("\n")) < 4 {
			_, _ = LoadKey(raw, &passphrase)
		}
	})
}
