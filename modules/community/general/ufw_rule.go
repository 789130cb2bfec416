package general

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

func (u *ufw) setRule() error {
	a := u.args
	if d := modules.Text(a.Direction); d != "" && d != "in" && d != "out" {
		return tool.Fail(nil, `For rules, direction must be one of "in" and "out", or direction must not be specified.`)
	}
	if !a.Route && modules.Text(a.InterfaceIn) != "" && modules.Text(a.InterfaceOut) != "" {
		return tool.Fail(nil, "Only route rules can combine interface_in and interface_out")
	}
	words, err := u.ruleWords()
	if err != nil {
		return err
	}
	out, err := u.run(words...)
	if err == nil && u.env.Check && u.differs(out) {
		u.changed = true
	}
	return err
}

// ruleWords returns the rule in the long form of ufw. A word of the command line may have blanks in it: users see the
// line.
func (u *ufw) ruleWords() ([]string, error) {
	a := u.args
	var words []string
	add := func(is bool, word string) {
		if is {
			words = append(words, word)
		}
	}
	option := func(before string, v *string, after string) { add(modules.Text(v) != "", before+modules.Text(v)+after) }
	add(u.env.Check, "--dry-run")
	add(a.Route, "route")
	add(a.Delete, "delete")
	if a.Insert != nil && !a.Delete {
		number, err := u.place()
		if err != nil {
			return nil, err
		}
		add(number != "", "insert "+number)
	}
	add(true, *a.Rule)
	option("", a.Direction, "")
	option("on ", a.Interface, "")
	option("in on ", a.InterfaceIn, "")
	option("out on ", a.InterfaceOut, "")
	add(a.Log, "log")
	option("from ", &a.FromIP, "")
	option("port ", a.FromPort, "")
	option("to ", &a.ToIP, "")
	option("port ", a.ToPort, "")
	option("proto ", a.Proto, "")
	option("app '", a.Name, "'")
	comments, err := u.hasComments()
	if err != nil {
		return nil, err
	}
	if comments {
		option("comment '", a.Comment, "'")
	}
	return words, nil
}

// The first part is greedy as in Ansible, which takes 0.36.1 for version 6.1: it does no harm.
var ufwVersionPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ufw.+(\d+)\.(\d+)`) })

// hasComments reports whether this ufw is 0.35 or later.
func (u *ufw) hasComments() (bool, error) {
	out, err := u.run("--version")
	if err != nil {
		return false, err
	}
	m := ufwVersionPattern().FindStringSubmatch(strings.TrimLeft(out, "\n"))
	if m == nil {
		return false, tool.Fail(value.DictOf("rc", int64(0), "out", out), "Failed to get ufw version.")
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return major > 0 || minor >= 35, nil
}

var (
	ipv4Pattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:(?:25[0-5]|2[0-4]\d|` + `1?\d?\d)\.){3}\d`)
	})
	// Whatever else is an address of IPv6 has two colons in a row.
	ipv6Pattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`::|(?:[[:xdigit:]]{1,4}:){7}[[:xdigit:]]|fe80:%[0-9a-zA-Z]`)
	})
	startsIPv4 = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + ipv4Pattern().String()) })
	startsIPv6 = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:(?:[[:xdigit:]]{1,4}:){1,7}:|::|(?:[[:xdigit:]]{1,4}:){7}[[:xdigit:]]|` +
			`fe80:%[0-9a-zA-Z])`)
	})
)

// differs reports whether a dry run, which prints the rules that would be there, names other rules than there are.
// It prints those of one protocol only if the rule names an address of it.
func (u *ufw) differs(dry string) bool {
	lines, skipped := 0, 0
	for line := range strings.Lines(dry) {
		lines++
		if strings.Contains(line, "Skipping") {
			skipped++
		}
	}
	if skipped > 0 && skipped == lines {
		return false
	}
	keep := regexp.MustCompile("")
	switch {
	case startsIPv4().MatchString(u.args.FromIP) || startsIPv4().MatchString(u.args.ToIP):
		keep = ipv4Pattern()
	case startsIPv6().MatchString(u.args.FromIP) || startsIPv6().MatchString(u.args.ToIP):
		keep = ipv6Pattern()
	}
	return linesWith(u.rules, "", keep) != linesWith(dry, "### tuple", keep)
}

func linesWith(text, start string, pattern *regexp.Regexp) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, start) && pattern.MatchString(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}
