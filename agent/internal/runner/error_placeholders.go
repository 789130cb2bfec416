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

// errorPlaceholders stand for what cannot be rendered in the tagged language, in names of tasks and in what debug
// shows. The marks of one rendering are numbered. A warning for each template that they come from names them.
type errorPlaceholders struct {
	// about is the template that is rendered.
	about string
	n     int
	// made are the marks of variables' templates: a template that is used twice has one mark.
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

// placeholder returns the text that replaces what failed, in a part of the current template or in one that it uses.
func (m *errorPlaceholders) placeholder(err error, part string) string {
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

func (m *errorPlaceholders) put(src, msg string) {
	for i := range m.faults {
		if m.faults[i].src == src {
			m.faults[i].errors = append(m.faults[i].errors, msg)
			return
		}
	}
	m.faults = append(m.faults, faulty{src, []string{msg}})
}

// warn notes what the marks stand for.
func (m *errorPlaceholders) warn(ns *notices) {
	for _, f := range m.faults {
		head := "Encountered 1 template error."
		if n := len(f.errors); n > 1 {
			head = "Encountered " + strconv.Itoa(n) + " template errors."
		}
		ns.note(link{msg: head + "\n" + strings.Join(f.errors, "\n"), spot: spot{text: f.src}}, "")
	}
}

var expression = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{.*?\}\}`) })

// markedName returns a name in which marks replace the expressions that cannot be rendered.
func (e *eval) markedName(ctx context.Context, name value.Source) string {
	m := &errorPlaceholders{about: name.Text()}
	defer m.warn(e.notices)
	return name.ReplaceAll(expression(), func(x value.Source) string {
		text, err := e.tpl.Text(ctx, x)
		if err == nil {
			return text
		}
		return m.placeholder(err, x.Text())
	})
}
