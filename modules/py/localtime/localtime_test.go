package localtime

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// noon is the hour of a zone at noon of UTC.
func noon(zone *time.Location) int {
	return time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC).In(zone).Hour()
}

// TestAZoneThatChangesIsTheNewOne, however it does: by another link, by a file in its place, by one that is written
// over.
func TestAZoneThatChangesIsTheNewOne(t *testing.T) {
	const zones = "/usr/share/zoneinfo/"
	tokyo, err := os.ReadFile(zones + "Asia/Tokyo")
	if err != nil {
		t.Skip("no zones here: ", err)
	}
	f := file{path: filepath.Join(t.TempDir(), "localtime")}
	for i, step := range []struct {
		do   func() error
		want int
	}{
		{func() error { return nil }, 12},
		{func() error { return os.Symlink(zones+"Asia/Tokyo", f.path) }, 21},
		{func() error { return os.Remove(f.path) }, 12},
		{func() error { return os.Symlink(zones+"America/New_York", f.path) }, 7},
		{func() error {
			if err := os.WriteFile(f.path+".new", tokyo, 0o644); err != nil {
				return err
			}
			return os.Rename(f.path+".new", f.path)
		}, 21},
		{func() error { return os.WriteFile(f.path, []byte("no zone"), 0o644) }, 12},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := noon(f.zone().location); got != step.want {
				t.Errorf("step %d: %d o'clock, want %d", i, got, step.want)
			}
		}
	}
}

func TestTZSaysWhichZone(t *testing.T) {
	if _, err := os.Stat("/usr/share/zoneinfo/Asia/Tokyo"); err != nil {
		t.Skip("no zones here: ", err)
	}
	for name, want := range map[string]int{"Asia/Tokyo": 21, ":Asia/Tokyo": 21, ":/usr/share/zoneinfo/America/New_York": 7, "": 12, "Nowhere/City": 12} {
		t.Setenv("TZ", name)
		if got := noon(Zone()); got != want {
			t.Errorf("TZ=%s: %d o'clock, want %d", name, got, want)
		}
	}
	if Now().Sub(time.Now()).Abs() > time.Minute || In(time.Unix(0, 0)).Unix() != 0 {
		t.Error("another instant")
	}
}

// TestARuleIsAZone: TZ may be a rule as POSIX has it, and a zone is the same from its data, wherever that is read.
func TestARuleIsAZone(t *testing.T) {
	for name, want := range map[string]int{"UTC-3": 15, "<+0530>-5:30": 17, "XST5XDT4,M3.2.0,M11.1.0": 7, "UTC0": 12, "": 12, "no rule at all": 12} {
		t.Setenv("TZ", name)
		if got := noon(Zone()); got != want {
			t.Errorf("TZ=%s: %d o'clock, want %d", name, got, want)
		}
		zone, err := Of(Data())
		if err != nil || noon(zone) != want {
			t.Errorf("TZ=%s: the data is of another zone: %v", name, err)
		}
	}
	summer := time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC)
	t.Setenv("TZ", "XST5XDT4,M3.2.0,M11.1.0")
	if name, _ := summer.In(Zone()).Zone(); name != "XDT" {
		t.Errorf("in summer it is %s", name)
	}
}
