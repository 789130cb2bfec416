//go:build fleet

package fleet

import (
	"strings"
	"testing"
)

// TestRebootInThePlay: the module reboot takes a host down and up in the middle of a play, and the play goes on where
// it was.
func TestRebootInThePlay(t *testing.T) {
	tr := trace{hosts: fleetOf(t, 4), name: "reboot", stand: "      reboot: {reboot_timeout: 120}\n      when: inventory_hostname != 'h1'\n"}
	boots := func() []string {
		var all []string
		for _, m := range tr.hosts {
			all = append(all, m.sh(t, "cat /proc/1/stat | cut -d' ' -f22"))
		}
		return all
	}
	before := boots()
	got := tr.begin(t).wait(t)
	if got.code != 0 {
		t.Errorf("exit code %d", got.code)
	}
	counts := recap(got.out)
	for i, m := range tr.hosts {
		want := "ok=6 changed=6 unreachable=0 failed=0 skipped=0 rescued=0 ignored=0"
		if m == "h1" {
			want = "ok=5 changed=5 unreachable=0 failed=0 skipped=1 rescued=0 ignored=0"
		}
		if counts[string(m)] != want {
			t.Errorf("recap of %s: %s, want %s", m, counts[string(m)], want)
		}
		if lines := strings.Join(tr.lines(t, m), " "); lines != "one two four five six" {
			t.Errorf("%s did %s", m, lines)
		}
		if again := boots()[i] != before[i]; again != (m != "h1") {
			t.Errorf("%s was rebooted: %v", m, again)
		}
	}
	present(t, tr.hosts...)
}
