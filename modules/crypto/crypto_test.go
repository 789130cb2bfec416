package crypto

import (
	"testing"

	"hark/modules/modtest"
)

func TestCases(t *testing.T) {
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) { modtest.Run(t, m, modtest.Options{}) })
	}
}
