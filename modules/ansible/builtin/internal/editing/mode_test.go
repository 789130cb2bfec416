package editing

import "hark/modules/internal/fsx"

// modeArgs are the arguments of a file with a mode.
func modeArgs(mode int64) *fsx.FileArgs { return &fsx.FileArgs{Mode: mode} }
