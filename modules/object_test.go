package modules

import (
	"encoding/json"
	"strings"
	"testing"

	"hark/modules/py/value"
)

func TestObjectsKeepTheirOrder(t *testing.T) {
	const text = `{"b":1,"a":{"z":[1.0,2,{"y":null,"x":"é"}],"c":true},"":false}`
	v, err := ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(v)
	if err != nil || string(raw) != text {
		t.Errorf("got %s, %v", raw, err)
	}
	if got, want := Repr(v), `{'b': 1, 'a': {'z': [1.0, 2, {'y': None, 'x': 'é'}], 'c': True}, '': False}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	raw, err = Result{Plain: true, Data: value.DictOf("json", v)}.JSON()
	if want := `{"changed":false,"json":` + text + `}`; err != nil || string(raw) != want {
		t.Errorf("got %s, %v, want %s", raw, err, want)
	}
}

func TestObjectsAreCensored(t *testing.T) {
	v, err := ParseJSON([]byte(`{"b":"the secret is secret","a":["secret",7]}`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(Censor(v, []string{"secret"}))
	if want := `{"b":"the ******** is ********","a":["` + Censored + `",7]}`; err != nil || string(raw) != want {
		t.Errorf("got %s, %v, want %s", raw, err, want)
	}
}

func TestParseJSONRefusesWhatIsNotOneValue(t *testing.T) {
	for _, text := range []string{"", "{", "[1,", `{"a":}`, "1 2", "{}}", strings.Repeat("[", 20000)} {
		if v, err := ParseJSON([]byte(text)); err == nil {
			t.Errorf("%.20q: %v", text, v)
		}
	}
}
