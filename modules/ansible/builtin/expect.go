package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/internal/oserr"
	"hark/modules/py/pyre"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
)

// Expect runs a command and answers its questions.
var Expect = modules.Define("ansible.builtin.expect", "Executes a command and responds to prompts.", runExpect,
	modules.With(func(m *modules.Module) {
		m.NoCheck = true
		m.Examples = `- ansible.builtin.expect:
    command: passwd username
    responses: {"(?i)password": "MySekretPa$$word"}
  no_log: true
`
		m.Returns = append(commandReturns()[:3:3], commandReturns()[4:]...)
	}), modules.RunsPrograms)

type expectArgs struct {
	Command   string      `arg:"command,required" doc:"The command line."`
	Chdir     *string     `arg:"chdir,type=path" doc:"Directory to run in."`
	Creates   *string     `arg:"creates,type=path" doc:"Do nothing if this path exists."`
	Removes   *string     `arg:"removes,type=path" doc:"Do nothing unless this path exists."`
	Responses *value.Dict `arg:"responses,required" doc:"What to type, by an expression for the question; a list has an answer for each time."`
	Timeout   *int        `arg:"timeout,default=30" doc:"Seconds to wait for a question."`
	Echo      bool        `arg:"echo,default=no" doc:"Show what is typed in the output."`
}

// question is an expression and its answers.
type question struct {
	text string
	re   *pyre.Regexp
	// answers are typed in turn; once is false if there is one for every time.
	answers []string
	once    bool
}

func runExpect(ctx context.Context, env *modules.Env, a expectArgs) (modules.Result, error) {
	t := &talk{}
	if err := t.prepare(a.Responses); err != nil {
		return modules.Result{}, err
	}
	if strings.TrimSpace(a.Command) == "" {
		return modules.Result{Failed: true, Msg: "no command given", Data: value.DictOf("rc", int64(256))}, nil
	}
	if why := a.needless(); why != "" {
		return modules.Result{Data: value.DictOf("cmd", a.Command, "stdout", why, "rc", int64(0))}, nil
	}
	argv, err := shlex.Split(a.Command)
	if err != nil {
		return modules.Result{}, err
	}
	c := modules.Command{Argv: argv, MaxOutput: modules.KeptOutput, Dir: modules.Text(a.Chdir),
		Dialogue: &modules.Dialogue{Answer: t.answer, Echo: a.Echo}}
	if c.Dir != "" {
		if err := enterable(c.Dir); err != nil {
			return modules.Fail("%s", oserr.Path(err, c.Dir))
		}
	}
	if a.Timeout != nil {
		c.Dialogue.Patience = time.Duration(*a.Timeout) * time.Second
	}
	out, err := env.Exec(ctx, c)
	var start *modules.StartError
	if errors.As(err, &start) {
		return modules.Fail("The command was not found or was not executable: %s.", argv[0])
	}
	if err != nil {
		return modules.Result{}, err
	}
	env.WarnOfDropped(out)
	return a.result(out), nil
}

func (a *expectArgs) result(out modules.Output) modules.Result {
	res := modules.Result{Changed: true, Data: value.DictOf(
		"cmd", a.Command, "stdout", strings.TrimRight(modules.Printed(out.Stdout), "\r\n"), "rc", int64(out.Rc),
		"start", modules.TimeText(out.Start), "end", modules.TimeText(out.End), "delta", deltaText(out.End.Sub(out.Start)),
	)}
	switch {
	case out.TimedOut:
		res.Failed = true
		res.Msg = "command exceeded timeout"
		res.Data.Put("rc", nil)
	case out.Rc != 0:
		res.Failed, res.Msg = true, "non-zero return code"
	}
	return res
}

// needless explains why the command need not run.
func (a *expectArgs) needless() string {
	there := func(path string) bool {
		if !filepath.IsAbs(path) {
			path = filepath.Join(modules.Text(a.Chdir), path)
		}
		_, err := os.Stat(path)
		return err == nil
	}
	switch {
	case modules.Text(a.Creates) != "" && there(*a.Creates):
		return fmt.Sprintf("skipped, since %s exists", *a.Creates)
	case modules.Text(a.Removes) != "" && !there(*a.Removes):
		return fmt.Sprintf("skipped, since %s does not exist", *a.Removes)
	}
	return ""
}

// talk finds questions in what was printed since the last answer.
type talk struct {
	questions []*question
	pending   string
	said      string // up to and with the last question
}

func (t *talk) prepare(responses *value.Dict) error {
	for i := range responses.Len() {
		k, v := responses.At(i)
		pattern := modules.Str(k)
		re, err := pyre.Compile(pattern, pyre.Options{Bytes: true, DotAll: true})
		if err != nil {
			return fmt.Errorf("invalid regular expression %q: %w", pattern, err)
		}
		q := &question{text: pattern, re: re}
		list, several := value.Items(v)
		if !several {
			list = []value.Value{v}
		}
		for _, x := range list {
			q.answers = append(q.answers, strings.TrimRight(modules.Str(x), "\n")+"\n")
		}
		q.once = several
		t.questions = append(t.questions, q)
	}
	sort.Slice(t.questions, func(i, j int) bool { return t.questions[i].text < t.questions[j].text })
	return nil
}

// maxQuestion bounds the output in which a question is looked for: all of it is searched again with each piece that
// comes.
const maxQuestion = 1 << 20

// answer returns what to type for the question that comes first, nil if there is none yet.
func (t *talk) answer(printed []byte) ([]byte, error) {
	t.pending += string(printed)
	if len(t.pending) > 2*maxQuestion {
		t.pending = t.pending[len(t.pending)-maxQuestion:]
	}
	var first *question
	head, tail := "", ""
	for _, q := range t.questions {
		m, err := q.re.Search(t.pending)
		if err != nil {
			return nil, err
		}
		if m == nil {
			continue
		}
		if before, after := m.Around(0); first == nil || len(before) < len(head) {
			first, head, tail = q, before, after
		}
	}
	if first == nil {
		return nil, nil
	}
	t.said, t.pending = t.pending[:len(t.pending)-len(tail)], tail
	if len(first.answers) == 0 {
		return nil, noAnswer(fmt.Sprintf("No remaining responses for '%s', output was 'b%s'", first.text,
			modules.Repr(t.said)))
	}
	typed := []byte(first.answers[0])
	if first.once {
		first.answers = first.answers[1:]
	}
	return typed, nil
}

// noAnswer is Ansible's message about a question that was asked too often.
type noAnswer string

func (n noAnswer) Error() string { return string(n) }
