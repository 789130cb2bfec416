package general

import (
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestLocaleGen(t *testing.T) {
	const list = "# de_DE.UTF-8 UTF-8\n#de_CH.UTF-8 UTF-8\nen_US.UTF-8 UTF-8\n"
	for _, c := range []struct {
		name          string
		args          localeGenArgs
		check, ubuntu bool
		changed       bool
		fail          string
		list, told    string
		files         map[string]string
	}{
		{name: "makes", args: localeGenArgs{Name: []string{"de_CH.UTF-8"}}, changed: true, told: "locale-gen \n",
			list: "# de_DE.UTF-8 UTF-8\nde_CH.UTF-8 UTF-8\nen_US.UTF-8 UTF-8\n"},
		{name: "makes in check mode", args: localeGenArgs{Name: []string{"de_CH.UTF-8"}}, check: true, changed: true,
			list: list},
		{name: "is there", args: localeGenArgs{Name: []string{"en_US.UTF-8"}}, list: list},
		{name: "removes", args: localeGenArgs{Name: []string{"en_US.UTF-8"}, State: "absent"}, changed: true,
			told: "locale-gen \n",
			list: "# de_DE.UTF-8 UTF-8\n#de_CH.UTF-8 UTF-8\n# en_US.UTF-8 UTF-8\n"},
		{name: "several", args: localeGenArgs{Name: []string{"en_US.UTF-8", "de_DE.UTF-8"}}, changed: true,
			told: "locale-gen \n",
			list: "de_DE.UTF-8 UTF-8\n#de_CH.UTF-8 UTF-8\nen_US.UTF-8 UTF-8\n"},
		{name: "is unknown", args: localeGenArgs{Name: []string{"xx_YY"}},
			fail: "The locale you've entered is not available on your system.", list: list},
		{name: "is C", args: localeGenArgs{Name: []string{"C.UTF-8"}},
			fail: "The locale you've entered is not available on your system.", list: list},
		{name: "fails", args: localeGenArgs{Name: []string{"de_CH.UTF-8"}}, told: "locale-gen \n",
			files: map[string]string{"refuse": ""},
			fail:  "[Errno 3] locale.gen failed to execute, it returned 3",
			list:  "# de_DE.UTF-8 UTF-8\nde_CH.UTF-8 UTF-8\nen_US.UTF-8 UTF-8\n"},
		{name: "on Ubuntu", args: localeGenArgs{Name: []string{"de_CH.UTF-8"}}, ubuntu: true, changed: true,
			told: "locale-gen de_CH.UTF-8\n", list: list},
		{name: "removes on Ubuntu", args: localeGenArgs{Name: []string{"en_US.UTF-8"}, State: "absent"}, ubuntu: true,
			changed: true, told: "locale-gen --purge\n", list: list},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, map[string]string{"list": list, "supported": "de_CH.UTF-8 UTF-8\nen_US.UTF-8 UTF-8\n"})
			lay(t, dir, c.files)
			if c.ubuntu {
				lay(t, dir, map[string]string{"local/local": "en_US.UTF-8 UTF-8\nfr_FR.UTF-8 UTF-8\n"})
			}
			env := &modules.Env{Check: c.check}
			modtest.UseTools(env, dir, modtest.Tools(t, "locale_gen"))
			if c.args.State == "" {
				c.args.State = "present"
			}
			l := &locales{Host: hostOf(t.Context(), env), args: c.args, list: dir + "/list", supported: dir + "/supported",
				localDir: dir + "/local"}
			r := resultOf(l.bring())
			if r.Changed != c.changed || r.Failed != (c.fail != "") || r.Failed && r.Msg != c.fail {
				t.Errorf("%+v", r)
			}
			if got := content(t, filepath.Join(dir, "list")); got != c.list {
				t.Errorf("the list is %q", got)
			}
			if got := content(t, filepath.Join(dir, "told")); got != c.told {
				t.Errorf("ran %q", got)
			}
			if c.ubuntu && c.args.State == "absent" {
				if got := content(t, dir+"/local/local"); got != "fr_FR.UTF-8 UTF-8\n" {
					t.Errorf("left %q", got)
				}
			}
		})
	}
}

func TestLocaleGenNeedsLocales(t *testing.T) {
	env := &modules.Env{}
	modtest.UseTools(env, os.TempDir(), modtest.Tools(t, "locale_gen"))
	l := &locales{Host: hostOf(t.Context(), env), args: localeGenArgs{Name: []string{"a_B"}, State: "present"},
		list: "/none/a", localDir: "/none/b"}
	if r := resultOf(l.bring()); r.Msg != `/etc/locale.gen and /var/lib/locales/supported.d/local are missing. Is the `+
		`package "locales" installed?` {
		t.Errorf("%+v", r)
	}
}
