//go:build hostile

package hostile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nats-io/jwt/v2"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// tap is the broker's own ear and mouth: it hears every message and may publish any.
type tap struct {
	s    *site
	conn *natsgo.Conn

	mu     sync.Mutex
	frames []*natsgo.Msg // guarded by mu
}

// tap connects with the authority's own key, as whoever has the broker's directory can.
func (s *site) tap() *tap {
	s.t.Helper()
	seed, err := os.ReadFile(filepath.Join(s.data, "keys", "account.nk"))
	if err != nil {
		s.t.Fatal(err)
	}
	account, err := nkeys.ParseDecoratedNKey(seed)
	if err != nil {
		s.t.Fatal(err)
	}
	user, err := nkeys.CreateUser()
	if err != nil {
		s.t.Fatal(err)
	}
	key, err := user.PublicKey()
	if err != nil {
		s.t.Fatal(err)
	}
	token, err := jwt.NewUserClaims(key).Encode(account)
	if err != nil {
		s.t.Fatal(err)
	}
	t := &tap{s: s}
	t.conn, err = natsgo.Connect(s.url, natsgo.UserJWT(func() (string, error) { return token, nil }, user.Sign))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(t.conn.Close)
	if _, err := t.conn.Subscribe(">", t.take); err != nil {
		s.t.Fatal(err)
	}
	t.flush()
	return t
}

func (t *tap) take(m *natsgo.Msg) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frames = append(t.frames, m)
}

func (t *tap) flush() {
	t.s.t.Helper()
	if err := t.conn.Flush(); err != nil {
		t.s.t.Fatal(err)
	}
}

// recorded are the messages heard so far on the subjects that begin with a prefix.
func (t *tap) recorded(prefix string) []*natsgo.Msg {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*natsgo.Msg
	for _, m := range t.frames {
		if strings.HasPrefix(m.Subject, prefix) {
			out = append(out, m)
		}
	}
	return out
}

// say publishes a recorded message again, on a subject of choice; "" is its own.
func (t *tap) say(m *natsgo.Msg, subject string) {
	t.s.t.Helper()
	again := &natsgo.Msg{Subject: subject, Reply: m.Reply, Header: m.Header, Data: m.Data}
	if subject == "" {
		again.Subject = m.Subject
	}
	if err := t.conn.PublishMsg(again); err != nil {
		t.s.t.Fatal(err)
	}
}
