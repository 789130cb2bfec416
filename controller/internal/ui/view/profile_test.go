package view

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hark/agent/wire"
	"hark/modules/mask"
)

// stage is a view with a clock that the test moves.
type stage struct {
	view View
	out  bytes.Buffer
	err  bytes.Buffer
	now  time.Time
	// hidden are the secrets of its display.
	hidden mask.Masker
}

func newStage(t *testing.T, name string, o Options) *stage {
	t.Helper()
	s := &stage{now: time.Date(2023, 5, 4, 13, 2, 1, 0, time.FixedZone("", 2*3600))}
	d, err := NewDisplay(DisplayOptions{Out: &s.out, Err: &s.err, Hidden: &s.hidden})
	if err != nil {
		t.Fatal(err)
	}
	o.Display, o.Now = d, func() time.Time { return s.now }
	if s.view, err = New(name, o); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) task(t Task, took time.Duration) {
	s.view.TaskStart(t)
	s.now = s.now.Add(took)
}

func (s *stage) expect(t *testing.T, want string) {
	t.Helper()
	if diff := cmp.Diff(want, s.out.String()); diff != "" {
		t.Errorf("output differs (-want +got):\n%s", diff)
	}
}

func TestTimerTellsHowLongTheRunTook(t *testing.T) {
	s := newStage(t, "ansible.posix.timer", Options{})
	s.now = s.now.Add(25*time.Hour + 3*time.Minute + 4500*time.Millisecond)
	s.view.Stats(Stats{})
	s.expect(t, "Playbook run took 1 days, 1 hours, 3 minutes, 4 seconds\n")
}

func TestProfileTasksListsTheLongestFirst(t *testing.T) {
	s := newStage(t, "ansible.posix.profile_tasks", Options{ProfileLimit: 2})
	s.view.PlayStart(Play{ID: "0.0"})
	s.task(Task{ID: "1", Name: "short"}, 1230*time.Millisecond)
	s.task(Task{ID: "2", Name: "long", Role: "r"}, time.Hour+2*time.Minute)
	s.task(Task{ID: "3", Action: "debug"}, 10*time.Millisecond)
	s.view.Stats(Stats{})
	s.expect(t, `Thursday 04 May 2023  13:02:01 +0200 (0:00:00.000)       0:00:00.000 ********** 
Thursday 04 May 2023  13:02:02 +0200 (0:00:01.230)       0:00:01.230 ********** 
Thursday 04 May 2023  14:04:02 +0200 (1:02:00.000)       1:02:01.230 ********** 
Thursday 04 May 2023  14:04:02 +0200 (0:00:00.010)       1:02:01.240 ********** 
=============================================================================== 
r : long ------------------------------------------------------------- 3720.00s
short ------------------------------------------------------------------- 1.23s
`)
}

func TestProfileRolesSumsByRole(t *testing.T) {
	s := newStage(t, "profile_roles", Options{})
	s.task(Task{ID: "1", Name: "a", Role: "web"}, time.Second)
	s.task(Task{ID: "2", Action: "debug"}, 3*time.Second)
	s.task(Task{ID: "3", Name: "b", Role: "web"}, time.Second)
	s.view.Stats(Stats{})
	s.expect(t, `Thursday 04 May 2023  13:02:01 +0200 (0:00:00.000)       0:00:00.000 ********** 
Thursday 04 May 2023  13:02:02 +0200 (0:00:01.000)       0:00:01.000 ********** 
Thursday 04 May 2023  13:02:05 +0200 (0:00:03.000)       0:00:04.000 ********** 
Thursday 04 May 2023  13:02:06 +0200 (0:00:01.000)       0:00:05.000 ********** 
=============================================================================== 
debug ------------------------------------------------------------------- 3.00s
web --------------------------------------------------------------------- 2.00s
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ 
total ------------------------------------------------------------------- 5.00s
`)
}

func TestTreeKeepsTheLastResultOfEachHost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "tree")
	s := newStage(t, "tree", Options{TreeDir: dir})
	done := func(host string, status wire.Status, result string) {
		s.view.Done(Result{Host: host, Outcome: &wire.Outcome{Status: status, Result: []byte(result)}})
	}
	done("a", wire.OK, `{"changed": false, "n": 1}`)
	done("a", wire.StatusFailed, `{"msg": "no", "failed": true}`)
	done("b", wire.Skipped, `{"skipped": true}`)
	got, err := os.ReadFile(filepath.Join(dir, "a"))
	if err != nil || string(got) != `{"msg": "no"}` {
		t.Errorf("the file of a holds %q (%v)", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b")); err == nil {
		t.Error("a host that skipped has a file")
	}
}

// TestReportsAndScreensHaveNoSecrets: what is secret when it is written, in names and arguments of tasks and what is
// printed.
func TestReportsAndScreensHaveNoSecrets(t *testing.T) {
	dir := t.TempDir()
	s := newStage(t, "junit", Options{JUnit: JUnitOptions{Dir: dir}})
	s.view.PlaybookStart("/p/site.yml")
	s.view.PlayStart(Play{Name: "of sesame-open"})
	task := Task{ID: "2", Name: "say sesame-open", Args: []byte(`{"a": "sesame-open"}`)}
	s.task(task, time.Second)
	s.view.Done(Result{Task: task, Host: "h", Outcome: &wire.Outcome{Status: wire.StatusFailed, Result: []byte(`{"msg": "no sesame-open"}`)}})
	s.hidden.Add("sesame-open")
	s.view.Stats(Stats{})
	files, _ := filepath.Glob(filepath.Join(dir, "*.xml"))
	if len(files) != 1 {
		t.Fatalf("there are %d reports", len(files))
	}
	got, err := os.ReadFile(files[0])
	if err != nil || strings.Contains(string(got), "sesame") || strings.Count(string(got), mask.Placeholder) < 4 {
		t.Errorf("%v: %s", err, got)
	}
	screen := newStage(t, "default", Options{})
	screen.hidden.Add("sesame-open")
	screen.task(task, time.Second)
	screen.view.Done(Result{Task: task, Host: "h", Outcome: &wire.Outcome{Status: wire.OK, Result: []byte(`{}`)}})
	if got := screen.out.String(); !strings.Contains(got, "TASK [say $REDACTED$] ***") {
		t.Errorf("%s", got)
	}
}

func TestJUnitReportsHostsAndTasks(t *testing.T) {
	dir := t.TempDir()
	s := newStage(t, "junit", Options{JUnit: JUnitOptions{Dir: dir, HideSetup: true, ClassPerFile: true, RelativeTo: "/p"}})
	s.view.PlaybookStart("/p/site.yml")
	s.view.PlayStart(Play{Name: "web"})
	result := func(task Task, status wire.Status, ignored bool, json string) {
		s.task(task, time.Second)
		s.view.Done(Result{Task: task, Host: "h", Outcome: &wire.Outcome{Status: status, Ignored: ignored, Result: []byte(json)}})
	}
	place := "/p/tasks/main.yml:3"
	result(Task{ID: "1", Action: "setup", Place: place}, wire.OK, false, `{}`)
	result(Task{ID: "2", Name: "fine", Place: place, Args: []byte(`{"a": "<b>"}`)}, wire.Changed, false, `{"changed": true}`)
	result(Task{ID: "3", Name: "broken", Place: place, NoLog: true, Args: []byte(`{"a": 1}`)}, wire.StatusFailed, false, `{"msg": "say \"no\""}`)
	result(Task{ID: "4", Name: "crashed", Place: place}, wire.StatusFailed, false, `{"exception": "Traceback\n  line\nValueError: x\n"}`)
	result(Task{ID: "5", Name: "ignored", Place: place}, wire.StatusFailed, true, `{"rc": 2}`)
	result(Task{ID: "6", Name: "EXPECTED FAILURE", Place: place}, wire.StatusFailed, false, `{"rc": 2}`)
	result(Task{ID: "7", Name: "left out", Place: place}, wire.Skipped, false, `{"skip_reason": "Conditional result was False"}`)
	s.view.Stats(Stats{})
	files, _ := filepath.Glob(filepath.Join(dir, "site-*.xml"))
	if len(files) != 1 {
		t.Fatalf("there are %d reports", len(files))
	}
	got, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "junit.xml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the report differs (-want +got):\n%s", diff)
	}
}
