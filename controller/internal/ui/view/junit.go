package view

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/modules/py/value"
)

// JUnitOptions are the settings of the junit view.
type JUnitOptions struct {
	// Dir is where the report goes.
	Dir string
	// RelativeTo makes the paths of tasks relative to a directory; OutOfTree replaces the directory of those that lie
	// outside of it.
	RelativeTo string
	OutOfTree  *string
	// ClassPerFile drops the line from a task's place; FailOnChange and FailOnIgnore count those as failures.
	ClassPerFile, FailOnChange, FailOnIgnore bool
	// HideArgs leaves arguments out of names, HideSetup the gathering of facts out of the report.
	HideArgs, HideSetup bool
	// Prefix limits the report to tasks whose name starts with it, and failures.
	Prefix string
}

// junit writes the run as a JUnit report: a case for each host and task.
type junit struct {
	Silent
	o        Options
	playbook string
	play     string
	number   int // of the play
	order    []string
	tasks    map[string]*junitTask
}

type junitTask struct {
	name, play, path, action string
	start                    time.Time
	hosts                    []*junitHost
}

type junitHost struct {
	name, status string
	res          *value.Dict
	out          string
	finish       time.Time
}

func newJUnit(o Options) (View, error) {
	if err := os.MkdirAll(o.JUnit.Dir, 0o777); err != nil {
		return nil, err
	}
	return &junit{o: o, tasks: map[string]*junitTask{}}, nil
}

func (v *junit) PlaybookStart(path string) {
	base := filepath.Base(path)
	v.playbook = strings.TrimSuffix(base, filepath.Ext(base))
}

func (v *junit) PlayStart(p Play) {
	v.play = p.Name
	v.number++
}

func (v *junit) TaskStart(t Task) { v.task(t) }

func (v *junit) task(t Task) *junitTask {
	key := fmt.Sprint(v.number, " ", t.ID)
	if task := v.tasks[key]; task != nil {
		return task
	}
	name := t.Title()
	if !t.NoLog && !v.o.JUnit.HideArgs {
		if args := argsText(t); args != "" {
			name += " " + args
		}
	}
	task := &junitTask{name: name, play: v.play, path: t.Place, action: t.Action, start: v.o.Now()}
	v.tasks[key] = task
	v.order = append(v.order, key)
	return task
}

func (v *junit) Done(r Result) {
	s := prepare(r)
	status := "ok"
	switch s.Outcome.Status {
	case wire.StatusFailed:
		if !s.Outcome.Ignored || v.o.JUnit.FailOnIgnore {
			status = "failed"
		}
	case wire.Skipped:
		status = "skipped"
	case wire.StatusUnreachable:
		return // Ansible's reports leave them out
	}
	v.finish(v.task(r.Task), &junitHost{name: r.Host, status: status, res: s.res})
}

func (v *junit) Included(t Task, in Include) {
	task := v.task(t)
	text := in.Path + ": [" + strings.Join(in.Hosts, ", ") + "]"
	for _, h := range task.hosts {
		if h.status == "included" {
			h.out, h.finish = h.out+"\n"+text, v.o.Now()
			return
		}
	}
	v.finish(task, &junitHost{name: "include", status: "included", out: text})
}

func (v *junit) finish(task *junitTask, h *junitHost) {
	j := v.o.JUnit
	if j.FailOnChange && h.status == "ok" && h.res.True("changed") {
		h.status = "failed"
	}
	switch {
	case h.status == "failed" && strings.Contains(task.name, "EXPECTED FAILURE"):
		h.status = "ok"
	case strings.Contains(task.name, "TOGGLE RESULT") && h.status == "failed":
		h.status = "ok"
	case strings.Contains(task.name, "TOGGLE RESULT") && h.status == "ok":
		h.status = "failed"
	}
	if strings.HasPrefix(task.name, j.Prefix) || h.status == "failed" {
		h.finish = v.o.Now()
		task.hosts = append(task.hosts, h)
	}
}

func (v *junit) Stats(Stats) {
	suite := xmlNode{tag: "testsuite"}
	var counts junitCounts
	for _, key := range v.order {
		task := v.tasks[key]
		if v.o.JUnit.HideSetup && isSetup(task.action) {
			continue
		}
		for _, h := range task.hosts {
			suite.children = append(suite.children, v.testCase(task, h, &counts))
		}
	}
	suite.attrs = counts.attrs(v.playbook)
	root := xmlNode{tag: "testsuites", attrs: counts.attrs(""), children: []xmlNode{suite}}
	now := v.o.Now()
	name := fmt.Sprintf("%s-%d.%06d.xml", v.playbook, now.Unix(), now.Nanosecond()/1000)
	text := "<?xml version=\"1.0\" ?>\n" + root.text(0)
	if err := os.WriteFile(filepath.Join(v.o.JUnit.Dir, name), []byte(text), 0o666); err != nil {
		v.o.Display.Warn(fmt.Sprintf("cannot write the JUnit report: %v", err))
	}
}

func isSetup(action string) bool {
	switch action[strings.LastIndex(action, ".")+1:] {
	case "setup", "gather_facts":
		return true
	}
	return false
}

// junitCounts are what the attributes of a suite count.
type junitCounts struct {
	tests, errors, failures, skipped int
	seconds                          float64
}

func (c junitCounts) attrs(name string) []xmlAttr {
	attrs := []xmlAttr{{"disabled", "0"}, {"errors", fmt.Sprint(c.errors)}, {"failures", fmt.Sprint(c.failures)}}
	if name != "" {
		attrs = append(attrs, xmlAttr{"name", name}, xmlAttr{"skipped", fmt.Sprint(c.skipped)})
	}
	return append(attrs, xmlAttr{"tests", fmt.Sprint(c.tests)}, xmlAttr{"time", value.FloatText(c.seconds)})
}

func (v *junit) testCase(task *junitTask, h *junitHost, c *junitCounts) xmlNode {
	seconds, hidden := h.finish.Sub(task.start).Seconds(), v.o.Display.Hidden()
	c.tests++
	c.seconds += seconds
	node := xmlNode{tag: "testcase", attrs: []xmlAttr{
		{"classname", v.class(task.path)}, {"name",
			hidden.Text(fmt.Sprintf("[%s] %s: %s", h.name, task.play, task.name))}, {"time", value.FloatText(seconds)}}}
	add := func(tag, message, text string) {
		child := xmlNode{tag: tag, body: hidden.Text(text)}
		if message != "" {
			child.attrs = []xmlAttr{{"message", hidden.Text(message)}, {"type", tag}}
		}
		node.children = append(node.children, child)
	}
	if h.status == "included" {
		add("system-out", "", h.out)
		return node
	}
	dump := v.o.dumper().dump(shown{res: h.res}, 0)
	switch h.status {
	case "ok":
		add("system-out", "", dump)
	case "skipped":
		c.skipped++
		reason := textOf(h.res, "skip_reason")
		if reason == "" {
			reason = "skipped"
		}
		add("skipped", "", reason)
	default:
		v.failure(h, c, dump, add)
	}
	return node
}

func (v *junit) failure(h *junitHost, c *junitCounts, dump string, add func(tag, message, text string)) {
	if _, ok := h.res.Get("exception"); ok {
		c.errors++
		trace := textOf(h.res, "exception")
		add("error", lastLine(trace), trace)
		return
	}
	c.failures++
	message := "rc=" + textOf(h.res, "rc")
	if message == "rc=" {
		message = "rc=0"
	}
	if _, ok := h.res.Get("msg"); ok {
		message = textOf(h.res, "msg")
	}
	add("failure", message, dump)
}

// class returns the class of a task: where it stands.
func (v *junit) class(path string) string {
	j := v.o.JUnit
	if j.RelativeTo != "" && path != "" {
		if rel, err := filepath.Rel(j.RelativeTo, path); err == nil {
			path = rel
		}
	}
	if j.OutOfTree != nil && strings.HasPrefix(path, "../") {
		path = *j.OutOfTree + filepath.Base(path)
	}
	if j.ClassPerFile {
		if at := strings.LastIndex(path, ".yml:"); at >= 0 {
			path = path[:at]
		}
	}
	return path
}
