// Package files are the modules that make, change, read and find files.
package files

import (
	"hark/modules"
	"hark/modules/internal/fsx"
)

// All are the modules of this package.
func All() []*modules.Module {
	return []*modules.Module{Assemble, BlockInFile, Copy, Fetch, File, Find, LineInFile, Replace, Slurp, Stat, Template, TempFile, Unarchive}
}

// failed is an error with keys for the result: pairs of name and value.
func failed(msg string, pairs ...any) error {
	e := &fsx.Error{Msg: msg, Data: map[string]any{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		e.Data[pairs[i].(string)] = pairs[i+1]
	}
	return e
}
