// Package network holds the modules that speak to other machines: HTTP requests and downloads, and waiting for ports.
package network

import "hark/modules"

// All are the modules of this family.
func All() []*modules.Module { return []*modules.Module{GetURL, URI, WaitFor} }
