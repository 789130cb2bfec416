package general

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type sudoersArgs struct {
	Name       string   `arg:"name,required" doc:"The rule, which is the name of its file."`
	User       *string  `arg:"user" doc:"Who may run the commands."`
	Group      *string  `arg:"group" doc:"The group whose members may run them."`
	Commands   []string `arg:"commands" doc:"The commands; ALL is every command."`
	Host       string   `arg:"host,default=ALL" doc:"The host that the rule is for."`
	RunAs      *string  `arg:"runas" doc:"The user as whom they run."`
	NoExec     bool     `arg:"noexec,extra,default=no" doc:"Keep the commands from running others."`
	NoPassword bool     `arg:"nopassword,default=yes" doc:"Ask for no password."`
	SetEnv     bool     `arg:"setenv,default=no" doc:"Let the environment be kept."`
	Path       string   `arg:"sudoers_path,default=/etc/sudoers.d" doc:"The directory of the rules."`
	State      string   `arg:"state,default=present,choices=present|absent" doc:"Whether there shall be the rule."`
	Validation string   `arg:"validation,default=detect,choices=absent|detect|required" doc:"Whether visudo looks at the rule: never, where it is there, or always."`
}

// Sudoers is community.general.sudoers.
var Sudoers = modules.Define("community.general.sudoers", "Manage rules of sudo", runSudoers,
	modules.WithRules(modules.Rules{
		Exclusive: [][]string{{"user", "group"}},
		If:        []modules.RequiredIf{{Param: "state", Value: "present", Names: []string{"commands"}}},
	}),
	modules.Documented(`- community.general.sudoers: {name: backup, user: backup, commands: /usr/local/bin/backup}
- community.general.sudoers: {name: web, group: web, commands: [/bin/systemctl restart nginx, /bin/systemctl reload nginx], nopassword: false}
- community.general.sudoers: {name: old, state: absent}
`), modules.RunsPrograms)

// sudoersMode is the mode that sudo asks for.
const sudoersMode = 0o440

func runSudoers(ctx context.Context, env *modules.Env, a sudoersArgs) (modules.Result, error) {
	file := filepath.Join(a.Path, a.Name)
	if filepath.IsAbs(a.Name) {
		file = a.Name // as os.path.join has it
	}
	if a.State == "absent" {
		return dropSudoers(file, env.Check)
	}
	rule, err := a.rule()
	if err == nil {
		err = a.validate(hostOf(ctx, env), rule)
	}
	if err != nil {
		return modules.Result{}, err
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm() == sudoersMode {
		raw, err := os.ReadFile(file)
		if err != nil {
			return modules.Fail("%s", oserr.Path(err, file))
		}
		if string(raw) == rule {
			return modules.Result{}, nil
		}
	}
	if !env.Check {
		err = writeSudoers(file, rule)
	}
	return modules.Result{Changed: true}, err
}

func dropSudoers(file string, check bool) (modules.Result, error) {
	if _, err := os.Stat(file); err != nil {
		return modules.Result{}, nil
	}
	if !check {
		if err := os.Remove(file); err != nil {
			return modules.Fail("%s", oserr.Path(err, file))
		}
	}
	return modules.Result{Changed: true}, nil
}

// rule is the line of the file.
func (a *sudoersArgs) rule() (string, error) {
	var rule strings.Builder
	switch {
	case modules.Text(a.User) != "":
		rule.WriteString(*a.User)
	case modules.Text(a.Group) != "":
		rule.WriteString("%" + *a.Group)
	default:
		return "", tool.Fail(nil, "a rule needs a user or a group")
	}
	rule.WriteString(" " + a.Host + "=")
	if a.RunAs != nil {
		rule.WriteString("(" + *a.RunAs + ")")
	}
	if a.NoExec {
		rule.WriteString("NOEXEC:")
	}
	if a.NoPassword {
		rule.WriteString("NOPASSWD:")
	}
	if a.SetEnv {
		rule.WriteString("SETENV:")
	}
	return rule.String() + " " + strings.Join(a.Commands, ", ") + "\n", nil
}

// validate has visudo look at a rule: a wrong one would lock everybody out of sudo.
func (a *sudoersArgs) validate(h tool.Host, rule string) error {
	if a.Validation == "absent" || a.Validation == "detect" && h.Env.LookPath("visudo") == "" {
		return nil
	}
	path, err := tool.Find(h.Env, "visudo")
	if err != nil {
		return err
	}
	out, err := tool.Run(h.Ctx, h.Env, modules.Command{Argv: []string{path, "-c", "-f", "-"}, Stdin: []byte(rule)})
	if err == nil && out.Rc != 0 {
		err = tool.Fail(nil, "Failed to validate sudoers rule:\n%s", out.Stdout)
	}
	return err
}

func writeSudoers(file, rule string) error {
	staged, err := fsx.Stage(file, false)
	if err != nil {
		return err
	}
	defer staged.Discard()
	staged.Narrow(value.Int(sudoersMode))
	if _, err := staged.Write([]byte(rule)); err != nil {
		return err
	}
	if err := staged.Commit(false); err != nil {
		return err
	}
	return os.Chmod(file, sudoersMode)
}
