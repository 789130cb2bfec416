package result_test

import (
	"testing"

	"hark/modules/py/value"
	"hark/modules/result"
)

func decode(t *testing.T, text string) *result.Result {
	t.Helper()
	v, err := value.Decode([]byte(text), value.KindUnsafe)
	if err != nil {
		t.Fatal(err)
	}
	return result.Of(v.(*value.Dict))
}

func TestStatusIsAsAnsibleCounts(t *testing.T) {
	for text, want := range map[string]result.Status{
		`{}`:                                                                    result.OK,
		`{"changed": true}`:                                                     result.Changed,
		`{"failed": true, "changed": true}`:                                     result.Failed,
		`{"failed": true, "unreachable": true}`:                                 result.Failed,
		`{"unreachable": true, "skipped": true}`:                                result.Unreachable,
		`{"skipped": true, "changed": true}`:                                    result.Skipped,
		`{"failed": true, "failed_when_result": false}`:                         result.OK,
		`{"results": [], "skipped": true}`:                                      result.Skipped,
		`{"results": [{"skipped": true}, {"skipped": true}]}`:                   result.Skipped,
		`{"results": [{"skipped": true}, {}], "skipped": false}`:                result.OK,
		`{"results": [{"changed": true}]}`:                                      result.Changed,
		`{"results": [{"failed": true}]}`:                                       result.Failed,
		`{"results": [{"failed_when_result": false}, {"failed": true}]}`:        result.OK,
		`{"results": [{"failed_when_result": true}], "failed": false}`:          result.Failed,
		`{"results": [{"failed": true}], "failed": false}`:                      result.OK,
		`{"results": ["installed"], "changed": true}`:                           result.Changed,
		`{"results": [{"unreachable": true}, {"skipped": true}], "changed": 1}`: result.Unreachable,
	} {
		if got := decode(t, text).Status(); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestCleanDropsInternalKeysEverywhereAndTheOuterInvocation(t *testing.T) {
	res := decode(t, `{"_ansible_a": 1, "invocation": 1, "results": [{"_ansible_b": 1, "invocation": 2, "c": `+
		`{"_ansible_d": 1}}]}`)
	if got, want := string(value.PlainJSON(res.Clean())), `{"results":[{"invocation":2,"c":{}}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if res.Len() != 3 {
		t.Error("the result itself was changed")
	}
}

// all is a result with every mark, each with a value of its own.
const all = `{"rc":0,"_ansible_no_log":false,"_ansible_verbose_always":true,"_ansible_verbose_override":true,` +
	`"_ansible_item_label":"a",` +
	`"_ansible_item_result":true,"_ansible_ignore_errors":false,"_ansible_retry":true,"_ansible_notify":["restart"],` +
	`"_ansible_facts_cacheable":true,` +
	`"_ansible_delegated_vars":{"ansible_host":"h"},"_ansible_events":[{"msg":"m"}],"_ansible_failed_by":"Module",` +
	`"_ansible_notices":[]}`

func TestMarksAreFields(t *testing.T) {
	res := decode(t, all)
	if res.Len() != 1 {
		t.Errorf("the mapping keeps marks: %s", value.Printed(res.Dict))
	}
	if res.NoLog != result.No || !res.Verbose.On() || !res.Quiet.On() || !res.OfItem.On() || res.Ignored != result.No ||
		!res.Retried.On() || !res.Cacheable.On() {
		t.Errorf("the flags are %+v", res.Marks)
	}
	if res.Notify[0] != "restart" || res.Label == nil || res.Delegated.Text("ansible_host") != "h" ||
		len(res.Events.Items) != 1 || res.FailedBy != "Module" || res.Notices == nil {
		t.Errorf("the marks are %+v", res.Marks)
	}
	if got := string(value.PlainJSON(res.Whole())); got != all {
		t.Errorf("written they are %s", got)
	}
	if res.Size() < len(all) {
		t.Errorf("%d bytes are reckoned, %d are written", res.Size(), len(all))
	}
	if got, want := string(value.PlainJSON(decode(t, `{"_ansible_no_log":"yes","_ansible_x":1}`).Whole())),
		`{"_ansible_x":1,"_ansible_no_log":true}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestItemsKeepTheirMarks(t *testing.T) {
	item := decode(t, `{"a":1,"_ansible_item_label":"x"}`)
	sum := result.Sum([]*result.Result{item})
	item.Set("b", value.Int(2))
	if got, want := string(value.PlainJSON(sum.Whole())),
		`{"results":[{"a":1,"b":2,"_ansible_item_label":"x"}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := string(value.PlainJSON(sum.Clean())), `{"results":[{"a":1,"b":2}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCensoredShowsWhatAnsibleShows(t *testing.T) {
	res := decode(t, `{"stdout": "secret", "attempts": 2, "changed": true, "retries": 3, "_ansible_item_label": `+
		`"secret", "_ansible_delegated_vars": {}}`)
	want := `{"censored":"` + result.Hidden + `","attempts":2,"changed":true,"retries":3,"_ansible_delegated_vars":{}}`
	if got := string(value.PlainJSON(res.Censored().Whole())); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestShownKeepsTheMarksThatAnsibleShows(t *testing.T) {
	res := result.Decode([]byte(`{"_ansible_no_log":false,"_ansible_retry":true,"_ansible_x":1,` +
		`"results":[{"_ansible_no_log":false,"_ansible_retry":true}]}`))
	if got, want := string(value.PlainJSON(res.Shown())),
		`{"results":[{"_ansible_no_log":false}],"_ansible_no_log":false}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhatIsNoMappingSaysNothing(t *testing.T) {
	for _, text := range []string{``, `[]`, `"x"`, `{`} {
		if res := result.Decode([]byte(text)); res.Len() != 0 || res.Status() != result.OK || res.Message() != "" ||
			res.Job() != "" {
			t.Errorf("%q says %s", text, value.Printed(res.Dict))
		}
	}
}

func TestRawTellsWithoutDecoding(t *testing.T) {
	for text, want := range map[string][4]bool{
		`{}`:                                  {},
		`{"_ansible_no_log":false,"msg":"x"}`: {false, false, false, true},
		`{"_ansible_no_log":false,"results":[{"_ansible_no_log": true}]}`:           {true, false, false, false},
		`{"_ansible_no_log":"no","_ansible_verbose_always":true}`:                   {true, true, false, false},
		`{"_ansible_verbose_always":false,"_ansible_item_label":"a","x":"\"msg\""}`: {false, false, true, false},
	} {
		raw := result.Raw(text)
		if got := [4]bool{raw.MayHide(), raw.Verbose(), raw.Labelled(), raw.Has("msg")}; got != want {
			t.Errorf("%s tells %v, want %v", text, got, want)
		}
	}
}
