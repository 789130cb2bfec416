package record

import (
	"encoding/json"
	"testing"
)

func TestBriefResultsKeepOnlyHowItCameOut(t *testing.T) {
	for raw, want := range map[string]string{
		`{"changed":true,"cmd":["mysql","-pS3CRET"],"stdout":"S3CRET","rc":0}`:                         `{"changed":true,"rc":0}`,
		`{ "msg" : "a\"}b,", "warnings" : [ "x", {"y":[1]} ], "failed":false }`:                        `{"warnings":[ "x", {"y":[1]} ],"failed":false}`,
		`{"results":[{"cmd":"S3CRET"}],"item":{"a":1},"_ansible_item_label":"a","diff":{"after":"S"}}`: `{"results":[],"_ansible_item_label":"a"}`,
		`{}`: `{}`, `[]`: `{}`, ``: `{}`, `{"changed":`: `{}`, `{"changed" true}`: `{}`, `{"changed":true`: `{}`,
		`{"a":"\`: `{}`,
	} {
		if got := string(briefed([]byte(raw), false)); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	if got := string(briefed([]byte(`{"diff":{"after":"x"}}`), true)); got != `{"diff":{"after":"x"}}` {
		t.Error(got)
	}
}

func FuzzBrief(f *testing.F) {
	f.Add([]byte(`{"changed":true,"cmd":["a","b"],"msg":"x\\\"y","results":[{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := briefed(raw, true)
		if !json.Valid(raw) {
			return
		}
		if !json.Valid(got) {
			t.Errorf("%q gave %q", raw, got)
		}
	})
}
