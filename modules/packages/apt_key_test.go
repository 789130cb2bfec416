package packages

import (
	"testing"

	"hark/modules/modtest"
)

func TestAptKeyCases(t *testing.T) {
	modtest.Run(t, AptKey, modtest.Options{Tools: modtest.Tools(t)})
}
