package posix

import (
	"testing"

	"hark/modules/modtest"
	"hark/modules/nss"
)

func TestCases(t *testing.T) {
	me, err := nss.Current()
	if err != nil {
		t.Fatal(err)
	}
	modtest.Collection(t, All(), map[string]modtest.Options{"authorized_key": {Vars: map[string]string{"ME": me.Name}}})
}
