//go:build e2e

package general

import (
	"testing"

	"hark/modules/modtest"
)

// The unit tests' bzip2 and xz pack nothing; the host's do.
func TestArchiveCasesWithTheHostsPrograms(t *testing.T) {
	modtest.Run(t, Archive, modtest.Options{Any: []string{"size"}})
}
