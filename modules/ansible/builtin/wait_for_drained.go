package builtin

import (
	"encoding/hex"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"hark/modules/nss"
)

// drained reports whether no connection to the port is active, by the kernel's tables.
func (w *portWait) drained() (reached bool, problem string) {
	if w.Port == nil {
		return true, ""
	}
	ours := w.addressesOf(w.Host)
	excluded := map[string]bool{}
	for _, host := range w.Exclude {
		for ip := range w.addressesOf(host) {
			excluded[ip] = true
		}
	}
	var states []string
	for _, name := range w.Active {
		states = append(states, connectionStates[name])
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(text), "\n")[1:] {
			f := strings.Fields(line)
			if len(f) < 4 || !slices.Contains(states, f[3]) {
				continue
			}
			local, port := kernelAddress(f[1])
			peer, _ := kernelAddress(f[2])
			if port == *w.Port && (ours[local] || ours["0.0.0.0"]) && !excluded[peer] {
				return false, ""
			}
		}
	}
	return true, ""
}

func (w *portWait) addressesOf(host string) map[string]bool {
	out := map[string]bool{}
	ips, err := nss.HostAddresses(w.ctx, host)
	if err != nil {
		ips = []string{host}
	}
	for _, ip := range ips {
		out[ip] = true
	}
	return out
}

// kernelAddress reads an address of /proc/net/tcp: words of four bytes in the host's order, and a port.
func kernelAddress(text string) (ip string, port int) {
	address, number, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(address)
	n, portErr := strconv.ParseUint(number, 16, 16)
	if err != nil || portErr != nil {
		return "", 0
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	return net.IP(raw).String(), int(n)
}
