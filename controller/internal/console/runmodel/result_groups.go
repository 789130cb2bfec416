package runmodel

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"sort"
	"strings"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/modules/result"
)

// longest is how many bytes of a result's text a group keeps.
const longest = 4 << 10

// seed seeds the hashes of the texts that groups are found by.
var seed = maphash.MakeSeed()

// group is what results of one group share.
type group struct {
	state State
	sum   uint64
	whole int
}

// add adds a host to the group of its result.
func (t *Task) add(s State, text string, whole int, host int32, line int) {
	key := group{s, maphash.String(seed, text), whole}
	g := t.index[key]
	if g == nil {
		if len(text) > longest {
			text = text[:longest]
		}
		g = &Group{N: len(t.Groups) + 1, State: s, Text: text, Whole: whole, Line: line}
		t.index[key] = g
		t.Groups = append(t.Groups, g)
	}
	g.hosts.add(host)
}

// says returns the text of a result, and its length.
func says(res view.Result) (text string, whole int) {
	o := res.Outcome
	if o == nil || len(o.Result) == 0 {
		return "", 0
	}
	if o.NoLog || res.Task.NoLog {
		return "hidden, since no_log is set", 0
	}
	if !speaks(o, res.Task.Action) {
		return "", 0
	}
	said := o.Said()
	text = telling(said.Dict, debug(res.Task.Action))
	if said.Has("diff") {
		text = strings.TrimLeft(text+"\n"+strings.TrimRight(view.DiffText(res), "\n"), "\n")
	}
	return text, len(text)
}

// speaks reports whether a result may have any text: most have none, and decoding them is most of the work.
func speaks(o *wire.Outcome, action string) bool {
	if o.Status == wire.StatusFailed || o.Status == wire.StatusUnreachable || debug(action) {
		return true
	}
	return slices.ContainsFunc([]string{"msg", "stdout", "stderr", "diff", "warnings", "skip_reason"},
		result.Raw(o.Result).Has)
}

func debug(action string) bool { return action == "debug" || strings.HasSuffix(action, ".debug") }

// telling returns the text of a result, a line or more for each part.
func telling(d *value.Dict, debug bool) string {
	var b strings.Builder
	put := func(name, text string) {
		if s := strings.TrimRight(text, "\n"); s != "" {
			if name != "" && strings.Contains(s, "\n") {
				name += "\n"
			} else if name != "" {
				name += " "
			}
			b.WriteString(name + s + "\n")
		}
	}
	entry := func(name string) string {
		v, _ := d.Get(name)
		return plain(v)
	}
	rc := entry("rc")
	if rc == "0" {
		rc = ""
	}
	for _, key := range []string{"msg", "reason", "skip_reason", "censored"} {
		text := entry(key)
		if rc != "" && text != "" && !strings.Contains(text, "\n") {
			text, rc = text+" (rc "+rc+")", ""
		}
		put("", text)
	}
	put("rc", rc)
	both := entry("stdout") != ""
	put("", entry("stdout"))
	for _, key := range []string{"stderr", "module_stdout", "module_stderr", "exception"} {
		name := ""
		if both {
			name = key + ":"
		}
		text := entry(key)
		put(name, text)
		both = both || text != ""
	}
	put("warning:", entry("warnings"))
	if debug && b.Len() == 0 {
		b.WriteString(variables(d))
	}
	return strings.TrimRight(b.String(), "\n")
}

// variables returns what a debug task shows.
func variables(d *value.Dict) string {
	var lines []string
	d.Each(func(k, v value.Value) bool {
		switch name := value.Printed(k); name {
		case "changed", "failed", "skipped", "invocation":
		default:
			if !result.Internal(name) {
				lines = append(lines, name+": "+plain(v)+"\n")
			}
		}
		return true
	})
	sort.Strings(lines)
	return strings.Join(lines, "")
}

// plain returns a value as people read it.
func plain(v value.Value) string {
	switch v := v.(type) {
	case nil, value.None:
		return ""
	case value.Bool:
		return fmt.Sprint(bool(v))
	case *value.List:
		lines := make([]string, len(v.Items))
		for i, x := range v.Items {
			text, ok := value.Text(x)
			if !ok {
				return indented(v)
			}
			lines[i] = text
		}
		return strings.Join(lines, "\n")
	case *value.Dict:
		return indented(v)
	}
	return value.Printed(v)
}

func indented(v value.Value) string {
	return value.JSONText(v, value.JSONOptions{Lines: true, Indent: "  ", Sorted: true}) + "\n"
}

// label returns the item of a loop as shown.
func label(o *wire.Outcome) string {
	if o.Label != "" {
		return o.Label
	}
	var s string
	if json.Unmarshal(o.Item, &s) == nil {
		return s
	}
	return string(o.Item)
}

// nameMark replaces each host's own name in texts of groups.
const nameMark = "\x00host\x00"

// anonymous returns a text of a host with a mark for its name, so that other hosts' texts can be the same. It leaves
// short names, which may be any word.
func anonymous(text, host string) string {
	const shortest = 3
	if len(host) < shortest || !strings.Contains(text, host) {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, host)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := i + len(host)
		if i > 0 && inName(text[i-1]) || end < len(text) && inName(text[end]) {
			b.WriteString(text[:end])
		} else {
			b.WriteString(text[:i] + nameMark)
		}
		text = text[end:]
	}
}

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit(c) || c == '-' || c == '_'
}
