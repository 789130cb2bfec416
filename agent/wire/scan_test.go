package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// common is a batch as most are.
const common = `{"life":"l1","turn":1,"run":"r1","host":"h1","events":[{"run":"r1","play":"0.0","host":"h1","seq":1,` +
	`"kind":"started","step":"1.0","name":"ping","time":"2026-11-23T22:48:08.123456789Z"},` +
	`{"run":"r1","play":"0.0","host":"h1","seq":2,"kind":"done","step":"1.0","time":"2026-11-23T22:48:08+01:00",` +
	`"outcome":{"status":"ok","result":{"ping":"po\"n]g","a":[1,{"b":null}]},` +
	`"effects":[{"layer":"set","vars":{"x":[1,"é"]}}],"ignored":true,"loop":false},"next":"1.1","every":5,` +
	`"stderr":true,"adopted":true,"text":"t","state":"failed"}],` +
	`"ack":{"run":"r1","host":"h1","life":"l1","ends":true,"hears":true,"each":false},"left":true,"late":7}`

// hail is a hello as most are.
const hail = `{"id":"abc","name":"web1","version":"1.2","proto":1,"os":"linux","arch":"amd64","boot":"b-1",` +
	`"started":"2026-11-23T22:48:08Z","xkey":"","joint":true}`

// TestBodiesAreReadEitherWay: what is scanned is what encoding/json reads, and what is not scanned is left to it.
func TestBodiesAreReadEitherWay(t *testing.T) {
	in := func(old, new string) string { return strings.Replace(common, old, new, 1) }
	for text, scanned := range map[string]bool{
		common: true, in(`"seq":1`, `"seq":1,"seq":3`): true, in(`"life":"l1",`, ``): true,
		in(`"host":"h1","seq"`, `"host":"h2","seq"`): true,
		in(`"life"`, `"Life"`):                       false, in(`"ping","time"`, `"p\u0131ng","time"`): false,
		in(`"ping","time"`, `"pïng","time"`): false, in(`"result":{`, `"result":{"open":[}`): false,
		in(`"turn":1`, `"turn":-1`): false, in(`"turn":1`, `"turn": 1`): false, in(`"result":{`, `"result":{,`): false,
		in(`"ack":{`, `"ack":null,"ack":{`):          false,
		in(`"ack":{`, `"ack":{"life":"l2"},"ack":{`): false, in(`"ignored":true`, `"ignored":null`): false,
		in(`"each":false`, `"each":false,"others":[]`): false,
		in(`22:48:08+01:00`, `22:48:8+01:00`):          false, in(`"layer":"set"`, `"layer":1`): false,
		in(`"loop":false`, `"no_log":true`): false, in(`"text":"t"`, `"new":"t"`): false,
		in(`"result":{"ping":"po\"n]g","a":[1,{"b":null}]}`, `"result":null`): false,
		in(`"result":{"ping":"po\"n]g","a":[1,{"b":null}]}`, `"result":"x"`):  false,
		common + " ": false, common[:len(common)-1]: false, `{}`: false, `{"events":[]}`: false, ``: false, `[]`: false,
		`{"events":[{"outcome":{"result":{"a":"\`: false,
	} {
		bodyIsReadAs[Batch](t, text, scanned)
	}
	for text, scanned := range map[string]bool{
		hail: true, strings.Replace(hail, `"joint":true`, `"runs":["r"]`, 1): false,
		strings.Replace(hail, `08Z`, `08`, 1): false, strings.Replace(hail, `"proto":1`, `"proto":"1"`, 1): false,
	} {
		bodyIsReadAs[Hello](t, text, scanned)
	}
}

// TestPiecesAreReadEitherWay, and written as encoding/json writes them.
func TestPiecesAreReadEitherWay(t *testing.T) {
	for text, scanned := range map[string]bool{
		`{"data":"YWJj"}`: true, `{"data":"YWI=","eof":true}`: true, `{"data":"YQ==","secret":true}`: true, `{"data":""}`: true,
		`{"over":true,"fresh":7,"held":9,"data":"YWJj","eof":false}`: true, `{"eof":true}`: true,
		`{"data":null}`: false, `{"data":"YWJj","data":"YWI="}`: false, `{"data":"YWJ"}`: false, `{"data":"YWI"}`: false,
		`{"data":"Y=Jj"}`: false, `{"data":"YW==YW=="}`: false, "{\"data\":\"YWJj\n\n\n\n\"}": false, "{\"data\":\"\n\nYQ==\"}": false,
		"{\"data\":\"YWJj\nYQ==\r\r\r\"}": false, `{"data":"YW\u0049="}`: false, `{"data":"YWJj`: false, `{"data":"YWJj"`: false,
		`{"data":"YWJj","err":"x"}`: false, `{"DATA":"YWJj"}`: false, `{"data":"YWJj"} `: false, `{"value":{"data":"YWJj"}}`: false,
		`{"data":"===="}`: false, `{"data":"="}`: false, `{"fresh":-1}`: false, `{}`: false,
	} {
		bodyIsReadAs[Answer](t, text, scanned)
	}
	piece := func(n int) (all []byte) {
		for i := range n {
			all = append(all, byte(i*7))
		}
		return all
	}
	for _, tt := range []struct {
		a        Answer
		composed bool
	}{
		{Answer{Data: piece(1)}, true}, {Answer{Data: piece(300), EOF: true}, true}, {Answer{Data: piece(2), Secret: true}, true},
		{Answer{StopVerdict: StopVerdict{Over: true, Fresh: 5, Held: 6}, Data: piece(3)}, true},
		{Answer{Data: piece(64 << 10), EOF: true, Secret: true}, true}, {Answer{}, false}, {Answer{EOF: true}, false},
		{Answer{Data: piece(3), Err: "x"}, false}, {Answer{Data: piece(3), Paths: []string{"p"}}, false},
		{Answer{Data: piece(3), Location: &BlobLocation{}}, false}, {Answer{Data: piece(3), Contents: [][]byte{nil}}, false},
	} {
		got, ok := tt.a.compose()
		want, err := json.Marshal(tt.a)
		if ok != tt.composed || err != nil || ok && string(got) != string(want) {
			t.Errorf("%+v: composed %v, %.200s, want %.200s, %v", tt.a, ok, got, want, err)
		}
	}
}

func bodyIsReadAs[T any](t *testing.T, text string, scanned bool) {
	t.Helper()
	var got, want T
	if ok := any(&got).(interface{ scan([]byte) bool }).scan([]byte(text)); ok != scanned ||
		!ok && !reflect.ValueOf(got).IsZero() {
		t.Errorf("%s: scanned %v, it is %+v", text, ok, got)
	}
	gotErr, wantErr := Decode([]byte(text), &got), json.Unmarshal([]byte(text), &want)
	if (gotErr == nil) != (wantErr == nil) || gotErr == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: it is %+v, %v, want %+v, %v", text, got, gotErr, want, wantErr)
	}
}

func FuzzBodies(f *testing.F) {
	f.Add([]byte(common))
	f.Add([]byte(hail))
	f.Add([]byte(`{"over":true,"fresh":7,"data":"YWI=","eof":true}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		bodyIsScannedAs[Batch](t, text)
		bodyIsScannedAs[Hello](t, text)
		bodyIsScannedAs[Answer](t, text)
	})
}

func bodyIsScannedAs[T any](t *testing.T, text []byte) {
	var got, want T
	if !any(&got).(interface{ scan([]byte) bool }).scan(text) {
		return
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatalf("%q is scanned, and cannot be read: %v", text, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q: %+v, want %+v", text, got, want)
	}
}

func BenchmarkBatch(b *testing.B) {
	for name, read := range map[string]func([]byte, *Batch) error{
		"scanned": func(raw []byte, into *Batch) error { return Decode(raw, into) },
		"json":    func(raw []byte, into *Batch) error { return json.Unmarshal(raw, into) },
	} {
		b.Run(name, func(b *testing.B) {
			text, err := json.Marshal(Batch{Session: Session{Life: "l", Turn: 1}, Run: "r1", Host: "h1",
				Ack: &Ack{Run: "r1", Host: "h1", Life: "l"}, Events: []Event{
					{Run: "r1", Play: "0.0", Host: "h1", Seq: 1, Kind: Started, Step: "1.0", Name: "ping", Time: time.Now().UTC()},
					{Run: "r1", Play: "0.0", Host: "h1", Seq: 2, Kind: Done, Step: "1.0", Name: "ping", Time: time.Now().UTC(),
						Outcome: &Outcome{Status: OK, Result: json.RawMessage(`{"changed":false,"ping":"pong"}`)}},
					{Run: "r1", Play: "0.0", Host: "h1", Seq: 3, Kind: Ended, Time: time.Now().UTC(), State: Finished},
				}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				var batch Batch
				if err := read(text, &batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
