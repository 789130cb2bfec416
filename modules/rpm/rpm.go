// Package rpm holds the modules of hosts whose packages are RPM's: the packages themselves by dnf or yum, the repositories they come
// from, and the keys that sign them.
package rpm

import "hark/modules"

// All are the modules of this family.
func All() []*modules.Module { return []*modules.Module{Dnf, Dnf5, RpmKey, Yum, YumRepository} }
