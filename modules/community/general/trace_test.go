//go:build hostile

package general

import (
	"testing"

	"hark/modules/modtest"
)

func TestCheckModeStartsAndWritesNothingMore(t *testing.T) {
	modtest.TraceCheckMode(t, "TestCases", All())
}
