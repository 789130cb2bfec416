package pyini

import (
	"strings"
	"testing"

	"hark/modules/py/value"
)

func TestSections(t *testing.T) {
	f, err := Parse("[DEFAULT]\nbase = /opt\n[a]\nPath = %(base)s/x\n  more\nempty =\n# note\n[b]\nk: v%%\nflag\n",
		Options{AllowNoValue: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.Names, " "); got != "a b" {
		t.Errorf("sections %s", got)
	}
	for _, c := range []struct{ section, option, want string }{
		{"a", "path", "'/opt/x\\nmore'"}, {"a", "empty", "''"}, {"a", "base", "'/opt'"}, {"b", "k", "'v%'"},
		{"b", "flag", "None"},
	} {
		v, ok := f.Section(c.section).Get(c.option)
		if !ok {
			t.Errorf("[%s] has no %s", c.section, c.option)
			continue
		}
		if got, _ := value.Repr(v); got != c.want {
			t.Errorf("[%s] %s is %s, want %s", c.section, c.option, got, c.want)
		}
	}
	if got := strings.Join(f.Section("b").Options(), " "); got != "base k flag" {
		t.Errorf("options of b: %s", got)
	}
}

func TestWhatIsNoINI(t *testing.T) {
	for text, want := range map[string]string{
		"x = 1\n":  "File contains no section headers.\nfile: '<???>', line: 1\n'x = 1\\n'",
		"[a]\nx\n": "Source contains parsing errors: '<???>'\n\t[line  2]: 'x\\n'",
		"[a]\nx=1\nX=2\n": "Duplicate option in '{file}': While reading from '<???>' [line  3]: option 'x' in section 'a' " +
			"already exists",
	} {
		if _, err := Parse(text, Options{}); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[DEFAULT]\na=%(a)s\n[s]\n b\nc: %(d)s\nd=%(c)s\n")
	f.Fuzz(func(_ *testing.T, text string) {
		ini, err := Parse(text, Options{AllowNoValue: true})
		if err != nil {
			return
		}
		for _, name := range ini.Names {
			for _, option := range ini.Section(name).Options() {
				_, _ = ini.Section(name).Get(option)
			}
		}
	})
}
