package factcache

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"hark/modules/py/value"
)

func TestJSONFilesAreAnsibles(t *testing.T) {
	now := time.Now()
	c := &JSONFiles{Dir: filepath.Join(t.TempDir(), "sub"), Prefix: "p_", Timeout: time.Hour,
		Now: func() time.Time { return now }}
	facts := value.NewDict()
	facts.Set("ansible_os", value.UnsafeStr("Debi\u00e4n"))
	facts.Set("ansible_cpus", value.NewList(value.Int(2), value.Bool(true)))
	if err := c.Store("web1", facts); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(filepath.Join(c.Dir, "p_web1"))
	want := "{\n    \"ansible_cpus\": [\n        2,\n        true\n    ],\n    \"ansible_os\": \"Debi\\u00e4n\"\n}"
	if string(raw) != want {
		t.Errorf("the file holds\n%s\nwant\n%s", raw, want)
	}
	got, ok := c.Load("web1")
	if v, _ := got.Get("ansible_os"); !ok || v != value.UnsafeStr("Debi\u00e4n") {
		t.Errorf("loaded %v, %v", v, ok)
	}
	now = now.Add(2 * time.Hour)
	if _, ok := c.Load("web1"); ok {
		t.Error("facts were loaded that are too old")
	}
	if _, ok := c.Load("web2"); ok {
		t.Error("facts of a host were loaded that has none")
	}
	if err := c.Forget("web1"); err != nil {
		t.Error(err)
	}
	if err := c.Forget("web1"); err != nil {
		t.Errorf("forgetting twice: %v", err)
	}
}

func TestNoHostsFactsLieElsewhere(t *testing.T) {
	c := &JSONFiles{Dir: filepath.Join(t.TempDir(), "facts"), Now: time.Now}
	outside := filepath.Join(filepath.Dir(c.Dir), "outside")
	if err := os.WriteFile(outside, []byte(`{"a": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"../outside", outside, "..", ".", "", "a/b"} {
		if _, ok := c.Load(host); ok {
			t.Errorf("%q has facts", host)
		}
		if err := c.Store(host, nil); err == nil {
			t.Errorf("the facts of %q are kept", host)
		}
		if err := c.Forget(host); err != nil {
			t.Errorf("the facts of %q: %v", host, err)
		}
	}
	if raw, err := os.ReadFile(outside); err != nil || string(raw) != `{"a": 1}` {
		t.Errorf("the file outside holds %s (%v)", raw, err)
	}
}
