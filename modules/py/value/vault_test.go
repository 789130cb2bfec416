package value

import (
	"errors"
	"testing"
)

func TestVaultStringsSurviveTheWire(t *testing.T) {
	l := NewList(OpenedVault("cipher1", "{{ plain }}", nil), OpenedVault("cipher2", "", errors.New("no secret")))
	b, err := Encode(l)
	if err != nil {
		t.Fatalf("a vault that nobody uses need not open: %v", err)
	}
	back, err := Decode(b, KindSource)
	if err != nil {
		t.Fatal(err)
	}
	items := back.(*List).Items
	first, ok := items[0].(*Vault)
	if !ok || first.Cipher != "cipher1" {
		t.Fatalf("came back as %#v", items[0])
	}
	if plain, err := first.Open(); plain != "{{ plain }}" || err != nil {
		t.Errorf("opens to %q, %v", plain, err)
	}
	if _, err := items[1].(*Vault).Open(); err == nil || err.Error() != "no secret" {
		t.Errorf("the vault without a secret opens with %v", err)
	}
}
