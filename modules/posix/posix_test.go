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
	options := modtest.Options{Tools: modtest.Tools(t), Vars: map[string]string{"ME": me.Username}}
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) { modtest.Run(t, m, options) })
	}
}
