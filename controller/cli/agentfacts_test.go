package cli

import (
	"testing"
	"time"

	"hark/controller/internal/play"
	"hark/modules/py/value"
)

func dictOf(pairs ...string) *value.Dict {
	d := value.NewDict()
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i], value.UnsafeStr(pairs[i+1]))
	}
	return d
}

// TestFactsOnRecordOutliveARunThatGathersLess, such as a ping, which only finds Python.
func TestFactsOnRecordOutliveARunThatGathersLess(t *testing.T) {
	record := &play.JSONFiles{Dir: t.TempDir(), Loose: true, Now: time.Now}
	r := &recording{record: record}
	full := func(pairs ...string) *value.Dict {
		d := dictOf(pairs...)
		d.Set("gather_subset", value.NewList(value.UnsafeStr("all")))
		return d
	}
	for _, step := range []struct {
		store *value.Dict
		want  map[string]string
	}{
		{dictOf("python", "3.11"), map[string]string{"python": "3.11"}},
		{full("distribution", "Debian", "eth1", "up"), map[string]string{"distribution": "Debian", "eth1": "up", "python": ""}},
		{dictOf("python", "3.12"), map[string]string{"distribution": "Debian", "eth1": "up", "python": "3.12"}},
		{nil, map[string]string{"distribution": "Debian", "python": "3.12"}},
		{full("distribution", "Fedora"), map[string]string{"distribution": "Fedora", "eth1": "", "python": ""}},
	} {
		if err := r.Store("h1", step.store); err != nil {
			t.Fatal(err)
		}
		had, _ := record.Load("h1")
		for k, want := range step.want {
			v, _ := had.Get(k)
			if got, _ := value.Text(value.OrNone(v)); got != want {
				t.Errorf("after %v: %s is %q, want %q", step.store, k, got, want)
			}
		}
	}
}
