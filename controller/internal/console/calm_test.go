package console

import (
	"testing"

	"hark/controller/internal/duties/dutystate"
)

// A duty is green where every host is as it should be, and not where none had a turn yet, one is away, or there is
// none.
func TestADutyIsGreenOnlyWhereEveryHostIsKept(t *testing.T) {
	type kinds = map[dutystate.Kind]int
	for _, x := range []struct {
		n     kinds
		hosts int
		want  string
	}{
		{kinds{dutystate.Never: 4}, 4, "never"}, {kinds{dutystate.Kept: 3, dutystate.Never: 1}, 4, "never"},
		{kinds{dutystate.Kept: 3}, 4, "never"}, {nil, 0, "no hosts"},
		{kinds{dutystate.Kept: 3, dutystate.Absent: 1}, 4, "absent"}, {kinds{dutystate.Held: 2}, 2, "held"},
		{kinds{dutystate.Held: 1, dutystate.Kept: 1}, 2, "kept"},
		{kinds{dutystate.Kept: 2, dutystate.Mended: 2}, 4, "kept"},
	} {
		if got := calmSign(x.n, x.hosts); got.Word != x.want || (got.Class == "ok") != (x.want == "kept") {
			t.Errorf("%v of %d is %+v, want %s", x.n, x.hosts, got, x.want)
		}
	}
}
