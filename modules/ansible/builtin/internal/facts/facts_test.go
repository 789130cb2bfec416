package facts

import (
	"slices"
	"testing"
	"time"
)

func TestGatherSubset(t *testing.T) {
	for _, c := range []struct {
		subset  []string
		has, no string
	}{
		{nil, "network", ""},
		{[]string{"all"}, "hardware", ""},
		{[]string{"!all"}, "platform", "network"},
		{[]string{"!all", "network"}, "network", "hardware"},
		{[]string{"!all", "!min"}, "", "platform"},
		{[]string{"!all", "!min", "service_mgr"}, "distribution", "env"},
		{[]string{"!hardware"}, "platform", "network"}, // as in Ansible: nothing was asked for but the minimum
		{[]string{"!network", "default_ipv4"}, "network", ""},
		{[]string{"!mounts"}, "", "hardware"},
	} {
		names, unknown := chosen(c.subset)
		if unknown != "" {
			t.Fatalf("%q is unknown", unknown)
		}
		if c.has != "" && !names[c.has] || names[c.no] {
			t.Errorf("gather_subset %v chose %v", c.subset, names)
		}
	}
}

func TestWeekNumberCountsFromTheFirstMonday(t *testing.T) {
	for day, want := range map[string]string{"2026-01-01": "00", "2026-01-05": "01", "2026-11-21": "46",
		"2024-12-31": "53", "2023-01-01": "00"} {
		at, err := time.Parse("2006-01-02", day)
		if err != nil {
			t.Fatal(err)
		}
		if got := weekNumber(at); got != want {
			t.Errorf("week of %s is %s, want %s", day, got, want)
		}
	}
}

func TestCommandLineKeepsEveryValue(t *testing.T) {
	got := splitWords(`quiet root=/dev/vda1 name="two words" a b=c`)
	want := []string{"quiet", "root=/dev/vda1", `name="two words"`, "a", "b=c"}
	if !slices.Equal(got, want) {
		t.Errorf("split into %q", got)
	}
}
