package broker

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"

	"hark/agent/wire"
	"hark/agent/wire/natstest"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/streams"
)

// foreign is a server that is not hark's, with the configuration that hark prints.
func foreign(t *testing.T, a *Authority) *server.Server {
	t.Helper()
	needs, err := a.Needs()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := fmt.Sprintf("server_name: n1\nlisten: 127.0.0.1:-1\njetstream { store_dir: %q }\n", dir) + needs.ServerConfig()
	path := filepath.Join(dir, "nats.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return natstest.Start(t, o)
}

func TestForeignServersServeWithThePrintedConfiguration(t *testing.T) {
	a, err := OpenAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := foreign(t, a)
	registrar := connect(t, s.ClientURL(), a.Registrar)
	if err := roster.Ensure(t.Context(), manager(t, a, registrar)); err != nil {
		t.Fatal(err)
	}
	checkAgentsRights(t, a, s.ClientURL())
	checkRoster(t, a, s.ClientURL())
}

func TestControllersHearOfLostConnections(t *testing.T) {
	a, url := guarded(t)
	agent, controller := connect(t, url, a.Agent), connect(t, url, a.Controller)
	gone := make(chan string, 10)
	if _, err := controller.Subscribe(wire.DisconnectSubject, func(m wire.Msg) {
		if key := wire.Disconnected(m.Data); key != "" {
			gone <- key
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := controller.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := agent.Close(); err != nil {
		t.Fatal(err)
	}
	timeout := time.After(20 * time.Second)
	for key := ""; key != agent.id.Key; { // others, which made the broker, may have gone just before
		select {
		case key = <-gone:
		case <-timeout:
			t.Fatal("nobody told that the agent is gone")
		}
	}
}

func TestRevokedTokensAreCutOff(t *testing.T) {
	a, err := OpenAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := foreign(t, a)
	agent := connect(t, s.ClientURL(), a.Agent)
	if err := a.Revoke(agent.id.Key, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := Publish(t.Context(), a, func(o ...natsgo.Option) (*natsgo.Conn, error) { return natsgo.Connect(s.ClientURL(), o...) }); err != nil {
		t.Fatal(err)
	}
	cut := time.After(20 * time.Second)
	for agent.Conn().IsConnected() {
		select {
		case <-cut:
			t.Fatal("the connection of a revoked agent is still there")
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := a.Readmit(agent.id.Key); err != nil {
		t.Fatal(err)
	}
	if revoked, err := a.Revoked(); err != nil || len(revoked) != 0 {
		t.Errorf("%v, %v", revoked, err)
	}
}

// manager is a registrar as it makes and changes streams.
func manager(t *testing.T, a *Authority, c client) streams.Manager {
	t.Helper()
	api, err := a.StreamAPI()
	if err != nil {
		t.Fatal(err)
	}
	return streams.Manager{Conn: c.Conn(), API: api}
}
