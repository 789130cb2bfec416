package templar_test

import (
	"context"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// An error is about the template in which it is, however that is used.
func TestErrorIsAboutTheTemplateItIsIn(t *testing.T) {
	const inner = "{{ d.nope }}"
	o := templar.Options{Engine: templar.NewEngine().Tagged()}
	tpl := templar.New(vars{"d": value.DictOf("a", 1), "x": value.SourceText(inner), "y": value.SourceText("{{ x }} b"), "z": value.SourceText("{{ y }}")}, o)
	for _, text := range []string{
		"{{ x }}", "{{ z }}", "a {{ x }}", "{{ y }}", "{{ z ~ 'a' }}", "{{ x + 1 }}", "{{ -x }}", "{{ x | upper }}", "{{ [x] }}", "{{ {'k': x} }}",
		"{{ x.k }}", "{{ x == 1 }}", "{{ x in [1] }}", "{{ 1 if x else 2 }}", "{{ 'a%s' % x }}", "{% if x %}{% endif %}", "{% for i in x %}{% endfor %}", "{{ x() }}", "{{ range(x) }}",
	} {
		_, err := tpl.Template(context.Background(), value.SourceText(text))
		if got := templar.Source(err); got != inner {
			t.Errorf("%s: the error %v is about %q", text, err, got)
		}
	}
	if _, err := tpl.Template(context.Background(), value.SourceText("a {{ d.other }}")); templar.Source(err) != "a {{ d.other }}" {
		t.Errorf("an error of the template itself is about %q", templar.Source(err))
	}
}
