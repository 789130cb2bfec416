package deprecation

import "testing"

// The sentences are those of ansible-core 2.14.18 (Display.get_deprecation_message), and of 2.19 for the tagged
// language.
func TestNoticesAreWordedAsAnsibleDoes(t *testing.T) {
	const off = " Deprecation warnings can be disabled by setting deprecation_warnings=False in ansible.cfg."
	for _, c := range []struct{ got, want string }{
		{Notice{Text: "x is used"}.Warning(),
			"[DEPRECATION WARNING]: x is used. This feature will be removed in a future release." + off},
		{Notice{Text: "x is used!", Version: "2.16", Collection: "ansible.builtin"}.Warning(),
			"[DEPRECATION WARNING]: x is used! This feature will be removed from ansible-core in version 2.16." + off},
		{Notice{Text: " x is used ", Date: "2025-01-02", Collection: "community.general"}.Warning(),
			"[DEPRECATION WARNING]: x is used. This feature will be removed from community.general in a release after " +
				"2025-01-02." + off},
		{Notice{Version: "2.1"}.Warning(), "[DEPRECATION WARNING]:  This feature will be removed in version 2.1." + off},
		{Notice{Text: "x is used", Version: "3.0.0", Collection: "a.b"}.Removal(),
			"[DEPRECATED]: x is used. This feature was removed from a.b in version 3.0.0. Please update your playbooks."},
		{Notice{Text: "x is used"}.Removal(),
			"[DEPRECATED]: x is used. This feature was removed in a future release. Please update your playbooks."},
		{Notice{Text: "x is used"}.Tagged(), "x is used. This feature will be removed in the future."},
		{Notice{Text: "x is used?", Version: "2.23", Collection: "ansible.builtin"}.Tagged(),
			"x is used? This feature will be removed from ansible-core version 2.23."},
		{Notice{Text: "x is used", Collection: "a.b", Origin: "Origin: site.yml:3:5", Help: "Use y."}.Tagged(),
			"x is used. This feature will be removed from collection 'a.b' in a future release.\nOrigin: site.yml:3:5\n\nUse " +
				"y."},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}
