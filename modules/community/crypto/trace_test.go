//go:build hostile

package crypto

import (
	"testing"

	"hark/modules/modtest"
)

func TestCheckModeStartsAndWritesNothingMore(t *testing.T) {
	modtest.TraceCheckMode(t, "TestCases", All())
}
