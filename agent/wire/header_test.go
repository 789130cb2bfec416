package wire

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fullHeader has every member.
var fullHeader = Header{
	V: 1, Kind: KindBatch, Fleet: "prod", Run: "r1", Plan: "d1", Seq: 7, Issuer: "UABC", Targets: []string{"a", TargetRun},
	NotBefore: 1795377401649, Expires: 1795378001649,
	Nonce: "n1", Digest: "00ff", Enc: "zstd", Seal: SealHost, From: "XABC", To: "n0", Prev: "ff00",
}

// TestHeadersAreReadEitherWay: what is scanned is what encoding/json reads, and what is not scanned is left to it.
func TestHeadersAreReadEitherWay(t *testing.T) {
	full, err := json.Marshal(fullHeader)
	if err != nil {
		t.Fatal(err)
	}
	for text, scanned := range map[string]bool{
		string(full): true, `{"v":1,"kind":"res","nonce":"n","digest":"d"}`: true,
		`{"v":1, "kind":"res"}`: false, `{"v":1,"kind":"a\u0062"}`: false, `{"v":1,"new":{"a":1}}`: false, `{"v":-1}`: false,
		`{"v":1.5}`: false, `{"v":1}x`: false,
		`{"v":1,}`: false, `{"targets":[]}`: false, `{"targets":null}`: false, `{"nonce":"é"}`: false, `{}`: false, ``: false,
		`[]`: false, `{"v":01}`: false, `{"seq":9999999999999999999}`: false,
	} {
		var got, want Header
		if ok := got.scan([]byte(text)); ok != scanned {
			t.Errorf("%s: scanned %v", text, ok)
		}
		got = Header{}
		gotErr, wantErr := got.read([]byte(text)), json.Unmarshal([]byte(text), &want)
		if (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%s: error %v, want %v", text, gotErr, wantErr)
		}
		if diff := cmp.Diff(want, got); wantErr == nil && diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func FuzzHeader(f *testing.F) {
	full, _ := json.Marshal(fullHeader)
	f.Add(full)
	f.Add([]byte(`{"v":1,"targets":["a"],"seq":18}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want Header
		if !got.scan(text) {
			return
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%s is scanned, and is no header: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var c Codec
	key := NewKey()
	frame, err := c.Pack(Header{Kind: KindBatch, Run: "r1"},
		Batch{Run: "r1", Host: "h1", Events: []Event{{Run: "r1", Host: "h1", Kind: Started, Step: "1"}}},
		Packing{Key: &key, Seal: SealHost})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		f, err := Parse(frame)
		if err != nil {
			b.Fatal(err)
		}
		var batch Batch
		if err := f.Body(&c, SealHost, Keys{Host: &key}, &batch); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPack(b *testing.B) {
	var c Codec
	key := NewKey()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Pack(Header{Kind: KindAnswer, Run: "r1", To: "n"}, Acked{Run: "r1", Host: "h1", Seq: 4},
			Packing{Key: &key, Seal: SealHost}); err != nil {
			b.Fatal(err)
		}
	}
}
