package builtin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"hark/modules"
	"hark/modules/modtest"
)

// aptHost answers dpkg-query, apt-cache and dpkg from a table of packages and remembers what changes something.
type aptHost struct {
	installed map[string]string   // version by name
	available map[string][]string // versions by name, the best first
	provides  map[string]string   // real name by virtual name
	told      []string
	asked     int // times that apt-cache was called
	output    string
	locked    int // times that apt-get finds the lock taken
}

func (h *aptHost) exec(_ context.Context, c modules.Command) (modules.Output, error) {
	switch name := filepath.Base(c.Argv[0]); {
	case name == "dpkg-query":
		var out strings.Builder
		for _, name := range c.Argv[4:] {
			if v, ok := h.installed[name]; ok {
				out.WriteString(name + "\tamd64\tinstalled\t" + v + "\n")
			}
		}
		return modules.Output{Stdout: []byte(out.String())}, nil
	case name == "apt-cache":
		h.asked++
		return modules.Output{Stdout: []byte(h.cache(c.Argv[1:]))}, nil
	case name == "dpkg":
		if c.Argv[2] >= c.Argv[4] {
			return modules.Output{}, nil
		}
		return modules.Output{Rc: 1}, nil
	case name == "apt-mark":
		return modules.Output{}, nil
	}
	if h.locked > 0 {
		h.locked--
		return modules.Output{Rc: 100, Stderr: []byte("E: Could not get lock /var/lib/dpkg/lock-frontend\n")}, nil
	}
	h.told = append(h.told, strings.Join(c.Argv[1:], " "))
	return modules.Output{Stdout: []byte(h.output)}, nil
}

func (h *aptHost) cache(argv []string) string {
	if argv[0] == "-t" {
		argv = argv[2:]
	}
	var out strings.Builder
	verb, names := argv[0], argv[1:]
	if verb == "pkgnames" {
		for known := range h.available {
			out.WriteString(known + "\n")
		}
	}
	for _, name := range names {
		switch {
		case name == "python3.6": // as apt-cache does: the package is not there, but names that match are
			for _, like := range []string{"libpython3.6-stdlib", "python3.6-2to3"} {
				out.WriteString(policyOrPackage[verb](like))
			}
		case verb == "showpkg" && h.provides[name] != "":
			out.WriteString("Package: " + name + "\nReverse Provides: \n" + h.provides[name] + " 1.0 (= )\n")
		case verb == "policy" && h.available[name] != nil:
			out.WriteString(name + ":\n  Installed: (none)\n  Candidate: " + h.available[name][0] + "\n  Version table:\n")
			for _, v := range h.available[name] {
				out.WriteString("     " + v + " 500\n        500 http://x bookworm/main amd64 Packages\n")
			}
		}
	}
	return out.String()
}

// policyOrPackage is what the verbs of apt-cache print of a package that others only name.
var policyOrPackage = map[string]func(name string) string{
	"policy": func(name string) string {
		return name + ":\n  Installed: (none)\n  Candidate: (none)\n  Version table:\n"
	},
	"showpkg": func(name string) string {
		return "Package: " + name + "\nVersions: \n\nProvides: \nReverse Provides: \n"
	},
}

func aptEnv(t *testing.T, h *aptHost) *modules.Env {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range []string{"apt-get", "apt-mark"} {
		if err := os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &modules.Env{Name: "apt", Environ: []string{"PATH=" + dir}, Exec: h.exec, Warn: func(string, ...any) {}}
}

func newAptHost() *aptHost {
	return &aptHost{
		installed: map[string]string{"nginx": "1.22", "old": "1.0", "exim4": "4.96"},
		available: map[string][]string{"nginx": {"1.22", "1.18"}, "old": {"2.0", "1.0"}, "jq": {"1.6"}, "lib-a": {"1"}, "lib-b": {"1"}, "exim4": {"4.96"}},
		provides:  map[string]string{"mail-transport-agent": "exim4", "editor": "vim"},
	}
}

const options = "-y -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "

func TestAptInstallsWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		args map[string]any
		told string
	}{
		{map[string]any{"name": "nginx"}, ""},
		{map[string]any{"name": "old"}, ""},
		{map[string]any{"name": "old", "state": "latest"}, options + "install old=2.0"},
		{map[string]any{"name": "nginx", "state": "latest"}, ""},
		{map[string]any{"name": "nginx,jq"}, options + "install jq=1.6"},
		{map[string]any{"name": "nginx=1.18"}, options + "install nginx=1.18"},
		{map[string]any{"name": "nginx=1.22"}, ""},
		{map[string]any{"name": "nginx=1.2*"}, ""},
		{map[string]any{"name": "old>=2.0"}, options + "install old=2.0"},
		{map[string]any{"name": "old>=1.0"}, ""},
		{map[string]any{"name": "jq", "only_upgrade": true}, ""},
		{map[string]any{"name": "mail-transport-agent"}, ""},
		{map[string]any{"name": "editor"}, options + "install editor"},
		{map[string]any{"name": "jq", "install_recommends": false, "default_release": "sid"}, options + "install jq=1.6 -t sid -o APT::Install-Recommends=no"},
		{map[string]any{"name": "jq", "state": "absent"}, ""},
		{map[string]any{"name": "nginx", "state": "absent", "purge": true}, "-q " + options + "--purge remove nginx"},
		{map[string]any{"name": "nginx=1.18", "state": "absent"}, ""},
	} {
		h := newAptHost()
		r := Apt.Run(context.Background(), aptEnv(t, h), modtest.Args(c.args))
		if got := strings.Join(h.told, "; "); got != c.told || r.Failed || r.Changed != (c.told != "") {
			t.Errorf("%v ran %q, want %q: %+v", c.args, got, c.told, r)
		}
	}
}

func TestAptSimulatesInCheckMode(t *testing.T) {
	h := newAptHost()
	e := aptEnv(t, h)
	e.Check = true
	r := Apt.Run(context.Background(), e, modtest.Args(map[string]any{"name": "lib-?"}))
	if len(h.told) != 1 || !strings.Contains(h.told[0], "--simulate install lib-") || !r.Changed {
		t.Errorf("ran %q: %+v", h.told, r)
	}
}

func TestAptCleansNothingInCheckMode(t *testing.T) {
	h := newAptHost()
	e := aptEnv(t, h)
	e.Check = true
	if r := Apt.Run(context.Background(), e, modtest.Args(map[string]any{"clean": true, "autoremove": true})); len(h.told) > 0 || !r.Changed {
		t.Errorf("ran %q: %+v", h.told, r)
	}
}

// What the user gives is an argument of apt-get and nothing to a shell.
func TestAptTakesNoShell(t *testing.T) {
	h := newAptHost()
	h.available["jq; touch x $(id)"] = []string{"1.6"}
	if r := Apt.Run(context.Background(), aptEnv(t, h), modtest.Args(map[string]any{"name": []any{"jq; touch x $(id)"}})); r.Failed || len(h.told) != 1 {
		t.Errorf("ran %q: %+v", h.told, r)
	}
	h = newAptHost()
	h.available["jq'"] = []string{"1.6"}
	if r := Apt.Run(context.Background(), aptEnv(t, h), modtest.Args(map[string]any{"name": "jq'"})); !r.Failed || len(h.told) > 0 {
		t.Errorf("ran %q: %+v", h.told, r)
	}
}

func TestAptDownloadsPackageFiles(t *testing.T) {
	srv := httptest.NewServer(http.FileServerFS(fstest.MapFS{"a.deb": {Data: []byte("package")}}))
	defer srv.Close()
	h := newAptHost()
	e := aptEnv(t, h)
	var shown string
	e.Exec = func(ctx context.Context, c modules.Command) (modules.Output, error) {
		if c.Argv[0] != "dpkg-deb" {
			return h.exec(ctx, c)
		}
		raw, err := os.ReadFile(c.Argv[len(c.Argv)-1])
		shown = string(raw)
		return modules.Output{Stdout: []byte("a 1.0 all")}, err
	}
	if r := Apt.Run(t.Context(), e, modtest.Args(map[string]any{"deb": srv.URL + "/a.deb"})); r.Failed || shown != "package" || len(h.told) != 1 {
		t.Errorf("%q, ran %q: %+v", shown, h.told, r)
	}
	want := "Failure downloading " + srv.URL + "/none.deb, HTTP Error 404: Not Found"
	if r := Apt.Run(t.Context(), e, modtest.Args(map[string]any{"deb": srv.URL + "/none.deb"})); !r.Failed || r.Msg != want {
		t.Errorf("%+v", r)
	}
}

func TestAptAsksOfAllPackagesAtOnceAndNotOfThoseThatAreThere(t *testing.T) {
	for _, c := range []struct {
		args  map[string]any
		asked int
	}{
		{map[string]any{"name": "nginx,old"}, 0},
		{map[string]any{"name": "nginx,jq,lib-a"}, 1},
		{map[string]any{"name": "nginx,old", "state": "latest"}, 1},
		{map[string]any{"name": "nginx,jq", "state": "absent"}, 0},
	} {
		h := newAptHost()
		if r := Apt.Run(t.Context(), aptEnv(t, h), modtest.Args(c.args)); r.Failed || h.asked != c.asked {
			t.Errorf("%v asked apt-cache %d times, want %d: %+v", c.args, h.asked, c.asked, r)
		}
	}
}

func TestAptWaitsForTheLock(t *testing.T) {
	h := newAptHost()
	h.locked = 1
	r := Apt.Run(context.Background(), aptEnv(t, h), modtest.Args(map[string]any{"name": "jq"}))
	if r.Failed || !r.Changed {
		t.Errorf("a lock that was let go failed the task: %+v", r)
	}
	h.locked = 1
	r = Apt.Run(context.Background(), aptEnv(t, h), modtest.Args(map[string]any{"name": "jq", "lock_timeout": 0}))
	if !r.Failed || !strings.Contains(r.Msg, "Could not get lock") {
		t.Errorf("a lock that was kept gave %+v", r)
	}
}

func TestAptNamesWhatIsWrong(t *testing.T) {
	for want, args := range map[string]map[string]any{
		"No package matching 'ghost' is available":                                                 {"name": "ghost"},
		"No package matching 'python3.6' is available":                                             {"name": "python3.6"},
		"No package(s) matching 'ghost*' available":                                                {"name": "ghost*"},
		"no available installation candidate for jq=9":                                             {"name": "jq=9"},
		"invalid package spec: a=b=c":                                                              {"name": "a=b=c"},
		"deb only supports state=present":                                                          {"deb": "/x.deb", "state": "absent"},
		"parameters are mutually exclusive: deb|package|upgrade":                                   {"deb": "/x.deb", "name": "jq"},
		"unable to install additional packages when upgrading all installed packages":              {"name": "*,jq", "state": "latest"},
		"value of state must be one of: absent, build-dep, fixed, latest, present, got: installed": {"name": "jq", "state": "installed"},
	} {
		h := newAptHost()
		if r := Apt.Run(context.Background(), aptEnv(t, h), modtest.Args(args)); !r.Failed || r.Msg != want {
			t.Errorf("%v gave %q, want %q", args, r.Msg, want)
		}
	}
}

func TestAptTellsOfItsListsUnlessThePackageIsUnknown(t *testing.T) {
	for name, want := range map[string]bool{"jq": true, "jq=9": true, "ghost": false} {
		r := Apt.Run(context.Background(), aptEnv(t, newAptHost()), modtest.Args(map[string]any{"name": name}))
		if told := r.Data.Has("cache_updated"); told != want {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestPlannedIsWhatAptGetSaysItWillDo(t *testing.T) {
	text := "Reading package lists...\nReading state information...\nThe following NEW packages will be installed:\n  jq\n0 upgraded, 1 newly installed\nInst jq\n"
	want := "The following NEW packages will be installed:\n  jq\n0 upgraded, 1 newly installed"
	if got := planned(text); got != want {
		t.Errorf("planned %q", got)
	}
}
