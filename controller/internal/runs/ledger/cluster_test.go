package ledger

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire/natstest"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/record"
)

// newCluster is a cluster of three brokers in this process.
func newCluster(t *testing.T) (*rig, []*server.Server) {
	t.Helper()
	var routes []*url.URL
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		routes = append(routes, &url.URL{Scheme: "nats", Host: l.Addr().String()})
		_ = l.Close()
	}
	var all []*server.Server
	for i, route := range routes {
		port, err := strconv.Atoi(route.Port())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, natstest.Begin(t, &server.Options{
			ServerName: fmt.Sprint("n", i), JetStream: true, StoreDir: t.TempDir(),
			Cluster: server.ClusterOpts{Name: "three", Host: "127.0.0.1", Port: port}, Routes: slices.Clone(routes),
		}))
	}
	for _, s := range all {
		if err := natstest.Ready(s); err != nil {
			t.Fatal(err)
		}
	}
	var urls []string
	for _, s := range all {
		urls = append(urls, s.ClientURL())
	}
	r := &rig{t: t, url: strings.Join(urls, ",")}
	r.conn = r.connect()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := Ensure(ctx, streams.Manager{Conn: r.conn}); err != nil {
		t.Fatal(err)
	}
	return r, all
}

// TestClusterKeepsRecordsThoughABrokerGoes: the stream is on all three, and the one that leads it is shut down while
// a record is sent.
func TestClusterKeepsRecordsThoughABrokerGoes(t *testing.T) {
	const parts = 30
	r, servers := newCluster(t)
	anna := r.person()
	s := newShelf()
	s.parts("r0", 1)
	anna.send(t, s, "r0")
	js, err := jetstream.New(r.conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), StreamName)
	if err != nil {
		t.Fatal(err)
	}
	info := stream.CachedInfo()
	if info.Config.Replicas != 3 || info.Cluster == nil {
		t.Fatalf("%d replicas, cluster %+v", info.Config.Replicas, info.Cluster)
	}
	s.parts("r1", parts)
	if err := Note(anna.home, "r1"); err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() { sent <- anna.Send(t.Context(), s, "r1") }()
	r.await("10", "r1", anna)
	for _, one := range servers {
		if one.Name() == info.Cluster.Leader {
			one.Shutdown()
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	anna.whole(t, "r0", 1)
	anna.whole(t, "r1", parts)
	list, err := anna.Store().List(t.Context(), record.Filter{})
	if err != nil || len(list.Entries) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}
