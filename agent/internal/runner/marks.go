package runner

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// marks stand for what cannot be rendered in the tagged language, in names of tasks and what debug shows. The marks
// of one rendering are numbered, and a warning for each template that they come from names them.
type marks struct {
	// about is the template that is rendered.
	about string
	n     int
	// made are the marks of variables' templates: one that is used twice has one mark.
	made   map[wrong]string
	faults []faulty
}

// wrong is an error of a template.
type wrong struct{ src, text string }

// faulty is a template with its errors, numbered.
type faulty struct {
	src    string
	errors []string
}

// mark is the text that stands for what failed with an error, in a part of the template that is rendered or in one
// that it uses.
func (m *marks) mark(err error, part string) string {
	is := wrong{templar.Source(err), err.Error()}
	if is.src == "" || is.src == part {
		is.src = m.about
	}
	if known, ok := m.made[is]; ok && is.src != m.about {
		return known
	}
	m.n++
	msg := "error " + strconv.Itoa(m.n) + " - " + is.text
	if m.made == nil {
		m.made = map[wrong]string{}
	}
	m.made[is] = "<< " + msg + " >>"
	m.put(is.src, msg)
	return m.made[is]
}

func (m *marks) put(src, msg string) {
	for i := range m.faults {
		if m.faults[i].src == src {
			m.faults[i].errors = append(m.faults[i].errors, msg)
			return
		}
	}
	m.faults = append(m.faults, faulty{src, []string{msg}})
}

// warn notes what the marks stand for.
func (m *marks) warn(ns *notices) {
	for _, f := range m.faults {
		head := "Encountered 1 template error."
		if n := len(f.errors); n > 1 {
			head = "Encountered " + strconv.Itoa(n) + " template errors."
		}
		ns.note(link{msg: head + "\n" + strings.Join(f.errors, "\n"), spot: spot{text: f.src}}, "")
	}
}

var expression = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{.*?\}\}`) })

// markedName is a name in which marks stand for the expressions that cannot be rendered.
func (e *eval) markedName(ctx context.Context, name value.Source) string {
	m := &marks{about: name.Text()}
	defer m.warn(e.notices)
	return name.ReplaceAll(expression(), func(x value.Source) string {
		text, err := e.tpl.Text(ctx, x)
		if err == nil {
			return text
		}
		return m.mark(err, x.Text())
	})
}
