package builtin

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/internal/host/crontab"
	"hark/modules/py/value"
)

type cronArgs struct {
	Name         string  `arg:"name,required" doc:"The job's name, or the variable's."`
	User         *string `arg:"user" doc:"The owner of the crontab; in a file in /etc/cron.d, the user that runs the job."`
	Job          *string `arg:"job,alias=value" doc:"The command, or the variable's value."`
	CronFile     *string `arg:"cron_file,type=path" doc:"A file, in /etc/cron.d if its path is not absolute, instead of a user's crontab."`
	State        string  `arg:"state,default=present,choices=present|absent" doc:"Whether it shall be there."`
	Backup       bool    `arg:"backup,default=no" doc:"Whether to keep what was there."`
	Minute       string  `arg:"minute,default=*" doc:"Minute: 0-59, *, */2 and so on."`
	Hour         string  `arg:"hour,default=*" doc:"Hour: 0-23, *, */2 and so on."`
	Day          string  `arg:"day,alias=dom,default=*" doc:"Day of the month: 1-31, *, */2 and so on."`
	Month        string  `arg:"month,default=*" doc:"Month: 1-12, *, */2 and so on."`
	Weekday      string  `arg:"weekday,alias=dow,default=*" doc:"Day of the week: 0-6 from Sunday, * and so on."`
	SpecialTime  *string `arg:"special_time,choices=reboot|yearly|annually|monthly|weekly|daily|hourly" doc:"A time that has a name."`
	Disabled     bool    `arg:"disabled,default=no" doc:"Whether the job is a comment only."`
	Env          bool    `arg:"env,default=no" doc:"Manage a variable instead of a job."`
	InsertAfter  *string `arg:"insertafter" doc:"The variable to insert after."`
	InsertBefore *string `arg:"insertbefore" doc:"The variable to insert before."`
}

// Cron is ansible.builtin.cron.
var Cron = modules.Define("ansible.builtin.cron", "Manages jobs and variables of crontabs", runCron,
	modules.Operands("user"),
	modules.StartsInCheck("crontab"),
	modules.EditsOr("crontab", "cron_file"),
	modules.WithRules(modules.Rules{Exclusive: [][]string{{"insertafter", "insertbefore"}}}),
	modules.Documented(`- ansible.builtin.cron: {name: backup, minute: "0", hour: "3", job: /usr/local/bin/backup}
- ansible.builtin.cron: {name: MAILTO, env: true, job: ops@example.org}
`,
		modules.Return{Name: "jobs", Type: "list", When: "always", Doc: "Names of the jobs."},
		modules.Return{Name: "envs", Type: "list", When: "always", Doc: "Names of the variables."},
		modules.Return{Name: "backup_file", Type: "str", When: "backup and a change", Doc: "The copy of what was there."},
		modules.Return{Name: "cron_file", Type: "str", When: "it was given", Doc: "The file."},
	), modules.RunsPrograms)

var cronFileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^[A-Z0-9_-]+$`) })

func runCron(ctx context.Context, env *modules.Env, a cronArgs) (modules.Result, error) {
	res := modules.Result{Data: value.NewDict()}
	if crontab.Given(a.CronFile) {
		if *a.CronFile == "/etc/crontab" {
			return modules.Fail("Will not manage /etc/crontab via cron_file, see documentation.")
		}
		base := (*a.CronFile)[strings.LastIndexByte(*a.CronFile, '/')+1:] // as Python's basename, "" behind a slash
		if !cronFileName().MatchString(base) {
			res.Warnings = append(res.Warnings, fmt.Sprintf(`Filename portion of cron_file ("%s") should consist`+
				" solely of upper- and lower-case letters, digits, underscores, and hyphens", base))
		}
	}
	t, err := crontab.Read(ctx, env, a.User, a.CronFile)
	if err != nil {
		return modules.Result{}, err
	}
	if msg := a.wrong(); msg != "" {
		return modules.Fail("%s", msg)
	}
	original := t.Render()
	if res.Changed, err = a.edit(t); err != nil {
		return modules.Result{}, err
	}
	if a.Job != nil && !a.Env && a.State == "present" && strings.ContainsAny(strings.Trim(*a.Job, "\r\n"), "\r\n") {
		res.Warnings = append(res.Warnings, "Job should not contain line breaks")
	}
	if res.Changed && t.File != "" && !a.Env && a.State == "absent" && t.Empty() {
		return a.removeFile(t, original)
	}
	if t.Existing != "" && !strings.HasSuffix(t.Existing, "\r") && !strings.HasSuffix(t.Existing, "\n") {
		res.Changed = true // it lacks the end of its last line
	}
	res.Data.Put("jobs", t.Jobs())
	res.Data.Put("envs", t.Variables())
	if crontab.Given(a.CronFile) {
		res.Data.Put("cron_file", *a.CronFile)
	}
	if !res.Changed {
		return res, nil
	}
	if env.Diff {
		header := t.Header()
		res.Diff = []modules.Diff{{Before: t.Existing, After: t.Render(), BeforeHeader: header, AfterHeader: header}}
	}
	if env.Check {
		return res, nil
	}
	if a.Backup {
		kept, err := crontab.Backup("crontab", original)
		if err != nil {
			return modules.Result{}, err
		}
		res.Data.Put("backup_file", kept)
	}
	return res, t.Write(t.Render())
}

// wrong returns what is wrong with the arguments, "" if nothing.
func (a *cronArgs) wrong() string {
	times := a.Minute + a.Hour + a.Day + a.Month + a.Weekday
	switch {
	case crontab.Given(a.SpecialTime) && times != "*****":
		return "You must specify time and date fields or special time."
	case a.Env && strings.Contains(a.Name, " ") && (a.State == "absent" || a.Job != nil):
		return "Invalid name for environment variable"
	case a.State == "absent":
		return ""
	case crontab.Given(a.CronFile) && !crontab.Given(a.User):
		return "To use cron_file=... parameter you must specify user=... as well"
	case a.Job == nil:
		return "You must specify 'job' to install a new cron job or variable"
	case (crontab.Given(a.InsertAfter) || crontab.Given(a.InsertBefore)) && !a.Env:
		return "Insertafter and insertbefore parameters are valid only with env=yes"
	}
	return ""
}

// line returns the job as it stands in a crontab.
func (a *cronArgs) line(inFile bool) string {
	when := strings.Join([]string{a.Minute, a.Hour, a.Day, a.Month, a.Weekday}, " ")
	if crontab.Given(a.SpecialTime) {
		when = "@" + *a.SpecialTime
	}
	if a.Disabled {
		when = "#" + when
	}
	if inFile {
		when += " " + *a.User
	}
	return when + " " + strings.Trim(*a.Job, "\r\n")
}

// edit changes the lines as the arguments want it.
func (a *cronArgs) edit(t *crontab.Table) (changed bool, err error) {
	switch {
	case a.Env:
		return a.editVariable(t)
	case a.State == "absent":
		return t.RemoveJob(a.Name), nil
	}
	return t.PutJob(a.Name, a.line(t.File != "")), nil
}

func (a *cronArgs) editVariable(t *crontab.Table) (bool, error) {
	at := t.Variable(a.Name)
	if a.State == "absent" {
		t.DropVariable(a.Name, nil)
		return at >= 0, nil
	}
	decl := fmt.Sprintf(`%s="%s"`, a.Name, *a.Job)
	switch {
	case at >= 0 && t.Lines[at] == decl:
		return false, nil
	case at >= 0:
		t.DropVariable(a.Name, []string{decl})
		return true, nil
	}
	at = 0
	if other, after := a.InsertAfter, 1; crontab.Given(other) || crontab.Given(a.InsertBefore) {
		if !crontab.Given(other) {
			other, after = a.InsertBefore, 0
		}
		if at = t.Variable(*other); at < 0 {
			return false, fmt.Errorf("Variable named '%s' not found.", *other) //lint:ignore ST1005 the words that users see
		}
		at += after
	}
	t.Insert(at, decl)
	return true, nil
}

// removeFile ends a file in which nothing is left.
func (a *cronArgs) removeFile(t *crontab.Table, original string) (modules.Result, error) {
	res := modules.Result{Data: value.DictOf("cron_file", *a.CronFile, "state", a.State)}
	_, err := os.Stat(t.File)
	if res.Changed = err == nil; res.Changed && !t.Env.Check {
		if a.Backup {
			if _, err := crontab.Backup("crontab", original); err != nil {
				return modules.Result{}, err
			}
		}
		res.Changed = os.Remove(t.File) == nil
	}
	diff := value.NewDict()
	if t.Env.Diff {
		diff = value.DictOf("before", t.Existing, "before_header", t.File, "after", "", "after_header", "/dev/null")
	}
	res.Diff = []modules.Diff{{Raw: diff}}
	return res, nil
}
