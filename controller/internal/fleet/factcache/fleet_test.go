package factcache

import (
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/agent/wire/natstest"
	"hark/controller/internal/fleet/streams"
)

// newServer is a broker with the stream.
func newServer(t *testing.T) (url string) {
	t.Helper()
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	conn := natstest.Connect(t, s.ClientURL())
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	return s.ClientURL()
}

// person is an operator with a book.
type person struct {
	*Fleet
	id   *wire.Identity
	book *Cache
}

// newPerson shares facts with readers, and believes all but those named.
func newPerson(t *testing.T, url string, readers []*person, doubts ...*person) *person {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return (&person{id: id, book: In(t.TempDir())}).with(t, url, readers, doubts...)
}

// with is the same person with other readers.
func (p *person) with(t *testing.T, url string, readers []*person, doubts ...*person) *person {
	t.Helper()
	cfg := Config{Conn: natstest.Connect(t, url), Self: p.id, Believes: func(key string) bool {
		for _, d := range doubts {
			if d.id.Key == key {
				return false
			}
		}
		return true
	}}
	for _, r := range readers {
		cfg.Readers = append(cfg.Readers, r.id.XKey)
	}
	f, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &person{Fleet: f, id: p.id, book: p.book}
}

// gather has a person put a host's distribution on record and share it.
func (p *person) gather(t *testing.T, host, distribution string, at time.Time) {
	t.Helper()
	if _, err := p.book.Merge(host, wholeOf("distribution", distribution), at); err != nil {
		t.Fatal(err)
	}
	if err := p.Put(t.Context(), p.book, map[string]string{"id-" + host: host}); err != nil {
		t.Fatal(err)
	}
}

// sees is what a person knows of a host's distribution after a sync, and the warnings.
func (p *person) sees(t *testing.T, host string) (string, string) {
	t.Helper()
	warnings, err := p.Sync(t.Context(), p.book, func(id string) (string, bool) { return strings.CutPrefix(id, "id-") })
	if err != nil {
		t.Fatal(err)
	}
	facts, _, ok := p.book.Load(host)
	if !ok {
		return "", strings.Join(warnings, "\n")
	}
	return textOf(facts, "distribution"), strings.Join(warnings, "\n")
}

func TestEveryReaderHasTheNewestFacts(t *testing.T) {
	url, now := newServer(t), time.Now()
	bela := newPerson(t, url, nil)
	anna := newPerson(t, url, []*person{bela})
	bela = bela.with(t, url, []*person{anna})
	anna.gather(t, "h1", "Debian", now.Add(-2*time.Hour))
	if got, _ := bela.sees(t, "h1"); got != "Debian" {
		t.Errorf("a reader sees %q", got)
	}
	if _, at, _ := bela.book.Load("h1"); !at.Equal(now.Add(-2 * time.Hour)) {
		t.Errorf("their age has changed on the way: %v", at)
	}
	bela.gather(t, "h1", "Fedora", now.Add(-time.Hour))
	if got, _ := anna.sees(t, "h1"); got != "Fedora" {
		t.Errorf("newer facts of another: %q", got)
	}
	anna.gather(t, "h2", "Alpine", now)
	if got, _ := bela.sees(t, "h2"); got != "Alpine" {
		t.Errorf("what came later: %q", got)
	}
	if got, _ := bela.sees(t, "h1"); got != "Fedora" {
		t.Errorf("older facts came over newer ones: %q", got)
	}
}

// TestFactsAreReadByThoseWhoWereNamed, also if that is done later, and the broker sees none.
func TestFactsAreReadByThoseWhoWereNamed(t *testing.T) {
	url := newServer(t)
	carl := newPerson(t, url, nil)
	anna := newPerson(t, url, nil)
	anna.gather(t, "h1", "S3CRET", time.Now())
	if got, _ := carl.sees(t, "h1"); got != "" {
		t.Errorf("who was not named sees %q", got)
	}
	if _, err := streams.Each(t.Context(), carl.cfg.Conn, StreamName, ">", 1, func(m streams.Message) {
		if strings.Contains(string(m.Data), "S3CRET") {
			t.Errorf("%s shows what it holds", m.Subject)
		}
	}); err != nil {
		t.Fatal(err)
	}
	anna = anna.with(t, url, []*person{carl})
	if err := anna.Share(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, _ := carl.with(t, url, nil).sees(t, "h1"); got != "S3CRET" {
		t.Errorf("who was named later sees %q", got)
	}
}

// TestForgedFactsArePassedOver: of those who are not believed, moved to another host, under another's name.
func TestForgedFactsArePassedOver(t *testing.T) {
	url, now := newServer(t), time.Now()
	thief, anna := newPerson(t, url, nil), newPerson(t, url, nil)
	bela := newPerson(t, url, nil, thief)
	thief, anna = thief.with(t, url, []*person{bela}), anna.with(t, url, []*person{bela})
	anna.gather(t, "h1", "Debian", now.Add(-time.Hour))
	thief.gather(t, "h1", "Evil", now)
	move := func(from, to string) {
		t.Helper()
		m, ok, err := streams.Last(t.Context(), bela.cfg.Conn, StreamName, from)
		if err == nil && ok {
			_, err = bela.js.Publish(t.Context(), to, m.Data)
		}
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	move(wire.Facts(anna.id.ID(), "id-h1"), wire.Facts(anna.id.ID(), "id-h2"))
	move(wire.Facts(thief.id.ID(), "id-h1"), wire.Facts(anna.id.ID(), "id-h3"))
	got, warnings := bela.sees(t, "h1")
	if got != "Debian" || !strings.Contains(warnings, "not believed") ||
		!strings.Contains(warnings, "not of the operator") {
		t.Errorf("%q, with\n%s", got, warnings)
	}
	for _, host := range []string{"h2", "h3"} {
		if got, _ := bela.sees(t, host); got != "" {
			t.Errorf("of %s is believed %q", host, got)
		}
	}
}

// TestUnknownHostsAndClocksThatAreWrong: of agents that are gone nothing is kept, and what comes from the future is
// of now.
func TestUnknownHostsAndClocksThatAreWrong(t *testing.T) {
	url := newServer(t)
	bela := newPerson(t, url, nil)
	anna := newPerson(t, url, []*person{bela})
	anna.gather(t, "h1", "Debian", time.Now().Add(1000*time.Hour))
	if _, err := bela.Sync(t.Context(), bela.book, func(string) (string, bool) { return "", false }); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := bela.book.Load("h1"); ok {
		t.Error("facts of an agent that is not known are kept")
	}
	carl := newPerson(t, url, nil)
	anna.with(t, url, []*person{bela, carl}).gather(t, "h1", "Debian", time.Now().Add(2000*time.Hour))
	if got, _ := carl.sees(t, "h1"); got != "Debian" {
		t.Fatalf("sees %q", got)
	}
	if _, at, _ := carl.book.Load("h1"); at.After(time.Now()) {
		t.Errorf("facts of %v are from the future", at)
	}
}
