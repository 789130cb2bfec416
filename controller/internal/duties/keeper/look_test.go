package keeper

import (
	"context"
	"errors"
	"testing"
	"time"

	"hark/agent/wire"
)

func TestATurnBeginsWhereNobodyIs(t *testing.T) {
	hold := &wire.Hold{Until: time.Now().Add(time.Hour), Why: "disk swap"}
	for name, x := range map[string]struct {
		hello wire.Hello
		err   error
		push  bool
		want  TurnStatus // "" begins
	}{
		"nothing goes on":          {},
		"somebody's run":           {hello: wire.Hello{Runs: []string{"r1"}}, want: Busy},
		"an orphan":                {hello: wire.Hello{Runs: []string{"r1"}, Orphans: []string{"r1"}}},
		"an orphan and a run":      {hello: wire.Hello{Runs: []string{"r1", "r2"}, Orphans: []string{"r1"}}, want: Busy},
		"a run for too long":       {hello: wire.Hello{Runs: []string{"r1"}}, push: true},
		"a hold":                   {hello: wire.Hello{Hold: hold}, push: true, want: OnHold},
		"no agent":                 {err: wire.ErrNoResponder, want: Away},
		"an agent that is silent":  {err: context.DeadlineExceeded, want: Away},
		"no broker":                {err: wire.ErrAway, want: Busy},
		"an agent that refuses it": {err: errors.New("not trusted"), want: Broke},
	} {
		j := Job{Push: x.push}
		if o, begins := j.Look(x.hello, x.err); o.Status != x.want || begins != (x.want == "") {
			t.Errorf("%s: %+v, %v", name, o, begins)
		}
	}
}
