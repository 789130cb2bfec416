// Package pypi holds the module that installs Python packages, with the host's own pip.
package pypi

import "hark/modules"

// All are the modules of this family.
func All() []*modules.Module { return []*modules.Module{Pip} }
