package storage

import (
	"testing"

	"hark/modules/modtest"
)

func TestCases(t *testing.T) {
	tools := modtest.Tools(t)
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) { modtest.Run(t, m, modtest.Options{Tools: tools}) })
	}
}
