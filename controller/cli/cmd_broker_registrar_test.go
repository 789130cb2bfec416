package cli

import (
	"net"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/agent/wire/natstest"
)

// A registrar that is started together with its servers waits for them.
func TestRegistrarsWaitForTheirServers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().(*net.TCPAddr)
	l.Close() // nobody listens there for now
	self, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	dialled := make(chan error, 1)
	go func() {
		bus, err := dialStarting(nats.Config{URL: "nats://" + address.String(), ID: self.ID(), Identity: self, Logger: zerolog.Nop()})
		if err == nil {
			err = bus.Close()
		}
		dialled <- err
	}()
	natstest.Begin(t, &server.Options{Port: address.Port})
	if err := <-dialled; err != nil {
		t.Error(err)
	}
}
