package fold

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"sort"
	"strings"

	"hark/agent/wire"
	"hark/controller/internal/view"
)

// longest is how much of a result's text is kept of a group.
const longest = 4 << 10

// seed makes the sums of texts that groups are found by.
var seed = maphash.MakeSeed()

// group is what results of one group share.
type group struct {
	state State
	sum   uint64
	whole int
}

// add counts a host to the group of its result.
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

// Says is the text of a result: message, return code, output and differences.
func Says(res view.Result) string {
	text, _ := says(res)
	return text
}

// says is the text of a result, and its length.
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
	var d map[string]any
	e := json.NewDecoder(bytes.NewReader(o.Result))
	e.UseNumber()
	if e.Decode(&d) != nil {
		return "", 0
	}
	text = telling(d, debug(res.Task.Action))
	if d["diff"] != nil {
		text = strings.TrimLeft(text+"\n"+strings.TrimRight(view.DiffText(res), "\n"), "\n")
	}
	return text, len(text)
}

// speaks tells whether a result may have anything to say: most have not, and decoding them is most of the work.
func speaks(o *wire.Outcome, action string) bool {
	if o.Status == wire.StatusFailed || o.Status == wire.StatusUnreachable || debug(action) {
		return true
	}
	for _, key := range []string{`"msg"`, `"stdout"`, `"stderr"`, `"diff"`, `"warnings"`, `"skip_reason"`} {
		if bytes.Contains(o.Result, []byte(key)) {
			return true
		}
	}
	return false
}

func debug(action string) bool { return action == "debug" || strings.HasSuffix(action, ".debug") }

// telling is what a result tells, a line or more each.
func telling(d map[string]any, debug bool) string {
	var b strings.Builder
	put := func(name string, v any) {
		if s := strings.TrimRight(plain(v), "\n"); s != "" {
			if name != "" && strings.Contains(s, "\n") {
				name += "\n"
			} else if name != "" {
				name += " "
			}
			b.WriteString(name + s + "\n")
		}
	}
	rc := plain(d["rc"])
	if rc == "0" {
		rc = ""
	}
	for _, key := range []string{"msg", "reason", "skip_reason", "censored"} {
		text := plain(d[key])
		if rc != "" && text != "" && !strings.Contains(text, "\n") {
			text, rc = text+" (rc "+rc+")", ""
		}
		put("", text)
	}
	put("rc", rc)
	both := plain(d["stdout"]) != ""
	put("", d["stdout"])
	for _, key := range []string{"stderr", "module_stdout", "module_stderr", "exception"} {
		name := ""
		if both {
			name = key + ":"
		}
		put(name, d[key])
		both = both || plain(d[key]) != ""
	}
	put("warning:", d["warnings"])
	if debug && b.Len() == 0 {
		b.WriteString(variables(d))
	}
	return strings.TrimRight(b.String(), "\n")
}

// variables are what a debug task shows.
func variables(d map[string]any) string {
	var names []string
	for name := range d {
		switch name {
		case "changed", "failed", "skipped", "invocation":
		default:
			if !strings.HasPrefix(name, "_ansible_") {
				names = append(names, name)
			}
		}
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		b.WriteString(name + ": " + plain(d[name]) + "\n")
	}
	return b.String()
}

// plain is a value as people read it.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	case []any:
		lines := make([]string, len(v))
		for i, x := range v {
			if _, ok := x.(string); !ok {
				return indented(v)
			}
			lines[i] = x.(string)
		}
		return strings.Join(lines, "\n")
	}
	return indented(v)
}

func indented(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(v) != nil {
		return ""
	}
	return b.String()
}

// label is the item of a loop as it is shown.
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

// nameMark stands in texts of groups where each host has its own name.
const nameMark = "\x00host\x00"

// anonymous is a text of a host with a mark for its name, so that those of other hosts can be the same. Names that are short may be anything.
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
