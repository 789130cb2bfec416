package nats_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/agent/wire/nats"
)

// A broker chooses what is signed to connect. It must not get the header of a message signed so.
func TestNothingButAChallengeIsSigned(t *testing.T) {
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	header, err := json.Marshal(wire.Header{V: wire.Version, Kind: wire.KindExec, Issuer: id.Key, Targets: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		nonce  string
		signed bool
	}{
		"challenge":  {"hTrJ0gI0-Tk_P5A", true},
		"header":     {string(header), false},
		"list":       {`["join","` + id.Key + `"]`, false},
		"lines":      {"hark console login\nn\n", false},
		"too long":   {strings.Repeat("A", 65), false},
		"some bytes": {"\x00\x01", false},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		said := make(chan string, 1)
		go ask(l, c.nonce, said)
		tr, err := nats.Dial(t.Context(), nats.Config{URL: "nats://" + l.Addr().String(), ID: id.ID(), Identity: id,
			JWT: "a.b.c", Once: true})
		if err == nil {
			_ = tr.Close()
		}
		got := <-said
		_ = l.Close()
		if strings.Contains(got, `"sig"`) != c.signed {
			t.Errorf("%s: it says %q, %v", name, got, err)
		}
	}
}

// ask is a broker that shows a challenge, tells what one client says to that, and hangs up.
func ask(l net.Listener, nonce string, said chan<- string) {
	conn, err := l.Accept()
	if err != nil {
		said <- ""
		return
	}
	text, _ := json.Marshal(map[string]any{"server_id": "s", "version": "2.15.2", "max_payload": 1 << 20,
		"auth_required": true, "nonce": nonce})
	_, _ = fmt.Fprintf(conn, "INFO %s\r\n", text)
	line, _ := bufio.NewReader(conn).ReadString('\n') // what a client that hangs up has said is ""
	_ = conn.Close()
	said <- line
}
