package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ui/hint"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/compile"
	"hark/playbook/jinja"
)

// hintView gives hints for tasks that fail, and for tags that no task has.
type hintView struct {
	view.Silent
	app  *app
	vars func(host string) *value.Dict // of the play
	tags []string
	seen []string // messages, at most mostSeen
}

// mostSeen is how many different messages of tasks are looked at: many hosts may fail, each in words of its own.
const mostSeen = 50

// hintViews returns the views that give hints, none under Ansible's names.
func (p *run) hintViews() []view.View {
	if p.name != "hark" {
		return nil
	}
	p.app.playing = &playing{}
	return []view.View{&hintView{app: p.app, tags: project.Split(p.o.Tags.Only)}}
}

// playing is what is known of the play that is on: its names, and how many tasks were begun.
type playing struct {
	handlers, variables []string
	tasks               int
}

// PlayStart implements view.View.
func (v *hintView) PlayStart(p view.Play) {
	v.vars = p.Vars
	if p.Handlers != nil {
		v.app.playing.handlers = p.Handlers()
	}
}

// TaskStart implements view.View.
func (v *hintView) TaskStart(view.Task) { v.app.playing.tasks++ }

// Done implements view.View.
func (v *hintView) Done(r view.Result) { v.look(r) }

// ItemDone implements view.View.
func (v *hintView) ItemDone(r view.Result) { v.look(r) }

func (v *hintView) look(r view.Result) {
	if r.Outcome == nil || r.Outcome.NoLog || !result.Raw(r.Outcome.Result).Has("failed") {
		return
	}
	said := r.Outcome.Said()
	if !said.Failed() {
		return
	}
	text := cmp.Or(said.Message(), said.Reason(), conditionError(r.Outcome.Result))
	if slices.Contains(v.seen, text) || len(v.seen) == mostSeen {
		return
	}
	v.seen = append(v.seen, text)
	if v.vars != nil && strings.Contains(text, "is undefined") {
		v.app.playing.variables = names(v.vars(r.Host))
	}
	words := knownWords(v.app)
	if r.Task.Step != nil {
		if text := words.ModuleOption(r.Task.Step.Action, names(r.Task.Step.Args.Dict)); text != "" {
			v.app.hint(text)
			return
		}
	}
	v.app.hint(cmp.Or(words.For(text), templateLine(text)))
}

// conditionError returns what a result says of changed_when or failed_when that could not be judged.
func conditionError(raw []byte) string {
	var r struct {
		Changed any `json:"changed_when_result"`
		Failed  any `json:"failed_when_result"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return ""
	}
	changed, _ := r.Changed.(string)
	failed, _ := r.Failed.(string)
	return cmp.Or(changed, failed)
}

// names returns the keys of a mapping that are text.
func names(d *value.Dict) []string {
	var out []string
	if d == nil {
		return nil
	}
	for _, key := range d.Keys() {
		if text, ok := value.Text(key); ok {
			out = append(out, text)
		}
	}
	return out
}

// Stats implements view.View.
func (v *hintView) Stats(view.Stats) {
	if v.app.playing.tasks == 0 && len(v.tags) > 0 {
		v.app.hint("no task has the tags " + strings.Join(v.tags, ", ") + "; --list-tags shows those that there are")
	}
}

// hintMistakes says what in the tasks will fail when it is reached: the plays are known, and nothing was done yet.
func hintMistakes(p *run, books []*compile.Playbook) {
	if p.name != "hark" {
		return
	}
	told := 0
	for _, b := range books {
		for _, play := range b.Plays {
			for _, m := range compile.Mistakes(play) {
				if told++; told > mostSeen {
					return
				}
				p.hint(mistakeText(m))
			}
		}
	}
}

// mistakeText words a mistake, with its place.
func mistakeText(m compile.Mistake) string {
	text := ""
	switch m.Kind {
	case "register":
		text = "the result cannot be registered as '" + m.Word + "': " + hint.RegisterName(m.Word)
	case "meta":
		text = "meta has no action '" + m.Word + "'"
	case "handler":
		text = "there is no handler '" + m.Word + "'"
	case "argument":
		text = m.Of + " has no argument '" + m.Word + "'"
	}
	if near := hint.Nearest(m.Word, m.Known); near != "" {
		text += "; did you mean '" + near + "'?"
	}
	return m.Place.String() + ": " + text
}

// hintStart says which task --start-at-task may have meant, if none was begun.
func (j *playJob) hintStart(books []*compile.Playbook) {
	if j.startAt == "" || j.playing == nil || j.playing.tasks > 0 {
		return
	}
	var known []string
	for _, b := range books {
		for _, play := range b.Plays {
			known = append(known, slices.Concat(play.Outline()...)...)
		}
	}
	if near := hint.Nearest(j.startAt, known); near != "" {
		j.hint("did you mean '" + near + "'?")
		return
	}
	j.hint("`--list-tasks` shows the names of the tasks")
}

// templateLine returns where a template of several lines is wrong, which Ansible's words for it do not tell, "" for
// what is no such mistake.
func templateLine(message string) string {
	_, rest, ok := strings.Cut(message, "template error while templating string: ")
	reason, src, found := strings.Cut(rest, ". String: ")
	if at := strings.LastIndex(src, ". "+reason); at >= 0 {
		src = src[:at]
	}
	if !ok || !found || !strings.Contains(src, "\n") {
		return ""
	}
	var wrong *jinja.SyntaxError
	if _, err := jinja.Parse(src, jinja.Options{Syntax: jinja.NewSyntax()}); !errors.As(err, &wrong) {
		return ""
	}
	lines := strings.Split(src, "\n")
	if wrong.Line < 1 || wrong.Line > len(lines) {
		return ""
	}
	return fmt.Sprintf("it is line %d of the template: %s", wrong.Line, strings.TrimSpace(lines[wrong.Line-1]))
}
