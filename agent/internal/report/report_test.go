package report

import (
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
)

func decode(t *testing.T, text string) *result.Result {
	t.Helper()
	v, err := value.Decode([]byte(text), value.KindUnsafe)
	if err != nil {
		t.Fatal(err)
	}
	return result.Of(v.(*value.Dict))
}

func same(t *testing.T, got []byte, want string) {
	t.Helper()
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestInvocationTravelsForThoseWhoSeeIt(t *testing.T) {
	res := decode(t, `{"invocation": 1, "results": [{"invocation": 2, "a": 1}, "text"]}`)
	same(t, Reporter{Play: &plan.Play{}}.Outcome(res).Result, `{"results":[{"a":1},"text"]}`)
	same(t, Reporter{Play: &plan.Play{Verbosity: 3}}.Outcome(res).Result, `{"invocation":1,"results":[{"invocation":2,"a":1},"text"]}`)
	loop := result.Sum([]*result.Result{decode(t, `{"invocation": 2, "a": 1, "_ansible_item_label": "x"}`)})
	same(t, Reporter{Play: &plan.Play{}}.Outcome(loop).Result, `{"results":[{"a":1,"_ansible_item_label":"x"}]}`)
}

func TestWhatIsHiddenIsCensored(t *testing.T) {
	res := decode(t, `{"stdout": "secret", "changed": true, "item": "secret", "ansible_loop_var": "item", "_ansible_item_result": true, "_ansible_item_label": "secret"}`)
	o := Reporter{Play: &plan.Play{}, NoLog: true}.Outcome(res)
	same(t, o.Result, `{"censored":"`+result.Hidden+`","changed":true}`)
	if o.Status != wire.Changed || !o.NoLog || o.Item != nil || o.Label != "" {
		t.Errorf("the outcome is %+v", o)
	}
	res.NoLog = result.Yes
	if o := (Reporter{Play: &plan.Play{}}).Outcome(res); !o.NoLog || strings.Contains(string(o.Result), "secret") {
		t.Errorf("the outcome is %+v", o)
	}
}

func TestBriefLeavesHowItCameOut(t *testing.T) {
	brief := Reporter{Play: &plan.Play{Brief: true}}
	res := decode(t, `{"changed": true, "stdout": "x", "rc": 0, "diff": {}, "_ansible_no_log": false}`)
	same(t, brief.Brief(res).Result, `{"changed":true,"rc":0,"_ansible_no_log":false}`)
	same(t, Reporter{Play: &plan.Play{Brief: true}, Diff: true}.Brief(res).Result, `{"changed":true,"rc":0,"diff":{},"_ansible_no_log":false}`)
	same(t, brief.Brief(decode(t, `{"changed": true, "stdout": "x", "_ansible_verbose_always": true}`)).Result, `{"changed":true,"stdout":"x","_ansible_verbose_always":true}`)
	same(t, brief.Brief(decode(t, `{"failed": true, "msg": "x"}`)).Result, `{"failed":true,"msg":"x"}`)
	same(t, brief.Brief(result.Sum([]*result.Result{res})).Result, `{"results":[]}`)
}

func TestLargeOutputIsCutWithAWord(t *testing.T) {
	res := decode(t, `{"stdout": "ab\ncd\u00e9", "stdout_lines": {"!l": "stdout"}, "stderr": "abc", "rc": 0, "warnings": ["first"]}`)
	want := `{"stdout":"ab\ncd","stdout_lines":{"!l":"stdout"},"stderr":"abc","rc":0,"warnings":["first",` +
		`"the output was too large to be sent to the controller: 1 bytes at the end were left out"]}`
	short := shorten(res, 6)
	same(t, value.PlainJSON(short.Whole()), want)
	if lines, _ := short.Get("stdout_lines"); len(lines.(*value.List).Items) != 2 {
		t.Errorf("the lines are %v", lines)
	}
	items := []*result.Result{decode(t, `{"stdout": "abc", "rc": 1, "_ansible_item_label": "l"}`), decode(t, `{"stderr": "abcd"}`)}
	want = `{"results":[{"stdout":"ab","rc":1,"_ansible_item_label":"l"},{"stderr":"ab"}],"warnings":["the output was too large to be sent to the controller: 3 bytes at the end were left out"]}`
	same(t, value.PlainJSON(shorten(result.Sum(items), 2).Whole()), want)
	if shorten(res, 7) != res {
		t.Error("a result that loses nothing was copied")
	}
}

func TestWhatIsTooLargeFails(t *testing.T) {
	r := Reporter{Play: &plan.Play{}}
	res := decode(t, `{"changed": true, "rc": 0, "_ansible_no_log": false}`)
	if r.Fit(res, true) != res {
		t.Error("a result that can be sent was changed")
	}
	res.Set("stdout", value.UnsafeStr(strings.Repeat("x", wire.MaxEvent)))
	if short := r.Fit(res, true); short.Failed() || r.sent(short, true) > wire.MaxEvent || !short.Has("warnings") {
		t.Errorf("output was not cut: %d bytes", r.sent(short, true))
	}
	res.Set("content", value.UnsafeStr(strings.Repeat("x", wire.MaxEvent)))
	big := r.Fit(res, true)
	if !big.Failed() || !big.Changed() || big.NoLog != result.No || !strings.Contains(big.Message(), "cannot be sent to the controller") {
		t.Errorf("the result is %s", value.Printed(big.Dict))
	}
}
