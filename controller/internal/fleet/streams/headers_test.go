package streams

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// An answer of the broker that somebody had sent to a subject of a stream is none to who reads the stream, and no
// header that a client makes up ends a batch, renames a message or hides others.
func TestHeadersOfMessagesAreNotThoseOfTheBroker(t *testing.T) {
	conn, js := newBroker(t)
	for _, c := range []struct {
		name string
		do   func(t *testing.T)
		// said is what the message says to readers: some servers take away the headers that do harm, or what hides others.
		// "-" is that it is left out.
		said []string
	}{
		{"nothing found", func(t *testing.T) { answered(t, conn, `{"last_by_subj":"things.none"}`) }, []string{"answer", ""}},
		{"a message", func(t *testing.T) {
			answered(t, conn, `{"seq":1,"next_by_subj":"things.first"}`)
		}, []string{"answer"}},
		{"a batch", func(t *testing.T) {
			answered(t, conn, `{"seq":1,"next_by_subj":"things.first","batch":1}`)
		}, []string{"answer", ""}},
		{"a bad question", func(t *testing.T) { answered(t, conn, `x`) }, []string{"answer", ""}},
		{"a status", func(t *testing.T) { raw(t, conn, "NATS/1.0\r\nStatus: 404\r\n\r\n") }, []string{"answer"}},
		{"no header", func(t *testing.T) { raw(t, conn, "nonsense") }, []string{"-", "data", "answer"}},
		{"nothing", func(t *testing.T) { raw(t, conn, "\r\n") }, []string{"-", "data", "answer"}},
		{"a hidden end", func(t *testing.T) {
			raw(t, conn, "NATS/1.0 404 Message Not Found\r\n\r\nx")
		}, []string{"-", "data", "answer"}},
		{"a hidden end of a batch", func(t *testing.T) {
			raw(t, conn, "NATS/1.0 204 EOB\r\nNats-Num-Pending: 0\r\nNats-Last-Sequence: 9999\r\n\r\nx")
		}, []string{"-", "data", "answer"}},
		{"another subject", func(t *testing.T) { raw(t, conn, another+"\r\nx") }, []string{"-", "data", "answer"}},
		{"another subject, with a status", func(t *testing.T) {
			raw(t, conn, another+"Status: 100\r\n\r\nx")
		}, []string{"-", "data", "answer"}},
		{"another subject, and headers that count for more than they take", func(t *testing.T) {
			raw(t, conn, another+strings.Repeat("a:b\n", 200)+"\r\nx")
		}, []string{"-", "data", "answer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ensure(t, conn)
			defer func() {
				if err := js.DeleteStream(t.Context(), name); err != nil {
					t.Error(err)
				}
			}()
			for _, subject := range []string{"first", "hit", "last"} {
				if _, err := js.Publish(t.Context(), "things."+subject, []byte(subject)); err != nil {
					t.Fatal(err)
				}
			}
			c.do(t)
			if _, err := js.Publish(t.Context(), "things.after", []byte("after")); err != nil {
				t.Fatal(err)
			}
			want := []string{"first first", "last last", "after after"}
			for _, from := range []uint64{1, 2} {
				var got []string
				hit := "-"
				next, err := Each(t.Context(), conn, name, "things.>", from, func(m Message) {
					said := string(m.Data)
					if m.Answer {
						said += "answer"
					}
					if m.Subject == "things.hit" {
						hit = said
						return
					}
					got = append(got, strings.TrimPrefix(m.Subject, "things.")+" "+said)
				})
				if err != nil || next < 6 || !slices.Contains(c.said, hit) || fmt.Sprint(got) != fmt.Sprint(want[from-1:]) {
					t.Errorf("from %d: %q and %q, next %d, %v", from, got, hit, next, err)
				}
			}
			c.do(t) // now it is the last one
			n := 0
			count := func(m Message) {
				if m.Subject != "things.hit" {
					n++
				}
			}
			if next, err := Each(t.Context(), conn, name, "things.>", 1, count); err != nil || n != len(want) || next < 7 {
				t.Errorf("as the last one: %d, next %d, %v", n, next, err)
			}
		})
	}
}

// another is the beginning of a header as the broker makes them for a message of another subject.
const another = "NATS/1.0\r\nNats-Stream: THINGS\r\nNats-Subject: things.first\r\nNats-Sequence: 5000\r\n" +
	"Nats-Time-Stamp: 2030-01-01T00:00:00Z\r\nNats-Num-Pending: 0\r\nNats-Last-Sequence: 1\r\n"

// answered has the broker answer a question to a subject of the stream.
func answered(t *testing.T, conn *nats.Conn, ask string) {
	t.Helper()
	stored(t, conn, func() error { return conn.PublishRequest("$JS.API.DIRECT.GET."+name, "things.hit", []byte(ask)) })
}

// stored sends a message and waits until the stream has it. The broker does not say when.
func stored(t *testing.T, conn *nats.Conn, send func() error) {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	was := stream.CachedInfo().State.LastSeq
	if err := send(); err != nil {
		t.Fatal(err)
	}
	for {
		now, err := stream.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now.State.LastSeq > was {
			return
		}
	}
}

// raw publishes bytes as the header of a message.
func raw(t *testing.T, conn *nats.Conn, header string) {
	t.Helper()
	stored(t, conn, func() error { return sendRaw(conn, header) })
}

func sendRaw(conn *nats.Conn, header string) error {
	c, err := net.Dial("tcp", strings.TrimPrefix(conn.ConnectedUrl(), "nats://"))
	if err != nil {
		return err
	}
	defer c.Close()
	in := bufio.NewReader(c)
	fmt.Fprintf(c, "CONNECT {\"headers\":true,\"no_responders\":true,\"verbose\":false,\"pedantic\":false}\r\n")
	fmt.Fprintf(c, "HPUB things.hit %d %d\r\n%sdata\r\nPING\r\n", len(header), len(header)+4, header)
	for {
		line, err := in.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "-ERR") {
			return fmt.Errorf("the broker answered %q: %v", line, err)
		}
		if strings.HasPrefix(line, "PONG") {
			return nil
		}
	}
}
