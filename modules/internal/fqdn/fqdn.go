// Package fqdn finds a host's full name.
package fqdn

import (
	"context"
	"strings"
	"time"

	"hark/modules/nss"
)

// limit keeps a host without a working resolver from waiting.
const limit = 2 * time.Second

// Of finds a host's name with its domain as Python's socket.getfqdn does: the first name of its address that has a
// dot, else the first one; the host itself if it has no address or its address no name.
func Of(ctx context.Context, host string) string {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	addrs, err := nss.HostAddresses(ctx, host)
	if err != nil || len(addrs) == 0 {
		return host
	}
	names, err := nss.AddressNames(ctx, addrs[0])
	if err != nil || len(names) == 0 {
		return host
	}
	for _, name := range names {
		if name = strings.TrimSuffix(name, "."); strings.Contains(name, ".") {
			return name
		}
	}
	return strings.TrimSuffix(names[0], ".")
}
