package general

import (
	"context"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/crontab"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type cronvarArgs struct {
	Name         string  `arg:"name,required" doc:"The variable."`
	Value        *string `arg:"value" doc:"Its value; needed unless state is absent."`
	User         *string `arg:"user" doc:"Whose crontab it is."`
	CronFile     *string `arg:"cron_file" doc:"A file, in /etc/cron.d if its path is not absolute, instead of a user's crontab."`
	InsertAfter  *string `arg:"insertafter" doc:"The variable to insert after."`
	InsertBefore *string `arg:"insertbefore" doc:"The variable to insert before."`
	State        string  `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be there."`
	Backup       bool    `arg:"backup,default=no" doc:"Whether to keep what was there."`
}

// Cronvar is community.general.cronvar.
var Cronvar = modules.Define("community.general.cronvar", "Manages variables of crontabs", runCronvar,
	modules.EditsOr("crontab", "cron_file"),
	modules.With(func(m *modules.Module) { m.NoCheck = true }),
	modules.WithRules(modules.Rules{Exclusive: [][]string{{"insertbefore", "insertafter"}}}),
	modules.Documented(`- community.general.cronvar: {name: MAILTO, value: ops@example.org}
- community.general.cronvar: {name: PATH, value: "/usr/bin:/bin", cron_file: backup, insertafter: MAILTO}
- community.general.cronvar: {name: LEGACY, state: absent}
`,
		modules.Return{Name: "vars", Type: "list", When: "always", Doc: "Names of the variables."},
		modules.Return{Name: "backup_file", Type: "str", When: "backup and a change", Doc: "The copy of what was there."},
		modules.Return{Name: "cron_file", Type: "str", When: "it was given", Doc: "The file."},
	), modules.RunsPrograms)

func runCronvar(ctx context.Context, env *modules.Env, a cronvarArgs) (modules.Result, error) {
	// Ansible wants the program for files too.
	if _, err := tool.Find(env, "crontab"); err != nil {
		return modules.Result{}, err
	}
	table, err := crontab.Read(ctx, env, a.User, a.CronFile)
	if err != nil {
		return modules.Result{}, err
	}
	if a.Value == nil && a.State == "present" {
		return modules.Fail("You must specify 'value' to insert a new cron variable")
	}
	t := &varTable{table}
	original := t.wholeText()
	res := modules.Result{Changed: t.bringVar(a), Data: value.DictOf("vars", t.varNames(), "changed", modules.Here)}
	if crontab.Given(a.CronFile) {
		res.Data.Put("cron_file", *a.CronFile)
	}
	if !res.Changed {
		return res, nil
	}
	if a.Backup {
		kept, err := crontab.Backup("cronvar", original)
		if err != nil {
			return modules.Result{}, err
		}
		res.Data.Put("backup_file", kept)
	}
	return res, t.Write(t.wholeText())
}

// varTable is a crontab of which only the variables matter.
type varTable struct{ *crontab.Table }

// wholeText is the table with the empty lines at its end, which a change of a job drops and one of a variable keeps.
func (t *varTable) wholeText() string {
	text := strings.Join(t.Lines, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// bringVar changes the lines as the arguments want it. One that is to stand beside a variable that is not there is not added, and
// that counts as a change, as in Ansible.
func (t *varTable) bringVar(a cronvarArgs) (changed bool) {
	old, found := t.varValue(a.Name)
	line := a.Name + "="
	if a.Value != nil {
		line += *a.Value
	}
	switch {
	case a.State == "absent":
		t.eachVar(func(name, was string) []string {
			if name == a.Name {
				return nil
			}
			return []string{was}
		})
		return found
	case found && old == *a.Value:
		return false
	case found:
		t.eachVar(func(name, was string) []string {
			if name == a.Name {
				return []string{line}
			}
			return []string{was}
		})
	case a.InsertBefore == nil && a.InsertAfter == nil:
		t.Insert(0, line)
	default:
		t.eachVar(func(name, was string) []string {
			switch {
			case a.InsertBefore != nil && name == *a.InsertBefore:
				return []string{line, was}
			case a.InsertAfter != nil && name == *a.InsertAfter:
				return []string{was, line}
			}
			return []string{was}
		})
	}
	return true
}

// eachVar puts other lines in the place of each that sets a variable.
func (t *varTable) eachVar(with func(name, line string) []string) {
	var lines []string
	for _, line := range t.Lines {
		if name, _, ok := parseCronvar(line); ok {
			lines = append(lines, with(name, line)...)
		} else {
			lines = append(lines, line)
		}
	}
	t.Lines = lines
}

func (t *varTable) varValue(wanted string) (value string, found bool) {
	for _, line := range t.Lines {
		if name, value, ok := parseCronvar(line); ok && name == wanted {
			return value, true
		}
	}
	return "", false
}

func (t *varTable) varNames() []any {
	names := []any{}
	for _, line := range t.Lines {
		if name, _, ok := parseCronvar(line); ok {
			names = append(names, name)
		}
	}
	return names
}

// parseCronvar parts a line that sets a variable as Ansible does, with Python's shlex: blanks between words go, but for those in
// quotes that begin a word, and so does all from a number sign on. A quote that is not closed makes it no such line.
func parseCronvar(line string) (name, value string, ok bool) {
	var words []string
	for rest := []rune(line); ; {
		word, n := cronWord(rest)
		if n < 0 {
			return "", "", false
		}
		if word == "" {
			break
		}
		words, rest = append(words, word), rest[n:]
	}
	if len(words) < 2 || words[1] != "=" {
		return "", "", false
	}
	return words[0], strings.Join(words[2:], ""), true
}

// cronWord is the next word of a line and what it takes of it; -1 if a quote is not closed. Equals signs and what is not ASCII
// stand alone.
func cronWord(line []rune) (word string, n int) {
	at := 0
	for at < len(line) && strings.ContainsRune(" \t\r\n", line[at]) {
		at++
	}
	if at == len(line) || line[at] == '#' {
		return "", at
	}
	start := at
	if first := line[at]; first == '\'' || first == '"' {
		for at++; at < len(line); at++ {
			if line[at] == first {
				return string(line[start : at+1]), at + 1
			}
		}
		return "", -1
	}
	for at < len(line) && line[at] != '=' && line[at] < 128 && !strings.ContainsRune(" \t\r\n#", line[at]) {
		at++
	}
	word = string(line[start:at])
	if at == start {
		return string(line[at]), at + 1
	}
	if at < len(line) && line[at] == '#' {
		at = len(line)
	}
	return word, at
}
