package files

import (
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestCases(t *testing.T) {
	for _, m := range []*modules.Module{
		Assemble, BlockInFile, Copy, Fetch, File, Find, LineInFile, Replace, Slurp, Stat, TempFile, Template,
	} {
		t.Run(m.Name, func(t *testing.T) { modtest.Run(t, m, modtest.Options{Sorted: []string{"files"}}) })
	}
}
