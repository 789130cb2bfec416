package notify

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bad is an event that something has begun, and good its end.
func sample(w What) Event {
	return New("duty", "hark/keeper/abc", "base", time.Date(2026, 11, 26, 3, 0, 0, 0, time.UTC), Data{
		What: w, Text: "base: 3 of 40 hosts failed: web[1:3]", Duty: "base", Hosts: []string{"web1", "web2", "web3"}, Of: 40,
		Key: "duty/base/failed",
		Causes: GroupCauses(map[string]string{"web1": "nginx : reload: no such <unit>",
			"web2": "nginx : reload: no such <unit>", "web3": "disk full"}),
		Link: "https://hark.example.org/duties/base",
	})
}

// hook is a server that answers with codes, one after the other, and then 204.
type hook struct {
	*httptest.Server
	heads  []http.Header
	paths  []string
	bodies []string
}

func newHook(t *testing.T, codes ...int) *hook {
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.heads, h.paths, h.bodies = append(h.heads, r.Header), append(h.paths, r.URL.Path), append(h.bodies, string(body))
		code := http.StatusNoContent
		if len(h.heads) <= len(codes) {
			code = codes[len(h.heads)-1]
		}
		w.WriteHeader(code)
	}))
	t.Cleanup(h.Close)
	return h
}

func send(t *testing.T, s *Sender, target string, e Event) error {
	t.Helper()
	to, err := Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	if s.Pauses == nil {
		s.Pauses = []time.Duration{time.Millisecond, time.Millisecond}
	}
	return s.Send(t.Context(), to, e)
}

// The document is signed by the operator's key and by a secret, as Standard Webhooks has it.
func TestThePostIsSigned(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := newHook(t)
	s := &Sender{Key: "UKEY", Secret: []byte("shh"),
		Sign: func(b []byte) ([]byte, error) { return ed25519.Sign(private, b), nil }}
	e := sample(Failed)
	if err := send(t, s, h.URL+"/hook", e); err != nil {
		t.Fatal(err)
	}
	head, body := h.heads[0], h.bodies[0]
	signed := []byte(head.Get("Webhook-Id") + "." + head.Get("Webhook-Timestamp") + "." + body)
	own, shared, _ := strings.Cut(head.Get("Webhook-Signature"), " ")
	mac := hmac.New(sha256.New, s.Secret)
	mac.Write(signed)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); shared != want {
		t.Errorf("the secret's signature is %q, want %q", shared, want)
	}
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(own, "v1a,"))
	if err != nil || !ed25519.Verify(public, signed, sum) || head.Get("Hark-Key") != "UKEY" {
		t.Errorf("the operator's signature is %q of %q", own, head.Get("Hark-Key"))
	}
	var got Event
	if err := json.Unmarshal([]byte(body), &got); err != nil || got.SpecVersion != "1.0" ||
		got.Type != "hark.duty.failed" || got.ID != e.ID || got.Data.Causes[0].Why != "nginx : reload: no such <unit>" {
		t.Errorf("%v: %s", err, body)
	}
	if kind := head.Get("Content-Type"); kind != "application/cloudevents+json" {
		t.Error(kind)
	}
}

// A target that fails for a while is tried again some times; one that refuses is not; nobody learns the secret part
// of its URL.
func TestTriesAreBounded(t *testing.T) {
	for _, x := range []struct {
		codes []int
		tries int
		fails bool
	}{
		{nil, 1, false}, {[]int{500, 429}, 3, false}, {[]int{500, 500, 500, 500, 500}, 3, true}, {[]int{404}, 1, true},
	} {
		h := newHook(t, x.codes...)
		err := send(t, &Sender{}, h.URL+"/secret-path", sample(Failed))
		if (err != nil) != x.fails || len(h.heads) != x.tries {
			t.Errorf("%v: %d tries, %v", x.codes, len(h.heads), err)
		}
		if err != nil && strings.Contains(err.Error(), "secret-path") {
			t.Error(err)
		}
	}
	err := send(t, &Sender{}, "http://127.0.0.1:1/secret-path", sample(Failed))
	if err == nil || strings.Contains(err.Error(), "secret-path") {
		t.Error(err)
	}
}

func TestSlackHasATextWithoutItsOwnMarks(t *testing.T) {
	h := newHook(t)
	if err := send(t, &Sender{}, "slack+"+h.URL+"/services/T/B/X", sample(Failed)); err != nil {
		t.Fatal(err)
	}
	var m struct{ Text string }
	if err := json.Unmarshal([]byte(h.bodies[0]), &m); err != nil {
		t.Fatal(err)
	}
	want := ":x: *base: 3 of 40 hosts failed: web[1:3]*\nweb1 web2: nginx : reload: no such &lt;unit&gt;\nweb3: disk " +
		"full\nhttps://hark.example.org/duties/base"
	if m.Text != want || h.paths[0] != "/services/T/B/X" {
		t.Errorf("%s:\n%s\nwant\n%s", h.paths[0], m.Text, want)
	}
}

// Alertmanager takes an alert for ended if its labels are those of its beginning.
func TestAnAlertEndsWhereItBegan(t *testing.T) {
	h := newHook(t)
	for _, w := range []What{Failed, Fixed} {
		if err := send(t, &Sender{}, "alertmanager+"+h.URL, sample(w)); err != nil {
			t.Fatal(err)
		}
	}
	var began, ended []alert
	for i, into := range []*[]alert{&began, &ended} {
		if err := json.Unmarshal([]byte(h.bodies[i]), into); err != nil || len(*into) != 1 || h.paths[i] != "/api/v2/alerts" {
			t.Fatalf("%v: %s %s", err, h.paths[i], h.bodies[i])
		}
	}
	if fmt.Sprint(began[0].Labels) != fmt.Sprint(ended[0].Labels) || began[0].Labels["alertname"] == "" {
		t.Errorf("%v, then %v", began[0].Labels, ended[0].Labels)
	}
	if at := sample(Failed).Time; !began[0].EndsAt.After(at) || !ended[0].EndsAt.Equal(at) ||
		!began[0].StartsAt.Equal(at) {
		t.Errorf("%+v, then %+v", began[0], ended[0])
	}
}

// relay is a server of mail that takes one letter.
func relay(t *testing.T) (address string, letter <-chan string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	out := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		r := textproto.NewReader(bufio.NewReader(c))
		fmt.Fprint(c, "220 relay\r\n")
		for {
			line, err := r.ReadLine()
			switch {
			case err != nil:
				return
			case line == "DATA":
				fmt.Fprint(c, "354 go on\r\n")
				text, _ := r.ReadDotBytes()
				out <- string(text)
			case line == "QUIT":
				fmt.Fprint(c, "221 bye\r\n")
				return
			}
			fmt.Fprint(c, "250 ok\r\n")
		}
	}()
	return l.Addr().String(), out
}

func TestMailIsALetter(t *testing.T) {
	address, letters := relay(t)
	if err := send(t, &Sender{}, "smtp://"+address+"/ops@example.org,anna@example.org?from=hark@example.org",
		sample(Failed)); err != nil {
		t.Fatal(err)
	}
	m, err := mail.ReadMessage(strings.NewReader(<-letters))
	if err != nil {
		t.Fatal(err)
	}
	subject, _ := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil || subject != "hark: base: 3 of 40 hosts failed: web[1:3]" ||
		!strings.Contains(string(body), "web1 web2: nginx : reload: no such <unit>") ||
		!strings.Contains(string(body), "/duties/base") {
		t.Errorf("%v: %q\n%s", err, subject, body)
	}
	if to, err := m.Header.AddressList("To"); err != nil || len(to) != 2 {
		t.Error(to, err)
	}
}

func TestACommandGetsTheDocument(t *testing.T) {
	dir := t.TempDir()
	if err := send(t, &Sender{Dir: dir}, `sh -c 'cat >got; echo "$HARK_EVENT $HARK_TEXT" >said'`,
		sample(Failed)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "got"))
	var e Event
	if err != nil || json.Unmarshal(text, &e) != nil || e.Data.Duty != "base" {
		t.Errorf("%v: %s", err, text)
	}
	if said, _ := os.ReadFile(filepath.Join(dir, "said")); string(
		said) != "failed base: 3 of 40 hosts failed: web[1:3]\n" {
		t.Errorf("%q", said)
	}
	if err := send(t, &Sender{}, "sh -c 'echo no such channel >&2; exit 3'", sample(Failed)); err == nil ||
		!strings.Contains(err.Error(), "no such channel") {
		t.Error(err)
	}
}

// An address that is secret stands in a file, which is read each time.
func TestATargetMayStandInAFile(t *testing.T) {
	h := newHook(t)
	file := filepath.Join(t.TempDir(), "target")
	for _, path := range []string{"/one", "/two"} {
		if err := os.WriteFile(file, []byte(h.URL+path+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := send(t, &Sender{}, "@"+file, sample(Failed)); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(h.paths) != "[/one /two]" {
		t.Error(h.paths)
	}
}

func TestBadTargetsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"": "no target", "ftp://example.org/x": `"ftp" is no target`, "slack+ftp://x": "no target", "https://": "no URL",
		"smtp://relay/":                "needs an address",
		"smtp://relay/ops@example.org": "sender", "@": "name of a file", "echo 'x": "no command",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	s := &Sender{Pauses: []time.Duration{}}
	to, _ := Parse("nats:")
	if err := s.Send(context.Background(), to, sample(Failed)); err == nil {
		t.Error("there is no broker")
	}
}

// What hosts say stays in its line and cannot be taken for other lines of a message. A command gets the text whatever is
// in it.
func TestWhatHostsSayStaysInItsLine(t *testing.T) {
	const lie = "disk full\x00\r\n\nbase: \u202eall hosts are well\u2028https://hark.example.org/login\x1b[8m"
	e := New("duty", "hark/keeper/abc", "base", time.Now(), Data{What: Failed, Text: "base: " + lie,
		Causes: GroupCauses(map[string]string{"web1": lie}), Link: "https://hark.example.org/duties/base"})
	lines := e.lines()
	if len(lines) != 3 || strings.ContainsFunc(strings.Join(lines, ""), func(r rune) bool { return r < ' ' || r == 0x202e || r == 0x2028 }) {
		t.Errorf("%q", lines)
	}
	s := Sender{Dir: t.TempDir(), Pauses: []time.Duration{}}
	to, err := Parse("sh -c 'printf %s \"$HARK_TEXT\" > told'")
	if err == nil {
		err = s.Send(t.Context(), to, e)
	}
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(s.Dir, "told")); err != nil || string(text) != e.Data.Text {
		t.Errorf("%q, %v", text, err)
	}
}
