package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
)

func answerOf(host, action string, status wire.Status, res map[string]any) Result {
	raw, _ := json.Marshal(res)
	return Result{Task: Task{Action: action}, Host: host, Outcome: &wire.Outcome{Status: status, Result: raw}}
}

func TestTallyCountsEveryExpectedHostOnce(t *testing.T) {
	var out bytes.Buffer
	var hosts []string
	for i := range 8 {
		hosts = append(hosts, fmt.Sprintf("web%d", i+1))
	}
	called := 0
	d, err := NewDisplay(DisplayOptions{Out: &out, Err: &out})
	if err != nil {
		t.Fatal(err)
	}
	v := NewTally(Options{Display: d, Now: time.Now}, TallyOptions{
		Expected: hosts, Enough: 6, Left: "given up",
		Prelude: func(t Task) bool { return t.Action == "setup" },
	})
	v.OnEnough(func() { called++ })
	same := map[string]any{"changed": true, "rc": 0, "stdout": "6.1\n"}
	v.Done(answerOf("web1", "setup", wire.OK, map[string]any{"changed": false}))
	for _, h := range []string{"web3", "web1", "web2"} {
		v.Done(answerOf(h, "command", wire.Changed, same))
	}
	v.Done(answerOf("web4", "command", wire.StatusFailed, map[string]any{"changed": true, "rc": 1, "stderr": "no\n", "failed": true, "msg": "non-zero return code"}))
	v.Done(answerOf("web6", "setup", wire.StatusUnreachable, map[string]any{"changed": false, "unreachable": true, "msg": "its agent has gone away"}))
	if v.Enough() || called > 0 {
		t.Error("five are enough")
	}
	v.Done(answerOf("web5", "command", wire.Changed, same))
	if !v.Enough() || called != 1 {
		t.Errorf("six are not enough, or it was told %d times", called)
	}
	v.Done(answerOf("web7", "command", wire.StatusFailed, map[string]any{"failed": true, "msg": "the run was cancelled"}))
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	want := `4 hosts | CHANGED | rc=0 >>
6.1
    web[1:3] web5

1 host | FAILED | rc=1 >>
no
non-zero return code
    web4

1 host | UNREACHABLE => its agent has gone away
    web6

2 hosts | GIVEN UP
    web7 web8

8 hosts expected: 4 changed + 1 failed + 1 unreachable + 2 given up = 8
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if v.Failed() != 1 || v.Unreachable() != 1 {
		t.Errorf("%d failed, %d unreachable", v.Failed(), v.Unreachable())
	}
}

func TestHostsAreFoldedAsInventoriesWriteThem(t *testing.T) {
	for in, want := range map[string]string{
		"a b":           "a b",
		"a1 a2":         "a1 a2",
		"a1 a2 a3":      "a[1:3]",
		"a9 a10 a11 b1": "a[9:11] b1",
		"a08 a09 a10":   "a08 a09 a10",
		"1 2 3":         "[1:3]",
	} {
		if got := Fold(strings.Fields(in)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s is %q, want %s", in, got, want)
		}
	}
}
