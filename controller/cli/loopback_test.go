package cli

import (
	"os"
	"strings"
	"testing"

	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/ssh"
)

// TestHostsAreNotSentToThemselvesForTheBroker, which is known before anything is copied.
func TestHostsAreNotSentToThemselvesForTheBroker(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		url     string
		targets []string
		refused string
	}{
		{"nats://127.0.0.1:4222", []string{"localhost", "192.0.2.7"}, "192.0.2.7"},
		{"localhost:4222, nats://[::1]:4222", []string{"web1.example.org"}, "web1.example.org"},
		{"nats://127.0.0.1:4222", []string{"127.0.0.1", own}, ""},
		{"tls://127.0.0.1:4222,tls://192.0.2.1:4222", []string{"192.0.2.7"}, ""},
		{"tls://broker.example.org:4222", []string{"192.0.2.7"}, ""},
	} {
		var hosts []bootstrap.Host
		for _, at := range c.targets {
			hosts = append(hosts, bootstrap.Host{Name: at, Target: ssh.Target{Host: at}})
		}
		err := brokerFor(c.url, hosts)
		if (err != nil) != (c.refused != "") || err != nil && (!strings.Contains(err.Error(), c.refused+" could not reach it") || !strings.Contains(err.Error(), "--listen")) {
			t.Errorf("%s for %v: %v", c.url, c.targets, err)
		}
	}
}
