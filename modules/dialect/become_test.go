package dialect

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// plugin is what a become plug-in of Ansible says of itself; testdata/become.py writes it down.
type plugin struct {
	Name          string
	Fail, Missing []string
	TTY           bool
	Options       map[string]option
	Commands      []struct {
		Variables map[string]string
		Argv      []string
	}
}

type option struct {
	Default        any
	Vars, Env, Ini []string
}

func plugins(t *testing.T) map[string]plugin {
	t.Helper()
	text, err := os.ReadFile("testdata/become.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Methods map[string]plugin }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Methods) == 0 {
		t.Fatal("no plug-in was found")
	}
	return all.Methods
}

func TestTheBecomePluginsOfAnsibleAreTheRows(t *testing.T) {
	all := plugins(t)
	if len(all) != len(Methods()) {
		t.Errorf("%d plug-ins and %d rows", len(all), len(Methods()))
	}
	for name, p := range all {
		m, ok := MethodNamed(name)
		if !ok {
			t.Errorf("%s has no row", name)
			continue
		}
		if m.Shown() != p.Name || m.Always != p.TTY {
			t.Errorf("%s is shown as %s and wants a terminal: %v; the row says %s, %v", name, p.Name, p.TTY, m.Shown(), m.Always)
		}
		for _, text := range append(p.Fail, p.Missing...) {
			if !slices.Contains(m.Refused, text) && !slices.Contains(m.Missing, text) {
				t.Errorf("%s: the row does not know what the program says: %q", name, text)
			}
		}
	}
}

func TestBecomeOptionsHaveAnsiblesVariablesAndSettings(t *testing.T) {
	for name, p := range plugins(t) {
		m, _ := MethodNamed(name)
		for _, o := range BecomeOptions() {
			want, has := p.Options[string(o)]
			if has != m.Has(o) {
				t.Errorf("%s has %s: %v, the row says %v", name, o, has, m.Has(o))
			}
			if !has {
				continue
			}
			slices.Reverse(want.Vars) // Ansible takes the last that is set
			if got := m.Variables(o); !slices.Equal(got, want.Vars) {
				t.Errorf("%s %s has the variables %v, the row says %v", name, o, want.Vars, got)
			}
			if !slices.Contains(want.Env, m.Env(o)) {
				t.Errorf("%s %s has the environment variables %v, the row says %s", name, o, want.Env, m.Env(o))
			}
			if !slices.ContainsFunc(want.Ini, func(key string) bool { return strings.HasPrefix(key, m.Section()+".") }) {
				t.Errorf("%s %s has the entries %v, the row says section %s", name, o, want.Ini, m.Section())
			}
			otherwise, _ := want.Default.(string)
			if got := map[BecomeOption]string{BecomeUser: m.User, BecomeExe: m.Exe, BecomeFlags: m.Flags}[o]; got != otherwise {
				t.Errorf("%s %s is %q where nobody gives it, the row says %q", name, o, otherwise, got)
			}
		}
		for _, o := range m.Others {
			want := p.Options[o.Name]
			if !slices.Equal(want.Vars, []string{o.Variable}) || !slices.Equal(want.Env, []string{o.Env}) || !slices.Equal(want.Ini, []string{o.Key}) {
				t.Errorf("%s %s is %+v, the row says %+v", name, o.Name, want, o)
			}
		}
		if got, want := len(m.Others)+len(BecomeOptions())-len(m.Lacks), len(p.Options); got != want {
			t.Errorf("%s has %d options, the row %d", name, want, got)
		}
	}
}

func TestBecomeCommandsAreAnsibles(t *testing.T) {
	compared := 0
	for name, p := range plugins(t) {
		m, _ := MethodNamed(name)
		if m.build == nil {
			continue
		}
		for _, c := range p.Commands {
			if c.Argv == nil {
				continue // Ansible demands a user
			}
			v := c.Variables
			row := *m
			row.Always, row.Terminal = false, false
			got, err := RunAs{
				Method: name, User: v["ansible_become_user"], Exe: v["ansible_become_exe"], Flags: v["ansible_become_flags"],
				Password: v["ansible_become_pass"],
			}.command(&row, []string{"PROGRAM"})
			if err != nil {
				t.Errorf("%s with %v: %v", name, v, err)
				continue
			}
			compared++
			if got, want := bareOurs(got, c.Argv), bare(c.Argv); !slices.Equal(got, want) {
				t.Errorf("%s with %v is\n%q, Ansible has\n%q", name, v, got, want)
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d commands were compared", compared)
	}
}

// bare is a command of Ansible's without what comes after the user, the prompt that Ansible listens for, and what
// speaks to a shell.
func bare(argv []string) []string {
	argv = slices.Clone(argv[:len(argv)-1])
	if i := slices.Index(argv, "-p"); i >= 0 {
		argv = slices.Delete(argv, i, i+2)
	}
	return slices.DeleteFunc(argv, func(w string) bool { return w == "SYSTEMD_COLORS=0" || w == "None" || w == "-c" })
}

// bareOurs is a command of ours likewise, without what makes sure that nobody is asked.
func bareOurs(argv, ansible []string) []string {
	argv = bare(argv)
	if i := slices.Index(argv, "-s"); i >= 0 {
		argv = slices.Delete(argv, i, i+2)
	}
	return slices.DeleteFunc(argv, func(w string) bool { return w == "--" || (w == "-n" || w == "-S") && !slices.Contains(ansible, w) })
}

func TestBecomeProgramsNeverWaitForAnAnswer(t *testing.T) {
	for _, c := range []struct {
		as   RunAs
		want string
	}{
		{RunAs{User: "joe"}, "sudo -H -S -n -u joe -- id"},
		{RunAs{User: "joe", Flags: "-i"}, "sudo -i -n -u joe -- id"},
		{RunAs{User: "joe", Flags: "-En", Password: "x"}, "sudo -E -S -p  -u joe -- id"},
		{RunAs{User: "joe", Flags: "--non-interactive -H", Password: "x"}, "sudo -H -S -p  -u joe -- id"},
		{RunAs{User: "joe", Method: "community.general.dzdo", Flags: "-H"}, "dzdo -H -n -u joe -- id"},
		{RunAs{User: "joe", Method: "doas"}, "doas -n -u joe id"},
		{RunAs{User: "joe", Method: "doas", Password: "x"}, "doas -u joe id"},
		{RunAs{User: "joe", Method: "sudosu", Exe: "/ignored"}, "sudo -H -S -n su -l joe -c exec id"},
		{RunAs{User: "joe", Exe: "'/opt/a b/sudo' -x"}, "/opt/a b/sudo -x -H -S -n -u joe -- id"},
	} {
		got, err := c.as.Command([]string{"id"})
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%+v is %q, %v", c.as, got, err)
		}
	}
}

func TestBecomeMethodsThatCannotWorkSaySo(t *testing.T) {
	for _, c := range []struct {
		as   RunAs
		says string
	}{
		{RunAs{User: "joe", Method: "runas"}, "starts no program"},
		{RunAs{User: "joe", Method: "ansible.netcommon.enable"}, "starts no program"},
		{RunAs{User: "joe", Method: "my.own.method"}, "starts no program"},
		{RunAs{User: "joe", Method: "machinectl"}, "wants a terminal"},
		{RunAs{User: "joe", Flags: "'"}, "cannot read"},
	} {
		if argv, err := c.as.Command([]string{"id"}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v is %q, %v", c.as, argv, err)
		}
	}
}

func TestComplaintsAboutPasswordsAreInAnsiblesWords(t *testing.T) {
	for _, c := range []struct {
		as         RunAs
		said, want string
	}{
		{RunAs{Method: "sudo"}, "sudo: a password is required\n", "Missing sudo password"},
		{RunAs{}, "sudo: a password is required\n", "Missing sudo password"},
		{RunAs{Method: "sudo", Password: "x"}, "Sorry, try again.\n", "Incorrect sudo password"},
		{RunAs{Method: "sudo", Password: "x"}, "sudo: 1 incorrect password attempt\n", "Incorrect sudo password"},
		{RunAs{Method: "su"}, "Password: ", "Missing su password"},
		{RunAs{Method: "su"}, "su: Authentication failure", "Missing su password"},
		{RunAs{Method: "su", Password: "x"}, "Password: su: Authentication failure", "Incorrect su password"},
		{RunAs{Method: "su", Password: "x"}, "Password: ", ""},
		{RunAs{Method: "doas"}, "doas: Authorization required", "Missing community.general.doas password"},
		{RunAs{Method: "community.general.sesu", Password: "x"}, "Sorry, try again with sesu.", "Incorrect community.general.sesu password"},
		{RunAs{Method: "sudo"}, "sudo: unknown user joe", ""},
	} {
		if got := c.as.Words(c.as.Complaint(c.said)); got != c.want {
			t.Errorf("%+v after %q: %q, not %q", c.as, c.said, got, c.want)
		}
	}
}

func TestVariablesOfBecomeAreKnown(t *testing.T) {
	for _, name := range AllBecomeVariables() {
		if !IsBecomeVariable(name) {
			t.Errorf("%s is none", name)
		}
	}
	for _, name := range []string{"ansible_sudo_anything", "ansible_become_anything"} {
		if !IsBecomeVariable(name) {
			t.Errorf("%s is none", name)
		}
	}
	for _, name := range []string{"ansible_sudo", "sudo_user", "become_user", "ansible_user", "ansible_summary_x", "become"} {
		if IsBecomeVariable(name) {
			t.Errorf("%s is one", name)
		}
	}
	if got := BecomeVariables("my.own.method", BecomeUser); !slices.Equal(got, []string{"ansible_method_user", "ansible_become_user"}) {
		t.Errorf("a method without a row has %v", got)
	}
}
