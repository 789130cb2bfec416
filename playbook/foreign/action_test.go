package foreign

import (
	"strings"
	"testing"
)

// TestActionPluginsAreFound in the project's own directories and in collections, where modules may name another
// plug-in than their own.
func TestActionPluginsAreFound(t *testing.T) {
	root, c := disk(t, "testdata/actions.txtar")
	f := NewFinder(nil, nil, c)
	f.Configure("action", []string{root + "/site"})
	f.Add(root + "/project")
	f.Add(root + "/project/roles/web")
	own := func(name string, _ []string) (Action, bool) { return f.OwnAction(name) }
	of := func(name string, _ []string) (Action, bool) { return f.ActionOf(name) }
	for _, tc := range []struct {
		find             func(string, []string) (Action, bool)
		name, full, path string
	}{
		{own, "copy", "copy", "project/action_plugins/copy.py"},
		{own, "ansible.legacy.copy", "copy", "project/action_plugins/copy.py"},
		{own, "ansible.builtin.copy", "", ""},
		{own, "of_role", "of_role", "project/roles/web/action_plugins/of_role.py"},
		{own, "of_site", "of_site", "site/of_site.py"},
		{own, "bend", "", ""},
		{of, "acme.tools.bend", "acme.tools.bend", "ansible_collections/acme/tools/plugins/action/bend.py"},
		{of, "acme.tools.old_bend", "acme.tools.old_bend", "ansible_collections/acme/tools/plugins/action/bend.py"},
		{of, "acme.tools.press", "acme.tools.bend", "ansible_collections/acme/tools/plugins/action/bend.py"},
		{of, "acme.tools.circle", "", ""},
		{of, "acme.tools.saw", "", ""},
		{of, "acme.missing.bend", "", ""},
		{of, "acme.tools.ios_vlans", "acme.tools.ios", "ansible_collections/acme/tools/plugins/action/ios.py"},
		{of, "acme.tools.ios_other", "", ""},
		{of, "acme.tools.bend_vlans", "", ""},
		{f.ActionIn, "acme.tools.bend", "acme.tools.bend", "ansible_collections/acme/tools/plugins/action/bend.py"},
		{f.ActionIn, "bend", "acme.tools.bend", "ansible_collections/acme/tools/plugins/action/bend.py"},
		{f.ActionIn, "tools.bend", "", ""},
	} {
		a, ok := tc.find(tc.name, []string{"acme.missing", "acme.tools"})
		if path := strings.TrimPrefix(a.Path, root+"/"); ok != (tc.full != "") || a.Name != tc.full || path != tc.path {
			t.Errorf("%s: %q in %q, %v", tc.name, a.Name, path, ok)
		}
	}
}
