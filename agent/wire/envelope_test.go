package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func identity(t *testing.T) *Identity {
	t.Helper()
	id, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// reason is why an error refuses a message, "" if it does not.
func reason(err error) Reason {
	var r *RefusedError
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

func TestIdentitySurvivesItsFile(t *testing.T) {
	id := identity(t)
	text, err := id.Text()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseIdentity(text)
	if err != nil || back.Key != id.Key || back.XKey != id.XKey {
		t.Fatalf("came back as %+v, %v", back, err)
	}
	if len(id.ID()) != 26 || strings.ToLower(id.ID()) != id.ID() {
		t.Errorf("id %q is not 26 lower case characters", id.ID())
	}
	for _, bad := range []string{"", "SUAB", string(text[:len(text)/2]), "hello"} {
		if _, err := ParseIdentity([]byte(bad)); err == nil {
			t.Errorf("a key file %q was taken", bad)
		}
	}
}

func TestEnvelopeRefusesWhatWasNotMeant(t *testing.T) {
	var c Codec
	operator, agent, attacker := identity(t), identity(t), identity(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	demands := Demands{
		Trusted: func(k string) bool { return k == operator.Key }, Fleet: "prod", ID: agent.ID(), Kind: KindPlan,
		Now: func() time.Time { return now },
	}
	pack := func(h Header, p Packing) []byte {
		if p.Now == nil {
			p.Now = demands.Now
		}
		frame, err := c.Pack(h, Opening{Start: Start{Run: "r1"}}, p)
		if err != nil {
			t.Fatal(err)
		}
		return frame
	}
	at := func(d time.Duration) func() time.Time { return func() time.Time { return now.Add(d) } }
	good := Header{Kind: KindPlan, Fleet: "prod", Run: "r1", Targets: []string{agent.ID()}}
	with := func(change func(*Header)) Header {
		h := good
		change(&h)
		return h
	}
	signed := Packing{Sign: operator, To: agent.XKey, Box: operator}
	tests := []struct {
		name  string
		frame []byte
		want  Reason
	}{
		{"good", pack(good, signed), ""},
		{"clock behind", pack(good, Packing{Sign: operator, Now: at(290 * time.Second)}), ""},
		{"clock ahead", pack(good, Packing{Sign: operator, Now: at(-Lifetime - 290*time.Second)}), ""},
		{"from the future", pack(good, Packing{Sign: operator, Now: at(310 * time.Second)}), Expired},
		{"expired", pack(good, Packing{Sign: operator, Now: at(-Lifetime - 310*time.Second)}), Expired},
		{"signed by a stranger", pack(good, Packing{Sign: attacker}), Untrusted},
		{"not signed", pack(good, Packing{To: agent.XKey, Box: attacker}), Forged},
		{"for another agent", pack(with(func(h *Header) { h.Targets = []string{attacker.ID()} }), signed), Audience},
		{"for a run", pack(with(func(h *Header) { h.Targets = []string{TargetRun} }), signed), Audience},
		{"for another fleet", pack(with(func(h *Header) { h.Fleet = "test" }), signed), Audience},
		{"another kind", pack(with(func(h *Header) { h.Kind = KindExec }), signed), Altered},
		{"no message", []byte("hello"), Malformed},
		{"empty", nil, Malformed},
	}
	for _, tt := range tests {
		f, err := Parse(tt.frame)
		if err == nil {
			err = demands.Check(f)
		}
		if got := reason(err); got != tt.want {
			t.Errorf("%s: %v, want reason %q", tt.name, err, tt.want)
		}
	}
}

func TestEveryByteOfAnEnvelopeMatters(t *testing.T) {
	var c Codec
	operator, agent := identity(t), identity(t)
	frame, err := c.Pack(Header{Kind: KindPlan, Run: "r1", Targets: []string{agent.ID()}},
		Opening{Start: Start{Run: "r1"}},
		Packing{Sign: operator, To: agent.XKey, Box: operator})
	if err != nil {
		t.Fatal(err)
	}
	demands := Demands{Trusted: func(k string) bool { return k == operator.Key }, ID: agent.ID(), Kind: KindPlan}
	for i := range frame {
		altered := bytes.Clone(frame)
		altered[i] ^= 1
		f, err := Parse(altered)
		if err == nil {
			err = demands.Check(f)
		}
		if err == nil {
			t.Fatalf("byte %d of %d can be changed: %q became %q", i, len(frame), frame[i], altered[i])
		}
	}
	for i := range frame {
		if _, err := Parse(frame[:i]); err == nil {
			t.Fatalf("a frame of %d bytes was taken when cut to %d", len(frame), i)
		}
	}
}

func TestSealsOpenOnlyForThoseMeant(t *testing.T) {
	var c Codec
	operator, agent, other := identity(t), identity(t), identity(t)
	host, run, wrong := NewKey(), NewKey(), NewKey()
	secret := Advance{Run: "r1", Play: "the secret"}
	tests := []struct {
		name string
		p    Packing
		need Seal
		keys Keys
		want Reason
	}{
		{"box", Packing{Sign: operator, To: agent.XKey, Box: operator}, SealBox, Keys{Own: agent}, ""},
		{"box for another", Packing{Sign: operator, To: agent.XKey, Box: operator}, SealBox, Keys{Own: other}, Unsealed},
		{"host", Packing{Key: &host, Seal: SealHost}, SealHost, Keys{Host: &host}, ""},
		{"host of another", Packing{Key: &host, Seal: SealHost}, SealHost, Keys{Host: &wrong}, Unsealed},
		{"run", Packing{Sign: operator, Key: &run, Seal: SealRun}, SealRun, Keys{Run: &run}, ""},
		{"no key", Packing{Sign: operator, Key: &run, Seal: SealRun}, SealRun, Keys{}, Unsealed},
		{"in clear where a seal is needed", Packing{Sign: operator}, SealRun, Keys{Run: &run}, Altered},
	}
	for _, tt := range tests {
		frame, err := c.Pack(Header{Kind: KindAdvance, Run: "r1"}, secret, tt.p)
		if err != nil {
			t.Fatal(err)
		}
		if tt.need != "" && tt.p.Key != nil && bytes.Contains(frame, []byte("the secret")) {
			t.Errorf("%s: the secret is in clear", tt.name)
		}
		f, err := Parse(frame)
		if err != nil {
			t.Fatal(err)
		}
		var got Advance
		err = f.Body(&c, tt.need, tt.keys, &got)
		if reason(err) != tt.want || err == nil && got.Play != secret.Play {
			t.Errorf("%s: %+v, %v, want reason %q", tt.name, got, err, tt.want)
		}
	}
}

// An unsigned message is protected by the key alone: what its header says is bound to the body.
func TestHeaderOfASealedMessageIsBound(t *testing.T) {
	var c Codec
	key := NewKey()
	frame, err := c.Pack(Header{Kind: KindAnswer, Run: "r1", To: "question 1"}, Answer{},
		Packing{Key: &key, Seal: SealHost})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(frame)
	if err != nil {
		t.Fatal(err)
	}
	f.Header.To = "question 2"
	if err := f.Body(&c, SealHost, Keys{Host: &key}, &Answer{}); reason(err) != Unsealed {
		t.Errorf("an answer passes for that of another question: %v", err)
	}
}

func TestLargeBodiesAreCompressed(t *testing.T) {
	var c Codec
	op := identity(t)
	body := Answer{Paths: []string{strings.Repeat("abc ", 50_000)}}
	frame, err := c.Pack(Header{Kind: KindAnswer}, body, Packing{Sign: op})
	if err != nil || len(frame) > 5_000 {
		t.Fatalf("200 KB became %d bytes, %v", len(frame), err)
	}
	f, err := Parse(frame)
	if err != nil {
		t.Fatal(err)
	}
	var got Answer
	if err := f.Body(&c, "", Keys{}, &got); err != nil || got.Paths[0] != body.Paths[0] {
		t.Errorf("it came back changed: %v", err)
	}
}

func TestBombsAreRefused(t *testing.T) {
	var c Codec
	op := identity(t)
	frame, err := c.Pack(Header{Kind: KindAnswer}, strings.Repeat("a", MaxBody+1), Packing{Sign: op})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(frame)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if err := f.Body(&c, "", Keys{}, &got); reason(err) != Malformed {
		t.Errorf("%d bytes were unpacked from %d: %v", len(got), len(frame), err)
	}
}

func TestNewerVersionIsNamed(t *testing.T) {
	head, _ := json.Marshal(Header{V: Version + 1, Kind: KindPlan})
	_, err := Parse(frame(head, nil, nil))
	if reason(err) != Newer || !strings.Contains(err.Error(), "upgrade") {
		t.Errorf("err = %v", err)
	}
}

func TestReplySubjectsOfOthersAreTold(t *testing.T) {
	id := IDOf("x")
	for reply, want := range map[string]bool{
		Inbox(id) + ".abc": true, Inbox(id): false, Inbox(id) + "x.abc": false, "_I.other.abc": false,
		HostSubject(id, KindPlan): false, "": false, Inbox(id) + ".>": false, Inbox(id) + ".*": false,
	} {
		if OwnReply(reply, id) != want {
			t.Errorf("OwnReply(%q) = %v", reply, !want)
		}
	}
}

func FuzzParse(f *testing.F) {
	var c Codec
	id, err := NewIdentity()
	if err != nil {
		f.Fatal(err)
	}
	key := NewKey()
	for _, p := range []Packing{{Sign: id}, {Key: &key, Seal: SealHost}, {Sign: id, To: id.XKey, Box: id}} {
		frame, err := c.Pack(Header{Kind: KindAsk, Run: "r"}, Ask{Run: "r"}, p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame)
	}
	f.Add([]byte(magic + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err != nil {
			return
		}
		for _, seal := range []Seal{"", SealBox, SealHost, SealRun} {
			var a Ask
			_ = m.Body(&c, seal, Keys{Own: id, Host: &key, Run: &key}, &a)
		}
	})
}
