package duty

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/controller/internal/notify"
	"hark/playbook/syntax"
)

func read(t *testing.T, text string) ([]Duty, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := readFile(&syntax.Loader{}, file)
	if err != nil {
		err = &plainError{strings.ReplaceAll(err.Error(), filepath.Dir(file)+"/", "")}
	}
	return all, err
}

func readFile(l *syntax.Loader, file string) ([]Duty, error) {
	f, err := Read(l, file)
	return f.Duties, err
}

type plainError struct{ text string }

func (e *plainError) Error() string { return e.text }

func TestReadTakesWhatTheFileSays(t *testing.T) {
	all, err := read(t, `
- name: base
  play: site.yml
  hosts: web:&prod
  every: 30m
  splay: 10m
  mode: check
  window: "Mon-Fri 01:00-05:00 Europe/Berlin"
  catch_up: never
  together: false
  at_once: 20
  stop_at: 5%
  after_changes: 1,10%,100%
  ignore: ["apt : update cache"]
- {name: ntp, play: plays/ntp.yml, hosts: all, at: "03:00 UTC", mode: enforce}
`)
	if err != nil {
		t.Fatal(err)
	}
	d := all[0]
	if d.Schedule.Every != 30*time.Minute || d.Schedule.Splay != 10*time.Minute || d.CatchUp != 0 || !d.TogetherSaid ||
		d.AtOnce != 20 ||
		d.StopAt.Percent != 5 || len(d.AfterChanges) != 3 || d.AfterChanges[0].Count != 1 ||
		d.Ignore[0] != "apt : update cache" || d.Place.Line != 2 {
		t.Errorf("read %+v", d)
	}
	if d = all[1]; d.Mode != Enforce || d.Schedule.At.Minute != 180 || d.CatchUp != 72*time.Hour || d.AtOnce != 50 ||
		d.TogetherSaid || d.Schedule.Splay != 10*time.Minute {
		t.Errorf("read %+v", d)
	}
}

func TestADutyMaySayHowItIsPlayedAndWhoIsTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(file, []byte(`
notify: https://example.org/hook
duties:
  - {name: a, play: a.yml, hosts: all, every: 1h, mode: check, extra_vars: {n: 3, list: [x]}, tags: [one, two], skip_tags: three}
  - name: b
    play: b.yml
    hosts: all
    once: "2026-12-01 03:00 Europe/Berlin"
    mode: enforce
    extra_vars: ["@vars.yml", "x=1"]
    notify: {to: ["nats:", ./tell], tell: [failed, fixed], after: 2, hosts: 5%, absent_for: 3h, quiet: "22:00-07:00 UTC", gather: 5s}
  - {name: c, play: c.yml, hosts: all, every: 1h, mode: check, notify: nobody}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Read(&syntax.Loader{}, file)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"-e", `{"n":3,"list":["x"]}`, "--tags", "one", "--tags", "two", "--skip-tags", "three"}
	if got := f.Duties[0].Flags(); !slices.Equal(got, want) {
		t.Errorf("flags %q, want %q", got, want)
	}
	if f.Notify == nil || f.Notify.To[0] != "https://example.org/hook" || f.Duties[0].Notify != nil ||
		len(f.Duties[2].Notify.To) != 0 {
		t.Errorf("%+v", f)
	}
	b := f.Duties[1]
	if at := time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC); !b.Schedule.Once.Equal(at) ||
		!slices.Equal(b.Flags(), []string{"-e", "@vars.yml", "-e", "x=1"}) {
		t.Errorf("%+v", b)
	}
	n := b.Notify
	if n.After != 2 || n.Hosts.Percent != 5 || n.AbsentFor != 3*time.Hour || n.Gather != 5*time.Second ||
		!n.Tells(notify.Fixed) || n.Tells(notify.Drifted) ||
		!n.IsQuiet(time.Date(2026, 12, 1, 6, 59, 0, 0, time.UTC)) || n.IsQuiet(time.Date(2026, 12, 1, 7, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", n)
	}
}

// TestAFileMaySayItsVersion: then its duties stand under a key.
func TestAFileMaySayItsVersion(t *testing.T) {
	all, err := read(t, "version: 1\nduties:\n- {name: ntp, play: ntp.yml, hosts: all, every: 1h, mode: check}\n")
	if err != nil || len(all) != 1 || all[0].Name != "ntp" || all[0].Place.Line != 3 {
		t.Errorf("read %+v, %v", all, err)
	}
}

func TestReadTellsAllThatIsWrongWithItsPlace(t *testing.T) {
	const good = "name: a, play: a.yml, hosts: all, "
	for _, x := range []struct{ text, want string }{
		{"x: y", "duties.yml:1:1: duties are a list"},
		{"version: 2\nduties: []", "duties.yml:1:10: the file has version 2, this hark knows 1; upgrade hark"},
		{"version: new\nduties: []", "duties.yml:1:10: version is a number, 1"},
		{"version: 1", "a file with a version has its list under duties"},
		{"version: 1\nduty: []\nduties: []",
			`duties.yml:2:1: a file of duties has no "duty": it may have version, duties, notify`},
		{"version: 1\nduties: {a: b}", "duties.yml:2:9: duties are a list"},
		{"version: 1\nduties: [3]", "duties.yml:2:10: a duty is a mapping"},
		{"- 3", "duties.yml:1:3: a duty is a mapping"},
		{"- {name: a, play: a.yml, hosts: all, every: 1h}", "duties.yml:1:3: the duty has no mode"},
		{"- {" + good + "mode: look, every: 1h}", `mode is check or enforce, not "look"`},
		{"- {" + good + "mode: check}", "neither every nor at nor once"},
		{"- {" + good + "mode: check, every: 1h, at: '03:00'}", "every, at or once, and not two of them"},
		{"- {" + good + "mode: check, every: 10s}", "every is a minute at least"},
		{"- {" + good + "mode: check, every: 30}", `every is a time such as 90s, 30m, 1h30m or 7d, not "30"`},
		{"- {" + good + "mode: check, every: 99999999999w}", "every is a time such as"},
		{"- {" + good + "mode: check, every: -3m}", "every is a time such as"},
		{"- {" + good + "mode: check, every: 1h, splay: 2h}", "splay cannot be longer"},
		{"- {" + good + "mode: check, at: 13:00}", "write HH:MM in quotes"},
		{"- {" + good + "mode: check, at: '25:00'}", `"25:00" is no time of the day`},
		{"- {" + good + "mode: check, at: '03:00 Europe/Nowhere'}", `there is no time zone "Europe/Nowhere"`},
		{"- {" + good + "mode: check, every: 1h, window: 'Mon-Xyz 01:00-02:00'}", `"Mon-Xyz" are no days`},
		{"- {" + good + "mode: check, every: 1h, window: '01:00-01:00'}", "holds no time"},
		{"- {" + good + "mode: check, every: 1h, window: Mon}", "there must be a time"},
		{"- {" + good + "mode: check, every: 1h, at_once: 0}", "at_once is a number of hosts"},
		{"- {" + good + "mode: check, every: 1h, at_once: true}", "at_once is a number of hosts"},
		{"- {" + good + "mode: check, every: 1h, together: maybe}", "together is true or false"},
		{"- {" + good + "mode: check, every: 1h, stop_at: 200%}",
			`stop_at: "200%" is neither a number of hosts nor a part of them`},
		{"- {" + good + "mode: check, every: 1h, after_changes: '10%,5%'}", "after_changes: stages grow: 5% comes after 10%"},
		{"- {" + good + "mode: check, every: 1h, after_changes: 'a'}", `after_changes: "a" is neither a number of hosts`},
		{"- {" + good + "mode: check, every: 1h, ignore: x}", "ignore is a list"},
		{"- {" + good + "mode: check, every: 1h, evry: 1h}", `a duty has no "evry"`},
		{"- {name: 'a b', play: a.yml, hosts: all, mode: check, every: 1h}", `"a b" cannot be the name of a duty`},
		{"- {name: a, play: ../a.yml, hosts: all, mode: check, every: 1h}", `the play "../a.yml" must lie in the project`},
		{"- {name: a, play: a.yml, hosts: '{{ x }}', mode: check, every: 1h}", "hosts is a text and no template"},
		{"- {name: a, play: [a.yml], hosts: all, mode: check, every: 1h}", "play must be a text"},
		{"- {" + good + "mode: check, every: 1h}\n- {" + good + "mode: check, every: 1h}",
			`duties.yml:2:3: there are two duties "a": the other is at line 1`},
		{"- {" + good + "mode: check, once: '2026-13-01 03:00'}", `"2026-13-01" is no day`},
		{"- {" + good + "mode: check, once: '2026-12-01'}", "is no time of the day"},
		{"- {" + good + "mode: check, once: '2026-12-01 03:00', every: 1h}", "and not two of them"},
		{"- {" + good + "mode: check, every: 1h, tags: {a: b}}", "tags must be a text"},
		{"- {" + good + "mode: check, every: 1h, extra_vars: [[a]]}", "an entry of extra_vars must be a text"},
		{"- {" + good + "mode: check, every: 1h, extra_vars: {a: !vault x}}", "extra_vars cannot hold values of vaults"},
		{"- {" + good + "mode: check, every: 1h, notify: 'ftp://x'}", `notify: "ftp" is no target`},
		{"- {" + good + "mode: check, every: 1h, notify: {tell: [failed]}}", "notify does not say to whom"},
		{"- {" + good + "mode: check, every: 1h, notify: {to: 'nats:', tell: [x]}}", `nobody can be told of "x"`},
		{"- {" + good + "mode: check, every: 1h, notify: {to: 'nats:', after: 0}}", "after is a number of turns"},
		{"- {" + good + "mode: check, every: 1h, notify: {to: 'nats:', hosts: x}}", "hosts: "},
		{"- {" + good + "mode: check, every: 1h, notify: {to: 'nats:', quiet: x}}", "quiet is days, times and zone"},
		{"- {" + good + "mode: check, every: 1h, notify: {to: 'nats:', too: x}}", `notify has no "too"`},
		{"{duties: [], x: y}", `a file of duties has no "x"`},
		{"{duties: x}", "duties are a list"},
		{"- {name: a}", "the duty has no play\n"},
		{"- {name: a}", "the duty has no hosts\n"},
		{"- [", "Syntax Error"},
	} {
		if _, err := read(t, x.text); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s\n\tgives %v\n\twant %s", x.text, err, x.want)
		}
	}
	if all, err := read(t, ""); err != nil || len(all) != 0 {
		t.Errorf("an empty file gives %v, %v", all, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("- {name: base, play: site.yml, hosts: all, every: 30m, mode: check, window: 'Mon-Fri 01:00-05:00 " +
		"Europe/Berlin'}")
	f.Add("- {name: base, play: site.yml, hosts: all, at: '02:30', mode: check, after_changes: '1,10%'}")
	f.Fuzz(func(t *testing.T, text string) {
		l := &syntax.Loader{ReadFile: func(string) ([]byte, error) { return []byte(text), nil }}
		all, err := readFile(l, FileName)
		if err != nil {
			return
		}
		for _, d := range all {
			at := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
			if next, slot := d.Schedule.After(at, 0.5); !next.After(at) || next.Before(slot.Start) || !next.Before(slot.End) {
				t.Fatalf("the turn after %v is %v in %v", at, next, slot)
			}
		}
	})
}
