package cli

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"hark/controller/internal/fleet/bootstrap"
)

// loopbackBroker reports whether a broker's URL, or each of several, names the loopback: no other machine finds the
// broker there.
func loopbackBroker(text string) bool {
	for _, one := range strings.Split(text, ",") {
		one = strings.TrimSpace(one)
		if !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		u, err := url.Parse(one)
		if err != nil || !loopbackHost(u.Hostname()) {
			return false
		}
	}
	return true
}

func loopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// thisMachine reports whether a host is the machine that hark runs on, as far as its name or address says.
func thisMachine(host string) bool {
	if own, err := os.Hostname(); loopbackHost(host) || err == nil && host == own {
		return true
	}
	addrs, _ := net.InterfaceAddrs() // without them names decide
	return slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(net.ParseIP(host))
	})
}

// brokerFor returns what is wrong with telling hosts of a broker: they would look for it on themselves.
func brokerFor(url string, hosts []bootstrap.Host) error {
	if !loopbackBroker(url) {
		return nil
	}
	i := slices.IndexFunc(hosts, func(h bootstrap.Host) bool { return !thisMachine(h.Target.Host) })
	if i < 0 {
		return nil
	}
	return fmt.Errorf(
		"the broker at %s serves this machine only, and %s could not reach it: start it with `hark broker run --listen "+
			"0.0.0.0:4222` or "+
			"`hark broker install`, or say with --broker-url how the hosts reach it", url, hosts[i].Name)
}
