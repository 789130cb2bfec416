package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// forgeries are texts that would be more than one word of a line, or none that anybody sees.
var forgeries = []string{"web1 UKEY\ndb1", "web1\n", "\nweb1", "web 1", "web1\ttab", "web1\r", "web1\u2028",
	"web1\u0085", "\u202ebew", "web1\u200b", "web1\x1b[8m", "web1\x00",
	strings.Repeat("a", 300)}

// No agent is called what means something else to Ansible where hosts are named, in whichever message it says so.
func TestNamesThatMeanSomethingElseAreRefused(t *testing.T) {
	names := append([]string{
		"localhost", "LocalHost", "all", "ALL", "ungrouped", "127.0.0.1", "127.1.2.3", "10.0.0.5", "::1", "fe80::1%eth0",
		"::ffff:127.0.0.1", "hark:", "hark:web",
		"web1:db1", "web1,db1", "web1&db1", "!web1", "&web1", "~web", "@hosts", "web*", "web?", "web[1:3]", "web1[0]", "",
		".", "-web1", "web1:22", "/etc/hosts", "a/b", "../x",
	}, forgeries...)
	for _, name := range names {
		id, err := NewIdentity()
		if err != nil {
			t.Fatal(err)
		}
		if CheckName(name) == nil {
			t.Errorf("%q can be the name of an agent", name)
		}
		raw, err := json.Marshal(Hello{ID: id.ID(), Name: name, XKey: id.XKey})
		if err != nil {
			t.Fatal(err)
		}
		if name != "" && Decode(raw, &Hello{}) == nil { // one that is not enrolled yet has none
			t.Errorf("a hello with the name %q can be read", name)
		}
	}
	for _, name := range []string{"web1", "web1.example.org", "alle", "localhost2", "localhost.localdomain", "10web",
		"db_1", "a@b", "größe", "1", "web-1+x"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
}

// Whatever an agent says of itself, in whichever message: what could become another line, or grows without end, does
// not get in.
func TestWhatAgentsSayOfThemselvesIsWords(t *testing.T) {
	id, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	hello := Hello{ID: id.ID(), Name: "web1.example.org", Version: "v1.2-3-gabc (dirty)"[:11], OS: "linux", Arch: "amd64",
		XKey: id.XKey, Runs: []string{"r1"}}
	said := map[string]func(text string) any{
		"a hello's name":       func(s string) any { h := hello; h.Name = s; return h },
		"a hello's version":    func(s string) any { h := hello; h.Version = s; return h },
		"a hello's platform":   func(s string) any { h := hello; h.OS = s; return h },
		"a hello's machine":    func(s string) any { h := hello; h.Arch = s; return h },
		"a hello's boot":       func(s string) any { h := hello; h.Boot = s; return h },
		"a hello's curve key":  func(s string) any { h := hello; h.XKey = s; return h },
		"a hello's run":        func(s string) any { h := hello; h.Runs = []string{s}; return h },
		"a hello's orphan":     func(s string) any { h := hello; h.Orphans = []string{s}; return h },
		"the name in a pong":   func(s string) any { h := hello; h.Name = s; return Alive{Hello: h} },
		"a reason of refusals": func(s string) any { return Alive{Hello: hello, Refused: map[Reason]uint64{Reason(s): 1}} },
		"a beat's reason":      func(s string) any { return Beat{Refused: map[Reason]uint64{Reason(s): 1}} },
		"a beat's late reason": func(s string) any { return Beat{RefusedLastHour: map[Reason]uint64{Reason(s): 1}} },
		"a beat's job":         func(s string) any { return Beat{Jobs: []BeatJob{{ID: s}}} },
		"a beat's job's run":   func(s string) any { return Beat{Jobs: []BeatJob{{ID: "j1", Run: s}}} },
		"a beat's job's state": func(s string) any { return Beat{Jobs: []BeatJob{{ID: "j1", State: s}}} },
		"a joiner's version":   func(s string) any { return Join{Name: "web1", Version: s} },
		"whom it obeys":        func(s string) any { return Trusted{Operators: []string{s}} },
	}
	kinds := map[string]func() any{
		"hello": func() any { return &Hello{} }, "pong": func() any { return &struct{ Alive }{} },
		"beat": func() any { return &Beat{} }, "join": func() any { return &Join{} },
		"trusted": func() any { return &Trusted{} },
	}
	into := func(body any) any {
		switch body.(type) {
		case Hello:
			return kinds["hello"]()
		case Alive:
			return kinds["pong"]()
		case Beat:
			return kinds["beat"]()
		case Join:
			return kinds["join"]()
		}
		return kinds["trusted"]()
	}
	read := func(body any) error {
		var c Codec
		frame, err := c.Pack(Header{Kind: KindAnswer}, body, Packing{Sign: id})
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(frame)
		if err != nil {
			t.Fatal(err)
		}
		return f.Body(&c, "", Keys{}, into(body))
	}
	for what, make := range said {
		for _, text := range forgeries {
			var refused *RefusedError
			if err := read(make(text)); !errors.As(err, &refused) || refused.Reason != Malformed {
				t.Errorf("%s: %q is taken: %v", what, text, err)
			}
		}
	}
	for _, body := range []any{hello, Alive{Hello: hello}, Alive{},
		Beat{Jobs: []BeatJob{{ID: "j1.2", Run: "r1", State: "running"}}, RefusedLastHour: map[Reason]uint64{Untrusted: 2}},
		Join{Name: "web1", XKey: id.XKey}, Trusted{Operators: []string{id.Key}}} {
		if err := read(body); err != nil {
			t.Errorf("%+v: %v", body, err)
		}
	}
	many := hello
	many.Runs = make([]string, maxWords+1)
	if read(many) == nil || read(Beat{Jobs: make([]BeatJob, MaxBeatJobs+1)}) == nil {
		t.Error("a hello of any number of runs is taken, or a beat of jobs")
	}
}

// A hello that unpacks to more than anybody has to say of himself is refused before it has the memory.
func TestPresenceIsSmall(t *testing.T) {
	id, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []Kind{KindHello, KindJoin, KindRights, KindBeat, KindBye} {
		var c Codec
		frame, err := c.Pack(Header{Kind: k}, map[string]string{"name": "web1", "more": strings.Repeat("a", maxWordsBody)},
			Packing{Sign: id})
		if err != nil {
			t.Fatal(err)
		}
		if len(frame) > 4<<10 {
			t.Fatalf("the bomb has %d bytes", len(frame))
		}
		f, err := Parse(frame)
		if err != nil {
			t.Fatal(err)
		}
		var into map[string]string
		if err := f.Body(&c, "", Keys{}, &into); err == nil {
			t.Errorf("%s: %d bytes were unpacked", k, len(into["more"]))
		}
	}
}
