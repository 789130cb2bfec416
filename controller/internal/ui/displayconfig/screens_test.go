package displayconfig

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/controller/config"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/terminal"
	"hark/controller/internal/ui/view"
)

// screens by an environment, without a terminal; out and err are what they print.
func screens(t *testing.T, env map[string]string) (s *Screens, out, errs *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	getenv := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	settings, err := config.Load(config.World{Getenv: getenv, Dir: dir, Home: dir, System: dir + "/none"}, "")
	if err != nil {
		t.Fatal(err)
	}
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &Screens{Settings: settings, Console: &terminal.Console{Out: out, Err: errs, Getenv: getenv}}, out, errs
}

func TestColoursAreForTerminalsOrThoseWhoWantThem(t *testing.T) {
	here, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	for _, c := range []struct {
		env      map[string]string
		terminal bool
		want     bool
	}{
		{nil, false, false},
		{map[string]string{"TERM": "xterm"}, true, true},
		{map[string]string{"TERM": "dumb"}, true, false},
		{nil, true, false},
		{map[string]string{"TERM": "xterm", "ANSIBLE_NOCOLOR": "1"}, true, false},
		{map[string]string{"ANSIBLE_FORCE_COLOR": "1"}, false, true},
	} {
		s, _, _ := screens(t, c.env)
		if c.terminal {
			s.Console.Terminal = here
		}
		if got := s.Colored(); got != c.want {
			t.Errorf("%v, a terminal %v: %v", c.env, c.terminal, got)
		}
	}
}

func TestSettingsChooseWhatViewsShow(t *testing.T) {
	s, _, _ := screens(t, map[string]string{
		"ANSIBLE_DISPLAY_SKIPPED_HOSTS": "no", "ANSIBLE_DISPLAY_OK_HOSTS": "no", "ANSIBLE_SHOW_CUSTOM_STATS": "yes", "ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml",
		"ANSIBLE_DIFF_CONTEXT": "7", "JUNIT_OUTPUT_DIR": "/junit", "JUNIT_HIDE_TASK_ARGUMENTS": "yes",
	})
	if _, err := s.Open(2); err != nil {
		t.Fatal(err)
	}
	o := s.Options(Run{Check: true, Tree: "results"})
	if !o.HideSkipped || !o.HideOK || !o.CustomStats || o.ResultFormat != "yaml" || o.DiffContext != 7 || !o.Check || o.JUnit.Dir != "/junit" || !o.JUnit.HideArgs {
		t.Errorf("%+v", o)
	}
	if o.TreeDir != s.Settings.Abs("results") || o.Pretty != nil || o.Display == nil || o.Now().IsZero() {
		t.Errorf("%+v", o)
	}
}

func TestViewsThatDoNotExist(t *testing.T) {
	s, out, errs := screens(t, nil)
	if _, err := s.Open(0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Views("none", Run{}, nil); err == nil || err.Error() != "Invalid callback for stdout specified: none" {
		t.Errorf("the screen: %v", err)
	}
	if v, err := s.Views("default", Run{}, []string{"none"}); err != nil || v == nil || !strings.Contains(errs.String(), "Skipping callback plugin 'none', unable to load") {
		t.Errorf("beside it: %v, %s%s", err, out, errs)
	}
}

// A view that is named twice, or by its full name too, is there once; those of the screen are passed over.
func TestEachViewIsThereOnce(t *testing.T) {
	s, _, _ := screens(t, nil)
	if _, err := s.Open(0); err != nil {
		t.Fatal(err)
	}
	if got := s.OtherViews([]string{"timer", "ansible.posix.timer", "json", "minimal"}, s.Options(Run{})); len(got) != 1 {
		t.Errorf("%d views are beside the screen's", len(got))
	}
}

// TestRunsAreShownAgainInTheirOwnLanguage: the level of the command that shows a run again is not that of the run.
func TestRunsAreShownAgainInTheirOwnLanguage(t *testing.T) {
	for _, tagged := range []bool{false, true} {
		s, _, stderr := screens(t, nil)
		s.Tagged = !tagged
		d, err := s.Again(record.Screen{Tagged: tagged})
		if err != nil {
			t.Fatal(err)
		}
		d.Error("no such file")
		if got := strings.HasPrefix(stderr.String(), "[ERROR]: "); got != tagged {
			t.Errorf("tagged %v: %s", tagged, stderr)
		}
	}
}

func TestWhatIsShownIsLoggedToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	s, _, _ := screens(t, map[string]string{"ANSIBLE_LOG_PATH": path, "USER": "ann"})
	d, err := s.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Again(record.Screen{Verbosity: 1})
	if err != nil || again == d {
		t.Fatal(err)
	}
	d.Warn("mind this")
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), " u=ann n=ansible | [WARNING]: mind this") {
		t.Errorf("%v: %s", err, text)
	}
}

// What ansible-core 2.14.18 and 2.19.11 write.
func TestALogThatCannotBeWrittenIsAWarning(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		path   string
		tagged bool
		want   string
	}{
		{dir + "/no/log", false, "[WARNING]: log file at " + dir + "/no/log is not writeable and we cannot create it, aborting\n\n"},
		{dir + "/no/log", true, "[WARNING]: log file at '" + dir + "/no/log' is not writeable and we cannot create it, aborting\n\n"},
		{dir, true, "[WARNING]: DEFAULT_LOG_PATH can not be a directory '" + dir + "', aborting\n"},
	} {
		s, _, stderr := screens(t, map[string]string{"ANSIBLE_LOG_PATH": c.path})
		s.Tagged = c.tagged
		for range 2 {
			if _, err := s.Open(0); err != nil {
				t.Fatal(err)
			}
		}
		if stderr.String() != c.want {
			t.Errorf("wrote %q", stderr)
		}
	}
}

// The form that ansible-core 2.19.11 gives its log.
func TestALogOfLevel219NamesRanks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	s, _, _ := screens(t, map[string]string{"ANSIBLE_LOG_PATH": path, "LOGNAME": "ann", "USER": "bob"})
	s.Tagged = true
	d, err := s.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	d.Print(view.NoColor, "fine")
	d.Warn("mind this")
	d.Error("broken")
	text, err := os.ReadFile(path)
	for _, want := range []string{" u=ann n=ansible INFO| fine\n", " n=ansible WARNING| [WARNING]: mind this\n", " n=ansible ERROR| [ERROR]: broken\n"} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%v: %s", err, text)
		}
	}
}
