package vcs

import (
	"testing"

	"hark/modules/modtest"
)

// The programs of testdata/tools only know how to answer. What a real git makes of the commands is tried by TestGitCasesWithGit.
func TestCases(t *testing.T) {
	tools := modtest.Tools(t)
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) { modtest.Run(t, m, modtest.Options{Tools: tools}) })
	}
}
