package foreign

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"golang.org/x/tools/txtar"
	"hark/playbook/deprecation"
)

// disk writes the files of an archive below a directory of the test's and gives its collections.
func disk(t *testing.T, file string) (root string, c Collections) {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	root = t.TempDir()
	for _, f := range a.Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, func(name string) (string, bool) {
		dir := filepath.Join(root, "ansible_collections", filepath.Join(strings.Split(name, ".")...))
		_, err := os.Stat(dir)
		return dir, err == nil
	}
}

func TestModulesAreFound(t *testing.T) {
	root, c := disk(t, "testdata/disk.txtar")
	f := NewFinder([]string{root + "/site-library", root + "/nowhere"}, nil, c)
	f.Add(root + "/project")
	f.Add(root + "/project/roles/web")
	cases := []struct {
		name        string
		collections []string
		want, path  string
	}{
		{"acme.tools.hammer", nil, "acme.tools.hammer", "ansible_collections/acme/tools/plugins/modules/hammer.py"},
		{"hammer", []string{"acme.tools"}, "acme.tools.hammer", "ansible_collections/acme/tools/plugins/modules/hammer.py"},
		{"hammer", nil, "", ""},
		{"acme.tools.old_hammer", nil, "acme.tools.hammer", "ansible_collections/acme/tools/plugins/modules/hammer.py"},
		{"acme.tools.circle", nil, "", ""},
		{"acme.tools.shout", nil, "ansible.builtin.debug", ""},
		{"acme.tools.deep.saw", nil, "acme.tools.deep.saw", "ansible_collections/acme/tools/plugins/modules/deep/saw.py"},
		{"acme.missing.hammer", nil, "", ""},
		{"xattr", nil, "community.general.xattr", "ansible_collections/community/general/plugins/modules/xattr.py"},
		{"ansible.builtin.xattr", nil, "community.general.xattr",
			"ansible_collections/community/general/plugins/modules/xattr.py"},
		{"mine", nil, "mine", "project/library/mine.py"},
		{"ansible.legacy.mine", nil, "mine", "project/library/mine.py"},
		{"ansible.builtin.mine", nil, "", ""},
		{"of_role", nil, "of_role", "project/roles/web/library/of_role.sh"},
		{"of_site", nil, "of_site", "site-library/sub/of_site"},
		{"readme", nil, "", ""},
	}
	for _, x := range cases {
		m, ok := f.InLibrary(x.name)
		if !ok {
			m, ok = f.InCollections(x.name, x.collections)
		}
		if x.name == "acme.tools.circle" {
			if want := "plugin redirect loop resolving acme.tools.circle (path: ['acme.tools.circle'])"; m.Missing() != want {
				t.Errorf("a circle of names: %q", m.Missing())
			}
			ok = false
		}
		path := strings.TrimPrefix(m.Path, root+"/")
		if ok != (x.want != "") || m.Name != x.want || path != x.path {
			t.Errorf("%s %v: got %q at %q, want %q at %q", x.name, x.collections, m.Name, path, x.want, x.path)
		}
	}
}

// TestScriptsAreToldOfTheirAnsibleToo, and do without one.
func TestScriptsAreToldOfTheirAnsibleToo(t *testing.T) {
	root, c := disk(t, "testdata/disk.txtar")
	f := NewFinder(nil, nil, c)
	f.Add(root + "/project")
	m, ok := f.InLibrary("of_role")
	if !ok {
		t.Fatal("the module is not there")
	}
	for home, want := range map[string]Manifest{
		"/python": {Entry: "module", Version: "2.14.99", Internals: []string{"check_mode", "selinux_special_fs"}},
		"/none":   {Entry: "module"},
	} {
		raw, err := (&Packer{Homes: []string{root + home}, Collections: c}).Pack(m)
		if err != nil {
			t.Fatal(err)
		}
		_, manifest := unpack(t, raw)
		want.Style = manifest.Style
		if diff := cmp.Diff(want, manifest); diff != "" {
			t.Errorf("%s: %s", home, diff)
		}
	}
}

func TestPacksHoldWhatIsImported(t *testing.T) {
	root, c := disk(t, "testdata/disk.txtar")
	f := NewFinder(nil, nil, c)
	f.Add(root + "/project")
	m, ok := f.InCollections("acme.tools.hammer", nil)
	if !ok {
		t.Fatal("the module is not there")
	}
	p := &Packer{Homes: []string{root + "/none", root + "/python"}, Collections: c}
	raw, err := p.Pack(m)
	if err != nil {
		t.Fatal(err)
	}
	files, manifest := unpack(t, raw)
	if manifest.Base == "" {
		t.Error("the files that every module imports have no name")
	}
	manifest.Base = ""
	if diff := cmp.Diff(Manifest{Style: Python, Entry: "ansible_collections.acme.tools.plugins.modules.hammer",
		Version: "2.14.99", Internals: []string{"check_mode", "selinux_special_fs"}}, manifest); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"ansible/__init__.py", "ansible/module_utils/__init__.py", "ansible/module_utils/basic.py",
		"ansible/module_utils/common/__init__.py", "ansible/module_utils/common/parameters.py",
		"ansible/module_utils/common/text.py", "ansible/module_utils/six/__init__.py",
		"ansible/module_utils/urls.py", "ansible_collections/__init__.py", "ansible_collections/acme/__init__.py",
		"ansible_collections/acme/tools/__init__.py", "ansible_collections/acme/tools/plugins/__init__.py",
		"ansible_collections/acme/tools/plugins/module_utils/__init__.py",
		"ansible_collections/acme/tools/plugins/module_utils/nails.py",
		"ansible_collections/acme/tools/plugins/module_utils/sizes.py",
		"ansible_collections/acme/tools/plugins/modules/__init__.py",
		"ansible_collections/acme/tools/plugins/modules/hammer.py",
		"manifest.json",
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	again, err := (&Packer{Homes: p.Homes, Collections: c}).Pack(m)
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("a pack of the same files is another: %v", err)
	}
}

func TestPacksFollowRedirectsOfUtils(t *testing.T) {
	root, c := disk(t, "testdata/disk.txtar")
	var told []deprecation.Notice
	p := &Packer{Homes: []string{root + "/python"}, Collections: c,
		Deprecate: func(n deprecation.Notice) { told = append(told, n) }}
	m, _ := NewFinder(nil, nil, c).InCollections("acme.tools.mover", nil)
	raw, err := p.Pack(m)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := unpack(t, raw)
	for _, want := range []string{
		"ansible/module_utils/old_text/__init__.py", "ansible/module_utils/urls.py",
		"ansible_collections/acme/tools/plugins/module_utils/sizes.py",
		"ansible_collections/acme/tools/plugins/module_utils/old/__init__.py",
		"ansible_collections/acme/tools/plugins/module_utils/old/nails/__init__.py",
		"ansible_collections/acme/tools/plugins/module_utils/nails.py",
		"ansible_collections/acme/tools/plugins/module_utils/_scripts/run.sh",
		"ansible_collections/acme/tools/plugins/module_utils/_scripts/__init__.py",
		"ansible_collections/acme/tools/plugins/module_utils/bare/__init__.py",
		"ansible_collections/acme/tools/plugins/module_utils/bare/one.py",
	} {
		if !slices.Contains(files, want) {
			t.Errorf("no %s in %v", want, files)
		}
	}
	if slices.Contains(files, "ansible/module_utils/unused.py") {
		t.Error("what stands in a string is no import")
	}
	const going = "module_util ansible_collections.acme.tools.plugins.module_utils.old.nails has been removed (Use nails.)"
	if diff := cmp.Diff([]deprecation.Notice{{Text: going, Version: "3.0.0", Collection: "acme.tools"}},
		told); diff != "" {
		t.Error(diff)
	}
}

func TestPacksThatLackUtilsAreRefused(t *testing.T) {
	root, c := disk(t, "testdata/disk.txtar")
	p := &Packer{Homes: []string{root + "/python"}, Collections: c}
	for name, want := range map[string]string{
		"acme.tools.gluer": "[DEPRECATED]: module_util ansible_collections.acme.tools.plugins.module_utils.glue has been " +
			"removed. " +
			"This feature was removed from acme.tools in version 2.0.0. Please update your playbooks.",
		"acme.tools.loser": "Could not find imported module support code for " +
			"ansible_collections.acme.tools.plugins.modules.loser.  " +
			"Looked for (['ansible.module_utils.lost.found', 'ansible.module_utils.lost'])",
	} {
		m, _ := NewFinder(nil, nil, c).InCollections(name, nil)
		if _, err := p.Pack(m); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzImports(f *testing.F) {
	f.Add("import a.b as c, d; from .x import (y, # z\n w)\nif 1: import q\n")
	f.Add("\"\"\"\nimport a\n\"\"\"\nr'\\'\nb\"")
	f.Fuzz(func(t *testing.T, text string) {
		for _, im := range imports(text) {
			if im.name == "" || strings.ContainsAny(im.from+im.name, " \n") {
				t.Errorf("%q: %+v", text, im)
			}
		}
	})
}

func TestCollectionsSayWhichVersionsTheyAreFor(t *testing.T) {
	for wish, want := range map[string]bool{
		"": true, ">=2.9.10": true, ">=2.9.10,<2.14": false, "'>=2.15.0'": false, `"~=2.14.2"`: true, "~=2.13.0": false,
		"!=2.14.18":              false,
		"==2.14.18  # only that": true, ">2.14.17, <=2.14.18": true,
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "meta"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "meta", "runtime.yml"), []byte("---\nrequires_ansible: "+wish+"\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := Supports(dir, "2.14.18"); got != want || err != nil {
			t.Errorf("%q: %v, %v", wish, got, err)
		}
	}
	if ok, err := Supports(t.TempDir(), "2.14.18"); !ok || err != nil {
		t.Errorf("without metadata: %v, %v", ok, err)
	}
}

func TestNamesThatGoAndWentAreTold(t *testing.T) {
	_, c := disk(t, "testdata/disk.txtar")
	f := NewFinder(nil, nil, c)
	m, ok := f.InCollections("acme.tools.rusty", nil)
	want := []deprecation.Notice{{
		Text: "acme.tools.rusty has been deprecated. Take the hammer.", Date: "2030-01-02", Collection: "acme.tools",
	}}
	if diff := cmp.Diff(want, m.Deprecated); diff != "" || !ok || m.Name != "acme.tools.hammer" || m.Removed != nil {
		t.Errorf("%+v, %v\n%s", m, ok, diff)
	}
	for name, want := range map[string]string{
		"acme.tools.anvil": "[DEPRECATED]: acme.tools.anvil has been removed. Take the hammer. This feature was removed " +
			"from acme.tools " +
			"in version 2.0.0. Please update your playbooks.",
		"acme.tools.bellows": "[DEPRECATED]: acme.tools.bellows has been removed. This feature was removed from acme.tools " +
			"in a release after 2020-01-02. Please update your playbooks.",
	} {
		m, ok := f.InCollections(name, nil)
		if !ok || m.Removed == nil || m.Removed.Removal() != want {
			t.Errorf("%s: %+v, %v", name, m, ok)
		}
	}
}

func TestLibraryModulesTakeTheUtilsBesideThem(t *testing.T) {
	root, c := disk(t, "testdata/disk.txtar")
	f := NewFinder(nil, nil, c)
	f.Add(root + "/project")
	m, _ := f.InLibrary("mine")
	raw, err := (&Packer{Homes: []string{root + "/python"}, Collections: c}).Pack(m)
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := unpack(t, raw); !strings.Contains(strings.Join(files, " "), "ansible/module_utils/helper.py") {
		t.Errorf("files %v", files)
	}
}

func TestPythonNeedsAnAnsibleCore(t *testing.T) {
	root, c := disk(t, "testdata/disk.txtar")
	m, _ := NewFinder(nil, nil, c).InCollections("acme.tools.hammer", nil)
	_, err := (&Packer{Homes: []string{root + "/none"}, Collections: c}).Pack(m)
	if err == nil || !strings.Contains(err.Error(), "acme.tools.hammer") || !strings.Contains(err.Error(), root+"/none") {
		t.Errorf("error %v", err)
	}
}

func TestStyles(t *testing.T) {
	for text, want := range map[string]Style{
		"from ansible.module_utils.basic import AnsibleModule\n":                      Python,
		"import ansible.module_utils.basic\n":                                         Python,
		"try:\n    from ansible.module_utils import urls\nexcept ImportError: pass\n": Python,
		"from ansible_collections.a.b.plugins.module_utils.c import d\n":              Python,
		"from ..module_utils.x import y\n":                                            Python,
		"#!/usr/bin/python\n#<<INCLUDE_ANSIBLE_MODULE_COMMON>>\n":                     Python,
		"#!/usr/bin/perl\n# WANT_JSON\n":                                              WantJSON,
		"#!/bin/sh\nx='<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>'\n":                       JSONArgs,
		"#!/bin/sh\n. $1\n": Old,
		"\x7fELF\x00\x01":   Binary,
		// Ansible looks for the words
		"# it does not use from ansible.module_utils.basic import AnsibleModule\necho\n": Python,
		"#!powershell\n#Requires -Module Ansible.ModuleUtils.Legacy\n":                   PowerShell,
	} {
		if got := StyleOf([]byte(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func unpack(t *testing.T, raw []byte) (names []string, m Manifest) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		names = append(names, f.Name)
		if f.Name != "manifest.json" {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := json.NewDecoder(r).Decode(&m); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	sort.Strings(names)
	return names, m
}

func TestPluginsAreFound(t *testing.T) {
	root, c := disk(t, "testdata/plugins.txtar")
	f := NewFinder(nil, nil, c)
	f.Configure("filter", []string{root + "/site/filter", root + "/nowhere"})
	f.Add(root + "/project")
	f.Add(root + "/project/roles/web")
	cases := []struct {
		kind, name, short string
		dirs              []string
	}{
		{"filter", "", "", []string{"project/filter_plugins", "project/roles/web/filter_plugins", "site/filter/deep",
			"site/filter"}},
		{"filter", "mine", "mine", []string{"project/filter_plugins", "project/roles/web/filter_plugins", "site/filter/deep",
			"site/filter"}},
		{"filter", "ansible.legacy.mine", "mine", []string{"project/filter_plugins", "project/roles/web/filter_plugins",
			"site/filter/deep", "site/filter"}},
		{"filter", "ansible.builtin.mine", "mine", nil},
		{"test", "", "", []string{"project/test_plugins"}},
		{"lookup", "mine", "mine", nil},
		{"lookup", "dig", "dig", []string{"ansible_collections/community/general/plugins/lookup"}},
		{"filter", "acme.tools.bend", "bend", []string{"ansible_collections/acme/tools/plugins/filter"}},
		{"filter", "acme.tools.old_bend", "bend", []string{"ansible_collections/acme/tools/plugins/filter"}},
		{"test", "acme.tools.old_bend", "old_bend", []string{"ansible_collections/acme/tools/plugins/test"}},
		{"filter", "acme.tools.circle", "circle", nil},
		{"filter", "acme.missing.bend", "bend", nil},
	}
	for _, tc := range cases {
		short, dirs := f.Plugin(tc.kind, tc.name)
		for i := range dirs {
			dirs[i] = strings.TrimPrefix(dirs[i], root+"/")
		}
		if short != tc.short || cmp.Diff(tc.dirs, dirs) != "" {
			t.Errorf("%s %q: %q in %q", tc.kind, tc.name, short, dirs)
		}
	}
}
