package answer

import (
	"path/filepath"
	"testing"

	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

func TestFetchReachesOnlyWhereItsDestLeads(t *testing.T) {
	under := func(p string) string {
		if filepath.IsAbs(p) {
			return filepath.Clean(p)
		}
		return filepath.Join("/books", p)
	}
	for _, tt := range []struct {
		dest, flat, to string
		ok             bool
	}{
		{"got/", "", "/books/got/web1/etc/x", true},
		{"got/", "", "/books/gotten/web1/etc/x", false},
		{"got/", "", "/root/.ssh/authorized_keys", false},
		{"got/", "", "/books/got/../x", false},
		{"{{ out }}/", "", "/tmp/o/web1/etc/x", true},
		{"{{ out }}/", "", "/root/.ssh/authorized_keys", false},
		{"{{ out }}/logs/", "", "/tmp/o/logs/web1/etc/x", true},
		{"{{ out }}/logs/", "", "/tmp/o/web1/etc/x", false},
		{"/srv/{{ x }}/", "", "/srv/a/web1/y", true},
		{"/srv/{{ x }}/", "", "/etc/cron.d/web1/y", false},
		{"{{ playbook_dir }}/../out/{{ inventory_hostname }}.txt", "yes", "/out/web1.txt", true},
		{"{{ playbook_dir }}/../out/{{ inventory_hostname }}.txt", "yes", "/root/.bashrc", false},
		{"{{ dir }}/report.txt", "yes", "/tmp/report.txt", true},
		{"{{ dir }}/report.txt", "yes", "/root/.ssh/authorized_keys", false},
	} {
		args := value.NewDict()
		args.Set("dest", value.YAMLStr(tt.dest))
		if tt.flat != "" {
			args.Set("flat", value.YAMLStr(tt.flat))
		}
		step := &plan.Step{Args: plan.Dict{Dict: args}}
		if got := mayWrite(step, under, "web1", under(tt.to)); got != tt.ok {
			t.Errorf("dest %s, to %s: %t", tt.dest, tt.to, got)
		}
	}
}
