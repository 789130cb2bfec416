package result

import (
	"math"
	"math/big"
	"testing"

	"hark/agent/wire"
	"hark/modules/py/value"
)

func decode(t *testing.T, text string) *value.Dict {
	t.Helper()
	v, err := value.Decode([]byte(text), value.KindUnsafe)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Dict)
}

func TestStatusIsAsAnsibleCounts(t *testing.T) {
	for text, want := range map[string]wire.Status{
		`{}`:                                                                    wire.OK,
		`{"changed": true}`:                                                     wire.Changed,
		`{"failed": true, "changed": true}`:                                     wire.StatusFailed,
		`{"failed": true, "unreachable": true}`:                                 wire.StatusFailed,
		`{"unreachable": true, "skipped": true}`:                                wire.StatusUnreachable,
		`{"skipped": true, "changed": true}`:                                    wire.Skipped,
		`{"failed": true, "failed_when_result": false}`:                         wire.OK,
		`{"results": [], "skipped": true}`:                                      wire.Skipped,
		`{"results": [{"skipped": true}, {"skipped": true}]}`:                   wire.Skipped,
		`{"results": [{"skipped": true}, {}], "skipped": false}`:                wire.OK,
		`{"results": [{"changed": true}]}`:                                      wire.Changed,
		`{"results": [{"failed": true}]}`:                                       wire.StatusFailed,
		`{"results": [{"failed_when_result": false}, {"failed": true}]}`:        wire.OK,
		`{"results": [{"failed_when_result": true}], "failed": false}`:          wire.StatusFailed,
		`{"results": [{"failed": true}], "failed": false}`:                      wire.OK,
		`{"results": ["installed"], "changed": true}`:                           wire.Changed,
		`{"results": [{"unreachable": true}, {"skipped": true}], "changed": 1}`: wire.StatusUnreachable,
	} {
		if got := Status(decode(t, text)); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestCleanDropsInternalKeysEverywhereAndTheOuterInvocation(t *testing.T) {
	res := decode(t, `{"_ansible_a": 1, "invocation": 1, "results": [{"_ansible_b": 1, "invocation": 2, "c": {"_ansible_d": 1}}]}`)
	if got, want := string(JSON(Clean(res))), `{"results":[{"invocation":2,"c":{}}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if res.Len() != 3 {
		t.Error("the result itself was changed")
	}
}

func TestShownKeepsInvocationForThoseWhoSeeIt(t *testing.T) {
	res := decode(t, `{"invocation": 1, "results": [{"invocation": 2, "a": 1}, "text"]}`)
	if got, want := string(Shown(res, false)), `{"results":[{"a":1},"text"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := string(Shown(res, true)), `{"invocation":1,"results":[{"invocation":2,"a":1},"text"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCensoredShowsWhatAnsibleShows(t *testing.T) {
	res := decode(t, `{"stdout": "secret", "attempts": 2, "changed": true, "retries": 3}`)
	want := `{"censored":"` + censoredText + `","attempts":2,"changed":true,"retries":3}`
	if got := string(Censored(res)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestJSONIsPlain(t *testing.T) {
	d := value.NewDict()
	d.Set("float", value.Float(1))
	d.Set("inf", value.Float(math.Inf(1)))
	d.Set("big", &value.BigInt{Int: new(big.Int).Lsh(big.NewInt(1), 70)})
	d.Set("tuple", value.NewTuple(value.UnsafeStr("<&>"), value.None{}))
	d.SetKey(value.Int(1), value.Bytes("b"))
	want := `{"float":1.0,"inf":"inf","big":1180591620717411303424,"tuple":["<&>",null],"1":"b"}`
	if got := string(JSON(d)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLargeOutputIsCutWithAWord(t *testing.T) {
	res := decode(t, `{"stdout": "ab\ncd\u00e9", "stdout_lines": {"!l": "stdout"}, "stderr": "abc", "rc": 0, "warnings": ["first"]}`)
	want := `{"stdout":"ab\ncd","stdout_lines":{"!l":"stdout"},"stderr":"abc","rc":0,"warnings":["first",` +
		`"the output was too large to be sent to the controller: 1 bytes at the end were left out"]}`
	short := Shorten(res, 6)
	if got := string(JSON(short)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if lines, _ := short.Get("stdout_lines"); len(lines.(*value.List).Items) != 2 {
		t.Errorf("the lines are %v", lines)
	}
	loop := decode(t, `{"results": [{"stdout": "abc", "rc": 1}, "text", {"stderr": "abcd"}]}`)
	want = `{"results":[{"stdout":"ab","rc":1},"text",{"stderr":"ab"}],"warnings":["the output was too large to be sent to the controller: 3 bytes at the end were left out"]}`
	if got := string(JSON(Shorten(loop, 2))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if Shorten(res, 7) != res {
		t.Error("a result that loses nothing was copied")
	}
}
