package factcache

import (
	"testing"
	"time"

	"hark/modules/py/value"
)

func dictOf(pairs ...string) *value.Dict {
	d := value.NewDict()
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i], value.UnsafeStr(pairs[i+1]))
	}
	return d
}

// wholeOf are all facts of a host.
func wholeOf(pairs ...string) *value.Dict {
	d := dictOf(pairs...)
	d.Set("gather_subset", value.NewList(value.UnsafeStr("all")))
	return d
}

func textOf(d *value.Dict, name string) string {
	v, _ := d.Get(name)
	text, _ := value.Text(value.OrNone(v))
	return text
}

// TestFactsOnRecordOutliveARunThatGathersLess, such as a ping, which only finds Python and makes the others no younger.
func TestFactsOnRecordOutliveARunThatGathersLess(t *testing.T) {
	b, start := In(t.TempDir()), time.Now().Add(-24*time.Hour).Truncate(time.Second)
	for i, step := range []struct {
		store *value.Dict
		want  map[string]string
		news  bool
		age   int // the step in which they were gathered
	}{
		{dictOf("python", "3.11"), map[string]string{"python": "3.11"}, true, 0},
		{wholeOf("distribution", "Debian", "eth1", "up"), map[string]string{"distribution": "Debian", "eth1": "up",
			"python": ""}, true, 1},
		{dictOf("python", "3.12"), map[string]string{"distribution": "Debian", "eth1": "up", "python": "3.12"}, true, 1},
		{dictOf("python", "3.12"), map[string]string{"distribution": "Debian", "python": "3.12"}, false, 1},
		{nil, map[string]string{"distribution": "Debian", "python": "3.12"}, false, 1},
		{wholeOf("distribution", "Fedora"), map[string]string{"distribution": "Fedora", "eth1": "", "python": ""}, true, 5},
	} {
		news, err := b.Merge("h1", step.store, start.Add(time.Duration(i)*time.Hour))
		if err != nil || news != step.news {
			t.Fatalf("step %d: news %v, %v", i, news, err)
		}
		had, at, _ := b.Load("h1")
		for k, want := range step.want {
			if got := textOf(had, k); got != want {
				t.Errorf("step %d: %s is %q, want %q", i, k, got, want)
			}
		}
		if want := start.Add(time.Duration(step.age) * time.Hour); !at.Equal(want) {
			t.Errorf("step %d: gathered at %v, want %v", i, at, want)
		}
	}
	if news, _ := b.Merge("h1", wholeOf("distribution", "Debian"), start); news {
		t.Error("facts that are older than those on record count")
	}
}
