package view

import (
	"cmp"
	"fmt"
	"sort"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/deprecation"
)

const exceptionText = "An exception occurred during task execution. "

// exception prints the error of a Python module that broke: its last line, or all of it at -vvv.
func (d *Display) exception(s shown, c Color, stderr bool) {
	if _, ok := s.res.Get("exception"); !ok {
		return
	}
	trace := textOf(s.res, "exception")
	text := "The full traceback is:\n" + trace
	if d.Verbosity() < 3 {
		text = exceptionText + "To see the full traceback, use -vvv. The error was: " + lastLine(trace)
	}
	d.show(message{text: text, color: c, stderr: stderr})
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// warnings prints those that came with the result, and takes them out of it.
func (v *defaultView) warnings(s shown) {
	if !v.o.QuietResults {
		v.d.resultWarnings(s.res)
	}
}

// notices prints the messages of a task's templates.
func (v *defaultView) notices(s shown) {
	if !v.causes() || s.Outcome.NoLog {
		return
	}
	origin := s.origin(v.o.Origin)
	place(s.notices, s.res, origin)
	for _, n := range s.notices {
		at := ""
		if !n.nowhere {
			at = origin(n.Spot)
		}
		if n.deprecated {
			v.d.Deprecate(deprecation.Notice{Text: n.msg, Version: cmp.Or(n.until, "2.23"), Collection: "ansible.builtin",
				Help: n.help, Origin: at})
		} else {
			v.d.Warn(strings.TrimSpace(strings.TrimSpace(n.msg+"\n"+at) + "\n\n" + n.help))
		}
	}
}

func (d *Display) resultWarnings(res *value.Dict) {
	list := func(key string) []value.Value {
		item, _ := res.Get(key)
		if !value.IsTrue(item) {
			return nil
		}
		drop(res, key)
		if l, ok := item.(*value.List); ok {
			return l.Items
		}
		return []value.Value{item}
	}
	for _, w := range list("warnings") {
		d.Warn(pyText(w))
	}
	for _, w := range list("deprecations") {
		if entry, ok := w.(*value.Dict); ok {
			d.Deprecate(deprecation.Notice{
				Text: textOf(entry, "msg"), Version: textOf(entry, "version"),
				Date: textOf(entry, "date"), Collection: textOf(entry, "collection_name"),
			})
		}
	}
}

// diff prints what a step changed in files.
func (v *defaultView) diff(s shown) {
	diff, _ := s.res.Get("diff")
	if !value.IsTrue(diff) || !s.res.True("changed") {
		return
	}
	if text := (differ{v.d, v.o.DiffContext, v.diffText}).text(diff); text != "" {
		v.showBanner(s.Task)
		v.d.Print(NoColor, text)
	}
}

// recap prints the counts of every host, twice if there is a log: that copy has no colours.
func (v *defaultView) recap(s Stats) {
	v.d.Banner("PLAY RECAP")
	hosts := append([]string(nil), s.Hosts...)
	sort.Strings(hosts)
	for _, host := range hosts {
		c := s.Counts[host]
		v.d.show(message{text: v.d.recapLine(host, c, true), screenOnly: true})
		v.d.show(message{text: v.d.recapLine(host, c, false), logOnly: true})
	}
	v.d.show(message{screenOnly: true})
}

func (d *Display) recapLine(host string, c Counts, colored bool) string {
	color := ColorOK
	switch {
	case c.Failed != 0 || c.Unreachable != 0:
		color = ColorError
	case c.Changed != 0:
		color = ColorChanged
	}
	colored = colored && d.codes != nil
	label := fmt.Sprintf("%-26s", host)
	if colored {
		label = fmt.Sprintf("%-37s", d.Paint(color, host))
	}
	count := func(name string, n int, role Color) string {
		text := fmt.Sprintf("%s=%-4d", name, n)
		if n != 0 && colored {
			return d.Paint(role, text)
		}
		return text
	}
	return strings.Join([]string{
		label + " :",
		count("ok", c.OK, ColorOK),
		count("changed", c.Changed, ColorChanged),
		count("unreachable", c.Unreachable, ColorUnreachable),
		count("failed", c.Failed, ColorError),
		count("skipped", c.Skipped, ColorSkip),
		count("rescued", c.Rescued, ColorOK),
		count("ignored", c.Ignored, ColorWarn),
	}, " ")
}

// customStats are those of set_stats: a line for each host, then those of the whole run.
func (v *defaultView) customStats(custom map[string]map[string]any) {
	if len(custom) == 0 {
		return
	}
	v.d.Banner("CUSTOM STATS: ")
	var hosts []string
	for host := range custom {
		if host != "_run" {
			hosts = append(hosts, host)
		}
	}
	sort.Strings(hosts)
	for _, host := range hosts {
		v.d.Print(NoColor, "\t"+host+": "+v.oneLine(custom[host]))
	}
	if run, ok := custom["_run"]; ok {
		v.d.show(message{screenOnly: true})
		v.d.Print(NoColor, "\tRUN: "+v.oneLine(run))
	}
	v.d.show(message{screenOnly: true})
}

func (v *defaultView) oneLine(stats map[string]any) string {
	res, _ := value.FromGo(stats, value.KindStr).(*value.Dict)
	if res == nil {
		res = value.NewDict()
	}
	return strings.ReplaceAll(v.dump(shown{res: res}, 1), "\n", "")
}
