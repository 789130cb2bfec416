package login

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hark/modules"
	"hark/modules/nss"
)

// TestLimitsArePAMs: what wins, and what counts in which unit, is as in pam_limits.
func TestLimitsArePAMs(t *testing.T) {
	const keep = modules.InheritedLimit
	one := &nss.User{Name: "one", UID: 4711, GID: 1, Home: "/", Shell: "/bin/sh"}
	for name, c := range map[string]struct {
		conf, drop string
		want       []modules.Limit
	}{
		"nothing":  {conf: "# * soft nofile 1\n"},
		"one side": {conf: "one soft nofile 777\n", want: []modules.Limit{{Resource: 7, Soft: 777, Hard: keep}}},
		"both":     {conf: "one - nofile 777 # files\n", want: []modules.Limit{{Resource: 7, Soft: 777, Hard: 777}}},
		"others":   {conf: "two - nofile 777\n@nosuchgroup - nofile 5\n5000: - nofile 7\n"},
		"the name wins": {conf: "one - nofile 777\n* - nofile 5\n", drop: "4000:5000 hard nofile 800\n* - nofile 6\n",
			want: []modules.Limit{{Resource: 7, Soft: 777, Hard: 800}}},
		"the later wins": {conf: "* - nproc 5\n", drop: "* - nproc unlimited\n",
			want: []modules.Limit{{Resource: 6, Soft: infinity, Hard: infinity}}},
		"a group": {conf: "@1:1 - memlock 64\n* - memlock 1\n", want: []modules.Limit{{Resource: 8, Soft: 65536, Hard: 65536}}},
		"units": {conf: "one - cpu 2\none - nice -5\none - rtprio 3\none - maxlogins 1\none - nofile many\n", want: []modules.Limit{
			{Resource: 0, Soft: 120, Hard: 120}, {Resource: 13, Soft: 25, Hard: 25}, {Resource: 14, Soft: 3, Hard: 3}}},
		"none at all": {conf: "one - nofile 777\n", drop: "one -\n"},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "limits.d"), 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"limits.conf": c.conf, "limits.d/50.conf": c.drop, "limits.d/51.txt": "one - nofile 1\n"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Limits(dir, one)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}
