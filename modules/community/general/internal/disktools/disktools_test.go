package disktools

import (
	"errors"
	"slices"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
	"hark/modules/py/value"
)

func TestProgramsSpeakTheLanguageThatModulesRead(t *testing.T) {
	h := &modtest.Host{Act: func(c modules.Command) modules.Output {
		rc := 0
		if c.Argv[1] == "bad" {
			rc = 5
		}
		return modules.Output{Rc: rc, Stdout: []byte(c.Env[0]), Stderr: []byte("why")}
	}}
	host := Host(t.Context(), h.Env(t, "test-lvs"))
	if out, err := host.Must("test-lvs", "good"); err != nil || out.Stdout != "LANG=C" {
		t.Errorf("%+v, %v", out, err)
	}
	out, err := host.Run("test-lvs", "bad")
	if err != nil || out.Rc != 5 {
		t.Errorf("the exit code is the caller's to judge: %+v, %v", out, err)
	}
	if _, err := host.Must("test-lvs", "bad"); err == nil {
		t.Error("a program that failed passes")
	}
	if _, err := host.Run("test-none"); err == nil || len(h.Told) != 3 {
		t.Errorf("a program that is not there: %v, %q", err, h.Told)
	}
	var failed *modules.Ended
	if err := Failed(out, "cannot %s", "do it"); !errors.As(err, &failed) || failed.Result.Msg != "cannot do it" || value.PrintedRepr(failed.Result.Data) != "{'rc': 5, 'err': 'why'}" {
		t.Errorf("%v", err)
	}
}

func TestReportsAreRowsOfFields(t *testing.T) {
	got := Rows("  vg0;lv1;1.00\n  vg0;;\n")
	if len(got) != 2 || !slices.Equal(got[0], []string{"vg0", "lv1", "1.00"}) || !slices.Equal(got[1], []string{"vg0", "", ""}) || Rows("") != nil {
		t.Errorf("%q", got)
	}
}
