package cli

import (
	"cmp"
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

// hintViews are the views that give hints, none under Ansible's names.
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
	text := cmp.Or(said.Message(), said.Reason())
	if slices.Contains(v.seen, text) || len(v.seen) == mostSeen {
		return
	}
	v.seen = append(v.seen, text)
	if v.vars != nil && strings.Contains(text, "is undefined") {
		v.app.playing.variables = names(v.vars(r.Host))
	}
	words := knownWords(v.app)
	if r.Task.Step != nil {
		if text := words.Argument(r.Task.Step.Action, names(r.Task.Step.Args.Dict)); text != "" {
			v.app.hint(text)
			return
		}
	}
	v.app.hint(cmp.Or(words.For(text), templateLine(text)))
}

// names are the keys of a mapping that are text.
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

// templateLine is where a template of several lines is wrong, which Ansible's words for it do not tell, "" for what
// is no such mistake.
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
