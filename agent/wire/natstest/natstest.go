// Package natstest runs NATS servers for tests, in the process of the test and on the loopback.
package natstest

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// patience is how long a server may take to start. A member of a cluster waits for the others.
const patience = time.Minute

// JetStream are the options of a server that keeps its streams in a directory.
func JetStream(dir string) *server.Options {
	return &server.Options{JetStream: true, StoreDir: dir}
}

// Begin starts a server and does not wait until it is ready. It listens on the loopback, on a free port if the options
// name none, and writes no log. It ends with the test, or before it with Stop.
func Begin(t testing.TB, o *server.Options) *server.Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { Stop(s) })
	return s
}

// Start is Begin, and waits until the server is ready.
func Start(t testing.TB, o *server.Options) *server.Server {
	t.Helper()
	s := Begin(t, o)
	if err := Ready(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// New makes a server as Begin does, outside of a test and without starting it.
func New(o *server.Options) (*server.Server, error) {
	o.Host, o.NoLog, o.NoSigs = "127.0.0.1", true, true
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	return server.NewServer(o)
}

// Ready waits until a server takes connections, for one minute at most.
func Ready(s *server.Server) error {
	if !s.ReadyForConnections(patience) {
		return errors.New("the NATS server does not start")
	}
	return nil
}

// Stop ends a server and waits until it has ended. Its directory can then be that of another one.
func Stop(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// Connect is a connection that ends with the test.
func Connect(t testing.TB, url string, opts ...nats.Option) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}
