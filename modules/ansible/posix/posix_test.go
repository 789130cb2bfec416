package posix

import (
	"os/user"
	"testing"

	"hark/modules/modtest"
)

func TestCases(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	modtest.Collection(t, All(), map[string]modtest.Options{"authorized_key": {Vars: map[string]string{"ME": me.Username}}})
}
