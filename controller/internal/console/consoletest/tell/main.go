// Command tell writes records of invented runs, for tests of the console in a browser and for pictures of it:
//
//	tell samples DIR                    a day of runs on 312 hosts, some of which failed
//	tell live DIR RUN HOSTS TASKS PAUSE one slow run, a pause after each result
//	tell large DIR RUN HOSTS TASKS      one run as fast as it can be written
//	tell fleet URL READER               agents and duties, at an open broker; READER is the curve key of a reader
//	                                    of the duties
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/console/consoletest"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
)

func main() {
	if err := tell(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tell:", err)
		os.Exit(1)
	}
}

func tell(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: tell samples|live|large DIR, tell fleet URL READER")
	}
	store := &files.Store{Dir: args[1]}
	switch {
	case args[0] == "fleet" && len(args) == 3:
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return fleet(ctx, args[1], args[2])
	case args[0] == "samples":
		samples(store)
		return nil
	case (args[0] == "live" || args[0] == "large") && len(args) >= 5:
		hosts, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		tasks, err := strconv.Atoi(args[4])
		if err != nil {
			return err
		}
		var pause time.Duration
		if len(args) > 5 {
			if pause, err = time.ParseDuration(args[5]); err != nil {
				return err
			}
		}
		long(store, args[2], names("web", hosts), tasks, pause)
		return nil
	}
	return fmt.Errorf("cannot tell %q", strings.Join(args, " "))
}

func head(run, line string, hosts int, at time.Time) record.Head {
	return record.Head{
		Run: run, At: at, Name: "anna", From: "anna@deploy1", Dir: "/home/anna/site",
		Line:   append([]string{"hark"}, strings.Fields(line)...),
		Commit: "9f31c2e", Hosts: hosts, Hark: "1.4.2", Groups: map[string][]string{"web": {"web[1:312]"},
			"prod": {"web[1:200]"}, "staging": {"web[201:312]"}},
	}
}

func names(stem string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s%d", stem, i+1)
	}
	return all
}

// long is a run of many similar results. Results advance its clock, and it records no faster than a record can be
// written.
func long(store *files.Store, run string, hosts []string, tasks int, pause time.Duration) {
	r := consoletest.Begin(store, head(run, "play -i inventory rolling.yml", len(hosts), time.Now()))
	r.Play("rolling", hosts...)
	began, told := time.Now(), 0
	for n := range tasks {
		task := r.Task(n, fmt.Sprintf("step %d of the roll", n+1), "ansible.builtin.command")
		for i, h := range hosts {
			s, result := wire.OK, map[string]any(nil)
			switch {
			case (i+n)%9 == 0:
				s = wire.Changed
			case n == tasks/2 && i%100 == 7:
				s, result = wire.StatusFailed, map[string]any{"rc": 1, "msg": "non-zero return code",
					"stderr": "no space left on device"}
			}
			r.Tick(time.Millisecond)
			r.Came(task, h, s, result)
			told++
			// by the clock, so that a busy machine does not make it slower
			time.Sleep(time.Until(began.Add(time.Duration(told) * pause)))
		}
		if pause == 0 {
			time.Sleep(time.Duration(len(hosts)) * 10 * time.Microsecond)
		}
	}
	r.Over(record.Failed, 2)
}

// samples are the runs of a day.
func samples(store *files.Store) {
	hosts := names("web", 312)
	base := time.Now().Add(-20 * time.Hour)
	for n := range 18 {
		bad := n%4 == 2
		r := consoletest.Begin(store, head(fmt.Sprintf("c%02dk3f9q2", n), "play -i inventory site.yml -l web", len(hosts),
			base.Add(time.Duration(n)*time.Hour)))
		site(r, hosts, bad)
		if bad {
			r.Over(record.Failed, 2)
		} else {
			r.Over(record.OK, 0)
		}
	}
	r := consoletest.Begin(store, head("m07dq8w2", "play db.yml", 12, base.Add(18*time.Hour+30*time.Minute)))
	r.Play("databases", hosts[:12]...)
	r.Task(1, "stop the database", "ansible.builtin.service")
	r.End(record.Foot{Status: record.Cancelled, Exit: 99, Error: "User interrupted execution"})
	hostile(store, base.Add(19*time.Hour))
}

// hostile is a run of a hostile host.
func hostile(store *files.Store, at time.Time) {
	r := consoletest.Begin(store, head("evil0000", "play evil.yml", 1, at))
	r.Play("<script>window.hacked=1</script>", "evil")
	for n, text := range consoletest.Hostile() {
		name := strings.ToValidUTF8(text[:min(len(text), 60)], "")
		r.Came(r.Task(n, name, "debug"), "evil", wire.StatusFailed, map[string]any{"msg": text, "stdout": text})
	}
	r.Over(record.Failed, 2)
}

// site is a familiar play in which some hosts may fail.
func site(r *consoletest.Run, hosts []string, bad bool) {
	gone := func(i int) bool { return bad && (i == 40 || i == 77) }
	failed := func(i int) bool { return bad && (i == 2 || i == 16 || i == 17) }
	step := func(n int, name, action string, d time.Duration, f func(i int) (wire.Status, map[string]any)) {
		task := r.Task(n, name, action)
		for i, h := range hosts {
			s, result := f(i)
			if s == "" || n > 1 && gone(i) || n > 4 && failed(i) {
				continue
			}
			r.Tick(d / time.Duration(len(hosts)))
			r.Came(task, h, s, result)
		}
	}
	every := func(nth int, s wire.Status) func(i int) (wire.Status, map[string]any) {
		return func(i int) (wire.Status, map[string]any) {
			if i%nth == 0 {
				return s, nil
			}
			return wire.OK, nil
		}
	}
	r.PlaybookStart("site.yml")
	r.Play("web servers", hosts...)
	step(1, "Gathering Facts", "ansible.builtin.setup", 300*time.Millisecond, func(i int) (wire.Status, map[string]any) {
		if gone(i) {
			return wire.StatusUnreachable,
				map[string]any{"msg": "no agent named " + hosts[i] + " is connected: last heard of 2 h ago", "unreachable": true}
		}
		return wire.OK, nil
	})
	step(2, "nginx : install", "ansible.builtin.package", 4100*time.Millisecond, every(33, wire.Changed))
	r.Warn("Platform linux on host web9 is using the discovered Python interpreter at /usr/bin/python3.11, but another " +
		"one may be installed later.")
	step(3, "nginx : template nginx.conf", "ansible.builtin.template", 2*time.Second, every(40, wire.Changed))
	step(4, "app : migrate the schema", "ansible.builtin.command", 31*time.Second,
		func(i int) (wire.Status, map[string]any) {
			switch {
			case failed(i) && i == 2:
				return wire.StatusFailed, map[string]any{"rc": 124, "msg": "timed out after 30 s"}
			case failed(i):
				return wire.StatusFailed, map[string]any{"rc": 1, "msg": "non-zero return code",
					"stderr": "psql: error: column \"x\" does not exist\nLINE 1: ALTER TABLE t DROP COLUMN " +
						"x;\n\x1b[31mfatal\x1b[0m: rolled back"}
			}
			return wire.OK, nil
		})
	step(5, "app : restart", "ansible.builtin.service", time.Second, every(1, wire.Skipped))
	step(6, "backup : start", "ansible.builtin.command", time.Second, func(i int) (wire.Status, map[string]any) {
		if i%40 != 11 {
			return wire.Skipped, nil
		}
		return wire.Changed, map[string]any{"ansible_job_id": fmt.Sprintf("j%d.%d", 916703709622+i, 2000+i), "started": 1,
			"finished": 0}
	})
	for n := 7; n < 24; n++ {
		step(n, fmt.Sprintf("monitoring : check %d", n), "ansible.builtin.uri", time.Duration(n)*90*time.Millisecond,
			every(1000, wire.OK))
	}
}
